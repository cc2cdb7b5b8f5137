# SPDX-License-Identifier: BSD-2-Clause
# Counters are added, also past what their bits hold; an intersection has the least of them.
tamis create one -n 10k --kind counting
for i in 1 2 3 4 5 6 7 8; do tamis create "part$i" --like one; done
for i in 1 2 3 4 5 6 7 8; do
    { seq 1 1000; yes often | head -n "$((5 * i))"; } >keys
    tamis add "part$i" <keys
    tamis add one <keys
done
tamis merge new part1 part2 part3 part4 part5 part6 part7 part8
tamis create into --like one
tamis merge into part1 part2 part3 part4
tamis merge into part5 part6 part7 part8
{ seq 1 2000; echo often; } >keys
for name in new into; do
    cmp <(tamis count one <keys) <(tamis count "$name" <keys) && tamis count "$name" 500 often
done
tamis merge --intersect least part4 part2 part7
tamis count least 500 often
tamis remove new often && tamis count new often

# Once more is once more as often.
tamis merge into part1
tamis count into 500 often
tamis create wide -n 10k --kind counting --counter-bits 8
refused tamis merge wide part1
refused tamis merge --intersect x wide part1
sound
