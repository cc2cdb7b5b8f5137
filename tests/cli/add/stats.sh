# SPDX-License-Identifier: BSD-2-Clause
# --stats tells keys, new ones and seconds on standard error.
tamis create seen -n 1000
{ printf 'a\nb\na\n' | tamis add --stats seen; } 2>&1 | sed -E 's/[0-9]+\.[0-9]{3} s/T s/'
{ tamis add --stats --json seen b c; } 2>&1 | sed -E 's/"seconds":[0-9]+\.[0-9]{3}/"seconds":T/'
