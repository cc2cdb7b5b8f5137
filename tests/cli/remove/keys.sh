# SPDX-License-Identifier: BSD-2-Clause
# Each remove takes one off; a key is gone when as many are taken off as were added.
tamis create hits -n 1000 --kind counting
tamis add hits a a a b c
tamis remove hits a b
tamis count hits a b c
printf 'a\na\n' | tamis remove hits
tamis count hits a b c
tamis check hits a b c
tamis info hits items
