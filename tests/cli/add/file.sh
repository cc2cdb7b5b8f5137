# SPDX-License-Identifier: BSD-2-Clause
# --file reads keys from files, one after the other, packed or not, and - from standard input.  The last line
# of a file may lack its newline, and is not joined to the first of the next.
tamis create seen -n 1000
: | gzip >packed
tamis add seen --file packed 2>told || { grep -q 'does not unpack' told && skip "needs zlib"; }
printf 'a\nb' >one
printf 'c\na\n' >two
printf 'd\ne\n' | gzip >three.gz
: >empty
printf 'f\n' | tamis add --new seen --file one --file empty --file two --file - --file three.gz
tamis info seen items
tamis add --stats --seen seen --file one 2>stats
cut -d, -f1 stats
printf 'x\0y\0' >nul
tamis add -z --new seen --file nul | tr '\0' '\n'
for i in $(seq 3000); do echo "key $i of a file"; done >many
tamis add --json seen --file many --file many | sort | uniq -c | awk '{ print $1 }' | sort | uniq -c
tamis check -c seen --file many
