# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000
expect 2 tamis add seen </
