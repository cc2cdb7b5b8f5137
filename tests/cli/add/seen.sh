# SPDX-License-Identifier: BSD-2-Clause
# --seen prints the others.
tamis create seen -n 1000
printf 'a\nb\na\n' | tamis add --seen seen
echo second
tamis add --seen seen a b c
