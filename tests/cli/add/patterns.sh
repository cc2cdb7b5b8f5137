# SPDX-License-Identifier: BSD-2-Clause
# Lines of all lengths, new and seen in all patterns, against a slow model; from a file, in pieces through
# a pipe, with and without the last separator.  Runs of lines end at the ends of buffers, too.
seed=$RANDOM
same() { cmp "$1" "$2" || echo "$3: not the same with seed $seed"; }

# Lines of 0 to 150 bytes, in stretches: all of them fresh, none, every other one, by chance.
awk -v seed="$seed" 'BEGIN {
    srand(seed)
    for (i = 0; i < 150; i++) fill = fill "x"
    for (n = 0; n < 60000; n++) {
        if (n % 97 == 0) { way = int(rand() * 4); if (rand() < 0.1) stretch = 3000; else stretch = 0 }
        if (stretch > 0) { stretch--; way = 0 }
        old = way == 1 || (way == 2 && n % 2) || (way == 3 && rand() < 0.5)
        if (old && count) print lines[int(rand() * count)]
        else print lines[count++] = substr(fill, 1, int(rand() * 140)) n
        if (n == 30000) print ""
    }
}' >input
# One key that no buffer holds stands among the others.
{ head -n 20000 input; head -c 3000000 /dev/zero | tr '\0' y; echo; tail -n +20001 input; } >long
head -c 2000 /dev/zero | tr '\0' z >>long # without end
{ cat long; echo; } >whole
awk '!had[$0]++' whole >new
awk 'had[$0]++' whole >seen
awk 'NR % 3 == 0' new >some
awk 'NR == FNR { some[$0] = 1; next } $0 in some' some whole >present
awk 'NR == FNR { some[$0] = 1; next } !($0 in some)' some whole >absent

from_file() { "$@" <long; }
from_pipe() { dd if=long bs=7777 status=none | "$@"; }

for from in from_file from_pipe; do
    for filter in new seen some; do
        tamis create "$from-$filter" -n 100k -p 1e-12
    done
    $from tamis add --new "$from-new" >got
    same new got "$from, --new"
    $from tamis add --seen "$from-seen" >got
    same seen got "$from, --seen"
    tamis add "$from-some" <some
    $from tamis check "$from-some" >got
    same present got "$from, check"
    $from tamis check -v "$from-some" >got
    same absent got "$from, check -v"
    $from tamis add --new "$from-seen" | wc -c
done
tr '\n' '\0' <long | tamis check -z from_file-some | tr '\0' '\n' >got
same present got "-z"
