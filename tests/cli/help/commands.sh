# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Every command tells its usage, options, examples and exit status on standard output.
for command in create add check list info explain calc sync drop rename report verify; do
    tamis "$command" --help >text || echo "$command: exit $?"
    grep -q "^usage: tamis $command" text || echo "$command: no usage"
    grep -q '^examples:' text || echo "$command: no examples"
    grep -q '^exit status: 0 ' text || echo "$command: no exit status"
    [ "$(wc -L <text)" -le 100 ] || echo "$command: a line is too long"
done
[ ! -e "$TAMIS_STORE" ] || echo "a store was made"
