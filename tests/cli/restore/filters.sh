# SPDX-License-Identifier: BSD-2-Clause
# Into a store that has filters: one by name, refused where it would replace one, and readers go on.
tamis create seen -n 1000 --seed 1 --durable
seq 2000 | tamis add seen
tamis create strikes -n 100 --kind counting --seed 1
seq 50 | tamis add strikes
tamis create recent -n 1000 --window 7d --seed 1
seq 100 | tamis add recent
tamis except recent add 7 >said
tamis backup copy
tamis drop -q recent strikes
seq 2001 3000 | tamis add seen
echo - one by name
expect 0 tamis restore copy strikes
tamis count strikes 7
tamis list -q
echo - refused, and nothing is changed
before=$(snapshot)
expect 2 tamis restore copy
expect 2 tamis restore copy recent seen
expect 2 tamis restore copy recent absent
[ "$before" = "$(snapshot)" ] || echo "the store was changed"
echo - readers go on
mkfifo ask answers
tamis check seen <ask >answers &
exec 5>ask 6<answers
echo 2500 >&5
read -r answer <&6
echo "$answer"
expect 0 tamis restore copy --overwrite
seq 2500 2510 >&5
echo 1 >&5
read -r answer <&6
echo "$answer"
exec 5>&-
wait
tamis check recent 7 8
tamis info seen durable
tamis info seen items
tamis verify
echo - and back
tamis rollback seen
tamis check -c seen < <(seq 3000)
echo - into a new store
expect 0 tamis restore copy recent --store new
tamis --store new list -q
