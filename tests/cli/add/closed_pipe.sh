# SPDX-License-Identifier: BSD-2-Clause
# Whoever reads the answers has gone: a sentence and exit 2.  All keys whose answers it has not read are counted, those that
# it left in the pipe too; bash reads from a pipe no further than to the end of the line.
tamis create seen -n 100k
{ seq 1 100000 | tamis add --new seen 2>told; echo "exit $?" >status; } | { read -r line && echo "$line"; }
cat status
lost() { # of the last `add`
    sed -n 's/^tamis: \([0-9]*\) keys\? w[aser]* added, and nobody was told that .* new; .*(docs.frontier.md)$/\1/p' told
}
echo $(($(tamis info seen items) - $(lost)))
head -n 1 told
# Half of a line is no answer.
tamis create half -n 100k
{ seq 11 100000 | tamis add --new half 2>told || true; } | { read -rN 4 half && echo "$half"; }
echo $(($(tamis info half items) - $(lost)))
# Without --new nobody waits for work.
tamis create other -n 100k
{ seq 1 100000 | tamis add --json other 2>told || true; } | { read -r line && echo "$line"; }
cat told
