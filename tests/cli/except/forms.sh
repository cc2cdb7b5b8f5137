# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000
printf 'two\nlines\0tab\t\0' | tamis except seen add -z
tamis except seen add --hex 00ff 00FF
tamis except seen list -z | tr '\0' '|'
echo
tamis except seen list --hex
printf '00ff\n' | tamis except seen remove --hex
printf 'tab\t\0' | tamis except seen remove -z
tamis except seen list
