# SPDX-License-Identifier: BSD-2-Clause
# Empty, over 255 bytes, not UTF-8, control characters: nothing is made, no store either.
refused tamis create '' -n 1000
refused tamis create "$(printf 'x%.0s' {1..256})" -n 1000
refused tamis create $'caf\xe9' -n 1000
refused tamis create $'\xed\xa0\x80' -n 1000
refused tamis create $'a\nb' -n 1000
refused tamis create $'a\tb' -n 1000
refused tamis create $'\x7f' -n 1000
refused tamis create $'\xc2\x9b' -n 1000
