# SPDX-License-Identifier: BSD-2-Clause
# Every key with its answer; --new and --seen restrict; what is not UTF-8 is given in hexadecimal.
tamis create seen -n 1000
printf 'a\n"q"\\\n\303\251\na\n\377\n\ttab\n' | tamis add --json seen
echo new
tamis add --json --new seen a b
echo seen
tamis add --json --seen seen b c
echo nul
printf 'x\0y\nz\0' | tamis add --json -z seen
printf '6100\n' | tamis add --json --hex seen
