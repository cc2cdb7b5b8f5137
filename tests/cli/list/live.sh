# SPDX-License-Identifier: BSD-2-Clause
# list tells what is there now, beside an adder that goes on; --recorded what the catalog has.  It said 0 items
# for as long as the adder ran.
# Directory only: --recorded is for the catalog of a directory
tamis create seen -n 10k
coproc adder { tamis add --new seen; }
# The shell forgets the array as soon as the command has ended: the rest of its answers is read through 3.
exec 3<&"${adder[0]}"
for i in $(seq 2000); do echo "$i"; done >&"${adder[1]}"
for i in $(seq 1990); do read -r _ <&"${adder[0]}"; done
tamis list seen | awk 'NR == 2 { print ($4 > 1900 ? "as many as were added" : $4) }'
tamis list --recorded | awk 'NR == 2 { print $4 }'
tamis list --json | grep -o '"items_as_of":"[a-z]*"'
tamis list --json --recorded | grep -oE '"(items|items_as_of)":"?[a-z0-9]*'
eval "exec ${adder[1]}>&-"
cat <&3 >rest
wait
cmp <(tamis list) <(tamis list --recorded)
