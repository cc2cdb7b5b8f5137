# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 100k
expect 2 tamis report seen -o /dev/full
expect 2 tamis report seen -o - >/dev/full
tamis report seen -o /dev/null
