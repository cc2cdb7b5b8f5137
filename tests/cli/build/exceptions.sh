# SPDX-License-Identifier: BSD-2-Clause
# --except holds from then on; what --against finds holds for its generation, and is exact.
seq 20000 >bad
seq -f 'good %.0f' 50000 >good
printf '5\n77\n' >white
tamis build list bad -p 1%
tamis check -c list <good >before
tamis build list bad -p 1% --except white --against good --json >result
expect 1 tamis check -c list <good
tamis check -c list <bad
expect 1 tamis check list 5 77
found=$(grep -o '"found":[0-9]*' result | cut -d : -f 2)
[ "$found" -eq "$(cat before)" ] && [ "$found" -gt 50 ] || echo "found $found, before $(cat before)"
[ "$(tamis except list list | wc -l)" -eq $((found + 2)) ] || echo "not as many exceptions"
tamis except list list --json | grep -c '"generation":2}'
# The next generation, of other keys, needs other ones.
(cat bad && echo 'good 1') | tamis build list --seed 9 --against good
tamis check list <good
tamis except list list --json | grep '"generation":0}'
# What is both known to be good and built in stays in, and is told.
tamis build list bad --against white
tamis check list 5 77
tamis except list remove 5 77
tamis check list 5 77
tamis verify
