# SPDX-License-Identifier: BSD-2-Clause
# Directory only: 28 bytes of the head stay in the directory, as the stream to a server has no place for them.
# Files as pybloomfiltermmap3 writes them, made here from head and bits: keys, numbers, refusals.
seeds=4294967295,0,305419896
tamis create mine -n 1000 -m 9601 --hash-set pybloomfilter:$seeds
tamis add mine joker test1
tamis add --hex mine 2a00000000000000
tamis export mine --to pybloomfilter mine.bloom
wc -c <mine.bloom
head -c 9 mine.bloom
tail -c +10 mine.bloom | head -c 12 | od -An -t u4 -w12
tail -c +38 mine.bloom | head -c 16 | od -An -t u4 -w16
tail -c +1086 mine.bloom | head -c 8 | od -An -t u8
# What the package leaves at 1065 to 1092 comes back.
(head -c 1065 mine.bloom && printf 'junk' && head -c 8 /dev/zero && printf '\1\1others' && head -c 8 /dev/zero && tail -c +1094 mine.bloom) >theirs.bloom
tamis import theirs --from pybloomfilter theirs.bloom
tamis check theirs joker test1 'never seen'
tamis check --hex theirs 2a00000000000000
tamis info theirs capacity
tamis info theirs items
tamis info theirs hash_set
tamis export theirs --to pybloomfilter - | cmp - theirs.bloom && echo the same
tamis explain --hash-set pybloomfilter:$seeds -m 9601 joker
refused() { expect 2 "$@"; }
with() { (head -c "$1" mine.bloom && printf "$2" && tail -c "+$(($1 + $3 + 1))" mine.bloom) | refused tamis import x --from pybloomfilter -; }
refused tamis import x --from pybloomfilter -n 1000 mine.bloom
head -c 1279 mine.bloom | refused tamis import x --from pybloomfilter -
head -c 2480 mine.bloom | refused tamis import x --from pybloomfilter -
(cat mine.bloom && echo) | refused tamis import x --from pybloomfilter -
with 0 X 1
with 17 '\1' 1
with 21 '\0\0\0\0\0\0\0\0' 8
with 29 '\0\0\0\0\0\0\0\0' 8
with 9 '\0\0' 2
with 9 '\200' 1
with 37 '\2' 1
with 37 '\4' 1
with 37 '\21' 1
with 37 '\0' 1
with 1077 '\2' 1
with 1200 '\1' 1
with 1100 '\1' 1
tamis create other -n 1000
refused tamis export other --to pybloomfilter x
refused tamis create y -n 1000 --hash-set pybloomfilter
refused tamis create y -n 1000 --hash-set pybloomfilter:1,2 -k 3
