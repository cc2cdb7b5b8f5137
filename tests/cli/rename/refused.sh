# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000
tamis create other -n 1000
refused tamis rename seen other
refused tamis rename sen new
refused tamis rename seen ''
refused tamis rename seen $'a\nb'
refused tamis rename seen $'\xff'
refused tamis rename seen "$(printf 'x%.0s' {1..256})"
refused tamis rename seen
refused tamis rename seen a b
tamis list -q
