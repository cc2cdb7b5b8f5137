# SPDX-License-Identifier: BSD-2-Clause
# A last line without newline is a key; so is an empty line; empty input is no key.
tamis create seen -n 1000
printf 'a\nb' | tamis add --new seen
printf '\n' | tamis add --new seen
printf '' | tamis add --new seen
tamis info seen items
