# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000
tamis add --new seen a >/dev/full
