# SPDX-License-Identifier: BSD-2-Clause
# The way back, into an empty place: all filters, kept generations, exceptions; and it is a store to work with.
tamis create seen -n 1000 --seed 1 --durable
seq 2000 | tamis add seen
tamis create recent -n 1000 --window 7d --seed 1
seq 100 | tamis add recent
tamis create strikes -n 100 --kind counting --seed 1
seq 50 | tamis add strikes
seq 10 | tamis add strikes
for keys in 1000 2000; do seq $keys | tamis build list -q; done
tamis except list add 77 >said
tamis backup copy
before=$(tamis list --json | sed 's/"checkpointed_at":[^,]*,//')
rm -r "$TAMIS_STORE"
expect 0 tamis restore copy
[ "$before" = "$(tamis list --json | sed 's/"checkpointed_at":[^,]*,//')" ] || echo "it is another store"
tamis verify
tamis check list 77 78
tamis count strikes 7 47
tamis rollback list
tamis info seen durable
tamis add seen another
echo - it is no backup
refused tamis backup "$TAMIS_STORE" --store copy
mkdir empty
expect 0 tamis restore copy --store empty
tamis --store empty list -q
tamis --store "$PWD/told" restore copy --json
