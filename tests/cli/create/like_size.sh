# SPDX-License-Identifier: BSD-2-Clause
# Directory only: on a server --like takes all of the other filter, its size too, and says so.
# --like with another size: -n, -p or both, and all else as the other has it; such a pair cannot be merged. It was
# refused, though doctor and report printed it as advice.
shape() {
    tamis info "$1" --json | grep -o '"\(kind\|hash_set\|capacity\|fp_rate\|on_full\|durable\|seed\|slices\)":[^,]*' | tr '\n' ' '
    echo
}
tamis create a -n 1000 -p 1e-4 --kind bloom --seed 7 --on-full refuse --durable
tamis create more --like a -n 5000
tamis create finer --like a -p 1e-6
tamis create both --like a -n 5k -p 1%
for name in a more finer both; do shape "$name"; done
tamis create both --like a -n 5k -p 1% --if-missing
expect 2 tamis create both --like a -n 6k --if-missing
tamis create window -n 1000 --window 30d --slices 3
tamis create longer --like window -n 9000
shape longer
tamis create old -m 10000 -k 4
tamis create larger --like old -n 9000
shape larger
# An odd size has a rate that nobody can ask for, or a few keys in few bits.
for size in '-m 4670 -k 40' '-m 58 -k 12'; do
    # shellcheck disable=SC2086
    tamis create odd $size
    tamis create odder --like odd
    tamis merge odder odd
    shape odder
    tamis drop -q odd odder
done
seq 10 | tamis add a
expect 2 tamis merge more a
expect 2 tamis create x --like a -n 0
expect 2 tamis create x --like a -p 2
