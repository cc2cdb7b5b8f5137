# SPDX-License-Identifier: BSD-2-Clause
# Directory only: what stood behind the bits stays in the directory, as the stream to a server has no place for it.
# Files as DCSO's program writes them, made here from head and bits: keys, attached bytes, refusals.
u64() { for ((i = 0; i < 8; i++)); do printf "\\x$(printf %02x $(($1 >> 8 * i & 255)))"; done; }
head_of() { u64 "$1"; u64 1000; printf '\x7b\x14\xae\x47\xe1\x7a\x84\x3f'; u64 "$2"; u64 "$3"; u64 "$4"; }
tamis create mine -n 1000 -p 1% --hash-set dcso
tamis add mine joker test1
tamis export mine --to dcso mine.bloom
head -c 48 mine.bloom | od -An -t u8 -w8 | sed -n '1,2p;4,6p' | tr -d ' '
(cat mine.bloom && printf 'who made it, and when') >attached.bloom
tamis import theirs --from dcso attached.bloom
tamis check theirs joker test1 'never seen'
tamis info theirs capacity
tamis info theirs items
tamis export theirs --to dcso - | cmp - attached.bloom && echo the same
echo 'goes on'
tamis add --new theirs joker new
tamis export theirs --to dcso - | tail -c 21
echo
tamis explain --hash-set dcso -m 9586 -k 7 joker
refused() { expect 2 "$@"; }
refused tamis import x --from dcso -n 1000 attached.bloom
head -c 47 mine.bloom | refused tamis import x --from dcso -
head -c 1000 mine.bloom | refused tamis import x --from dcso -
(cat mine.bloom && head -c 361 /dev/zero) | refused tamis import x --from dcso -
(head_of 2 7 9586 0) | refused tamis import x --from dcso -
(head_of 1 65 9586 0) | refused tamis import x --from dcso -
(head_of 1 0 9586 0) | refused tamis import x --from dcso -
(head_of 1 7 64 5 && u64 0) | refused tamis import x --from dcso -
(head_of 1 7 60 0 && u64 -1) | refused tamis import x --from dcso -
tamis create other -n 1000
refused tamis export other --to dcso x
