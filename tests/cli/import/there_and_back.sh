# SPDX-License-Identifier: BSD-2-Clause
# Filters of all kinds through pipes into another store.
tamis create blocked -n 1000 --seed 7
tamis create classic -m 1003 -k 5
tamis create rb -n 100 -p 0.01 --hash-set redisbloom
tamis create guava -n 100 -p 0.01 --hash-set guava
for name in blocked classic rb guava; do
    seq 50 | tamis add "$name"
    tamis export "$name" --to tamis - --with-key | tamis --store other import "$name" --from tamis -
    seq 50 | tamis --store other check -c "$name"
done
tamis export rb --to redisbloom rb.dump
tamis export guava --to guava guava.dump
tamis import rb2 --from redisbloom rb.dump
tamis import guava2 --from guava guava.dump -n 100 -p 0.01 2>told
seq 50 | tamis check -c rb2
seq 50 | tamis check -c guava2
cmp <(tamis export rb2 --to redisbloom -) rb.dump
cmp <(tamis export guava2 --to guava -) guava.dump
tamis list | no_sizes /dev/stdin | tr -s ' ' # on a server small ones share drawers
tamis --store other list
tamis --store other verify
