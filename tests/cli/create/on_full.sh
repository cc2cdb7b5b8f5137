# SPDX-License-Identifier: BSD-2-Clause
# Full: one grows and keeps its rate, one refuses, one goes on and says so.
for how in grow refuse warn; do tamis create "$how" -n 1000 --on-full "$how"; done
seq 1 3000 | tamis add grow
tamis info grow on_full
tamis info grow state
tamis info grow segments | wc -l
tamis list grow | awk '{ print $1, $3, $NF }'
seq 1 3000 | tamis check -c grow
seq 1 400 | tamis add --new refuse | wc -l
seq 501 1400 >all # one batch, also for a server; a pipe may come in any pieces
tamis add --new refuse <all >new 2>told
echo "exit $?"
sed 's/ of the last [0-9]* keys/ of the last N keys/' told >&2 # batches are as large as time allows
echo "$((400 + $(wc -l <new))) keys were new"
tamis check -c refuse <new | cmp - <(wc -l <new) && echo all of them are in
tamis info refuse state
seq 1 400 | tamis add refuse && echo what is in is answered
tamis add refuse 'one more'
echo "exit $?"
tamis check refuse 'one more'
echo "exit $?"
seq 1 3000 | tamis add warn 2>/dev/null
tamis info warn state
tamis create default -n 10
tamis info default on_full
tamis create shape -m 1000 -k 3
tamis info shape on_full
