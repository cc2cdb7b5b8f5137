# SPDX-License-Identifier: BSD-2-Clause
# What packed a file is told by its content: whatever its name, and from a pipe.
[ -n "$(type -P zstd)" ] || skip "needs zstd"
seq 200000 >keys
gzip -c keys >named.txt
zstd -q -c keys >named.gz
(seq 100000 | gzip -c && seq 100001 200000 | gzip -9 -c) >members
(seq 100000 | zstd -q -c && seq 100001 200000 | zstd -q -19 -c) >frames
: | gzip -c >nothing.gz
tamis build list keys
digest() { tamis generations list --json | tail -n 1 | grep -o '"key_digest":.*'; }
digest >want
for file in named.txt named.gz members frames; do
    tamis build list nothing.gz "$file" 2>told || { grep -q 'does not unpack' told && skip "needs zlib and libzstd"; }
    digest | cmp - want && seq 200000 | tamis check -c list
    tamis build list <"$file"
    digest | cmp - want
    cat told
done
# A key is what was packed, and no more: a file that only begins like one is not unpacked.
printf '\x1f\x8b\n' | tamis build list
printf '\x1f\x8b\n' | tamis check -c list
