# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000
printf 'a\nb\0' | tamis explain -z seen | od -An -c
tamis explain --hex seen 610a62
tamis explain --hex --json seen FF
tamis explain --json seen $'\xff'
