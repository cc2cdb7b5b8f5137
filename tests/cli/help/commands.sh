# SPDX-License-Identifier: BSD-2-Clause
# Every command tells its usage, options, examples and exit status on standard output.
mapfile -t commands < <(tamis help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p')
[ "${#commands[@]}" -ge 24 ] || echo "only ${#commands[@]} commands"
for command in "${commands[@]}"; do
    tamis "$command" --help >text || echo "$command: exit $?"
    grep -q "^usage: tamis $command" text || echo "$command: no usage"
    grep -q '^examples:' text || echo "$command: no examples"
    grep -q '^exit status: 0 ' text || echo "$command: no exit status"
    [ "$(wc -L <text)" -le 100 ] || echo "$command: a line is too long"
done
[ ! -e "$TAMIS_STORE" ] || echo "a store was made"
