# SPDX-License-Identifier: BSD-2-Clause
# Eight filters that were built apart are, merged, bit for bit the one that was built at once.
# Directory only: looks at the bits in the files
field() { tamis info "$1" segments --json | grep -o "\"$2\":[0-9]*" | cut -d: -f2; }
data() { # the bits of a filter, without the header and the checksums
    tail -c "+$(($(field "$1" data_offset) + 1))" \
        "$TAMIS_STORE/$(tamis info "$1" segments --json | grep -o 'segments/[0-9]*.seg')" |
        head -c "$(($(field "$1" m_bits) / 8))" | cksum
}
check() { # OPTION... of create
    tamis create one "$@"
    seq 1 8000 | tamis add one
    for i in 1 2 3 4 5 6 7 8; do
        tamis create "part$i" --like one
        seq "$i" 8 8000 | tamis add "part$i"
    done
    tamis create into --like one
    tamis merge new part1 part2 part3 part4 part5 part6 part7 part8
    tamis merge into part1 part2 part3 part4 part5 part6 part7 part8
    [ "$(data one)" = "$(data new)" ] && [ "$(data one)" = "$(data into)" ] && echo "the same: $*"
    tamis list -q | xargs tamis drop -q
}
check -n 20k
check -n 20k -p 1e-4 --seed 3
check -n 20k -p 0.1% --kind bloom
check -m 200003 -k 5
check --hash-set php:bkdr,fnv -m 1Mi 2>/dev/null # the note of weak hash sets

# So are bitmaps of Redis, whose bits stand the other way round.
printf '\x80\x01\x00\x10' >a.bin && printf '\x01\x01\x40' >b.bin
for name in a b; do
    tamis import "$name" --from redis-bitmap --hash-set php:js -m 40 "$name.bin" 2>/dev/null
done
tamis merge both a b
tamis export both --to redis-bitmap - | od -An -tx1
