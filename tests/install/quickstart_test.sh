#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# quickstart_test.sh QUICKSTART: what tools/quickstart.sh says while it builds, where it does not write to a terminal, and at its
# end; its functions are taken out of it.  The step `quickstart` of .ci/run runs the whole of it.
#
# Seen to fail while it told its progress to terminals only, and while it ended with "nothing was lost".
set -euo pipefail
export LC_ALL=C

for function in show_progress tell_outcome; do
    eval "$(sed -n "/^$function()\$/,/^}\$/p" "$1")"
done
# shellcheck disable=SC2034 # the functions read them
longest_silence=100 step_began=$SECONDS

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

said=$(seq 0 100 | sed 's/.*/[ &%] Building C object x.c.o/' | show_progress | cat)
[ "$(wc -l <<<"$said")" -eq 10 ] || fail "not a line for each 10 %: $said"
grep -q '^ *50 % after [0-9]* s$' <<<"$said" || fail "no line for 50 %: $said"

# make is silent behind 7 %; the line that comes all the same lets it go on.
# shellcheck disable=SC2034
longest_silence=1
coproc { show_progress; }
echo '[  7%] Building C object x.c.o' >&"${COPROC[1]}"
read -r -t 60 said <&"${COPROC[0]}" || fail "it says nothing for a minute"
[[ $said == '7 % after '* ]] || fail "in the silence it says: $said"
kill "$COPROC_PID"

# shellcheck disable=SC2034
unprinted=2181
said=$(tell_outcome)
[[ $said == *' 2181 lines died with process 2'*docs/frontier.md* ]] || fail "2181 answers died, and it says: $said"
! grep -q 'nothing was lost' "$1" || fail "it says that nothing was lost"
# shellcheck disable=SC2034
unprinted=0
[[ $(tell_outcome) != *died* ]] || fail "no answer died, and it says: $(tell_outcome)"
