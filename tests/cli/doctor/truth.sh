# SPDX-License-Identifier: BSD-2-Clause
# What doctor says of 'tamis repair' is what a repair does: for each kind of damage, alone and two at a time in one filter, a problem
# for which doctor prints the command is gone when it has run, and a problem for which it does not is still there.
# (It compared the names of files: of a segment that is an older copy it said "'tamis repair' does not mend it".)
segment() { echo "$TAMIS_STORE"/segments/*"$1".seg; }
make() {
    rm -rf "$TAMIS_STORE"
    tamis create grown -n 1000 --seed 1
    seq 900 | tamis add grown
    cp "$(segment 1)" older
    cp "$TAMIS_STORE/catalog.mdb" older.mdb
    seq 901 1000 | tamis add grown
    seq 1001 1100 | tamis add grown --no-sync
    seq 2000 | tamis build list -q # segment 3
    seq 3000 | tamis build list -q # segment 4
    tamis create few -n 100 --seed 1
    seq 90 | tamis add few
    tamis create durable -n 1000 --durable --seed 1
    seq 500 | tamis add durable
    printf '7\n9\n' | tamis except list add >said
    rm -rf all && mkdir all
    tamis sync
}
older() { cp older "$(segment 1)"; }
few_less() { # ten keys fewer in the counts, which killed adders may explain
    local at
    for at in $(seq 2048 64 4032); do
        at_least=$(od -An -tu2 -j "$at" -N 2 "$(segment 1)")
        [ "$at_least" -lt 500 ] || break
    done
    printf -v bytes '\\x%02x\\x%02x' $(((at_least - 10) % 256)) $(((at_least - 10) / 256))
    poke "$(segment 1)" "$at" "$bytes"
}
next_word() { poke "$(segment 1)" 1544 '\011'; }
names_of() { head -c 640 /dev/zero | dd of="$1" bs=1 seek=512 conv=notrunc status=none; }
no_label() { names_of "$(segment 1)"; }
zeroed() { dd if=/dev/zero of="$(segment 1)" bs=1024 seek=4 count=2 conv=notrunc status=none; }
cut() { truncate -s 5000 "$(segment 1)"; }
gone() { rm "$(segment 1)"; }
header() { poke "$(segment 1)" 80 '\377\377'; }
kept_gone() { rm "$(segment 3)"; }
kept_cut() { truncate -s 4500 "$(segment 3)"; }
list_items() { poke "$(segment 4)" 2048 '\001\0\0\0'; }
list_gone() { rm "$(segment 4)"; }
list_data() { poke "$(segment 4)" 5000 xxxx; }
index_gone() { # the newest file
    set -- "$TAMIS_STORE"/segments/*.seg
    rm "${!#}"
}
stray_name() { echo hello >"$TAMIS_STORE/segments/notes.txt"; }
stray() {
    tamis create gone -n 100000 --seed 1
    seq 100 | tamis add gone
    cp "$TAMIS_STORE"/segments/*.seg all
    tamis drop gone >dropped
    tamis create other -n 1000
    cp -n all/*.seg "$TAMIS_STORE/segments"
}
log() { mkdir -p "$TAMIS_STORE/logs" && echo x >"$TAMIS_STORE/logs/x.log"; }
places_of() { grep -o '"file":"[^"]*","offset":[0-9]*' | sort -u; } # of the lines of a JSON output
try() {
    local damage
    make
    for damage; do "$damage" 2>>said; done
    tamis doctor --json >found 2>>said
    grep '"state":"\(damaged\|odd\|stray\)"' found >problems
    grep -F '"command":"tamis repair"' problems | places_of >mended
    grep -vF '"command":"tamis repair"' problems | places_of | grep -vxFf mended >left
    tamis repair >repaired 2>>said
    tamis doctor --json 2>>said | grep '"state":"\(damaged\|odd\|stray\)"' | places_of >after
    grep -xFf after mended | sed "s|^|$*: doctor said that repair mends it, and it is there: |"
    grep -vxFf after left | sed "s|^|$*: doctor said that repair does not mend it, and it is gone: |"
    [ -s problems ] || echo "$*: nothing was found"
    tried=$((tried + 1))
    mends=$((mends + $(wc -l <mended)))
    leaves=$((leaves + $(wc -l <left)))
}
tried=0 mends=0 leaves=0
damages='older few_less next_word no_label zeroed cut gone header kept_gone kept_cut list_items list_gone list_data index_gone stray_name stray log'
for one in $damages; do try "$one"; done
for two in zeroed next_word no_label kept_gone list_data stray; do
    for one in older few_less kept_cut log; do try "$two" "$one"; done
done
[ "$mends" -ge 12 ] && [ "$leaves" -ge 25 ] && echo "$tried states"
