# SPDX-License-Identifier: BSD-2-Clause
# After each kind of damage the commands agree: KIND: exit status of verify, list, info, repair, and the state in
# list before and after verify.  Seen to fail before there was one truth: list said ok, repair "nothing to repair".
states() { tamis list -o name,state 2>&1 | awk '$1 == "x" { $1 = ""; print }' | no_times | xargs; }
look() { # KIND
    local before after codes=
    before=$(states)
    for command in "verify" "list" "info x" "verify" "repair"; do
        # shellcheck disable=SC2086
        tamis $command >"$SCRATCH/said" 2>&1
        codes+=" ${command%% *}=$?"
    done
    cp "$SCRATCH/said" "$SCRATCH/repair"
    after=$(states)
    echo "$1:$codes, list says $before, then $after"
    grep -c 'not mended' "$SCRATCH/repair"
    grep -c 'nothing to repair' "$SCRATCH/repair"
}
anew() {
    rm -rf "$TAMIS_STORE"
    tamis create x -n 100000 --seed 1
    seq 50000 | tamis add x
    segment=$TAMIS_STORE/segments/0000000000000001.seg
}
anew; look sound
anew; tamis drop -q x; seq 5000 | tamis build x --kind fuse
segment=$(find "$TAMIS_STORE/segments" -name '*.seg')
poke "$segment" 5000 '\001\002\003\004'; look 'damage in fuse data'
# A generation that is kept and sound is named, and one that is not there, or damaged too, is not.
grep -o "make 'x' anew" "$SCRATCH/repair"
seq 5000 | tamis build x --kind fuse
look 'built anew'
seq 6000 | tamis build x --kind fuse
segment=$(find "$TAMIS_STORE/segments" -name '*.seg' | sort | tail -1)
poke "$segment" 5000 '\001\002\003\004'; look 'damage in fuse data, a generation is kept'
grep -o 'goes back to generation [0-9]*' "$SCRATCH/repair"
anew; poke "$segment" 100 'xxxx'; look 'damaged header'
anew; dd if=/dev/zero of="$segment" bs=4096 seek=5 count=3 conv=notrunc status=none; look 'zeroed bits'
anew; truncate -s 20000 "$segment"; look 'truncated file'
anew; rm "$segment"; look 'missing file'
# The catalog can be made anew: after repair all is well.
anew
for offset in $(grep -abo fx "$TAMIS_STORE/catalog.mdb" | cut -d : -f 1); do
    poke "$TAMIS_STORE/catalog.mdb" $((offset + 40)) 'xxxx'
done
look 'damaged catalog record'
expect 0 tamis verify
# A log of a process that was killed: who opens the filter for writing takes what can be read of it.
rm -rf "$TAMIS_STORE"
tamis create x -n 1000 --durable
mkfifo keys
tamis add x --new <keys >news &
adder=$!
disown "$adder" # else bash says that it was killed
exec 3>keys
seq 5000 >&3
until [ "$(find "$TAMIS_STORE/logs" -name '*.log' -size +0 2>/dev/null)" ] && [ "$(wc -l <news)" -gt 500 ]; do sleep 0.01; done
kill -9 "$adder"
exec 3>&-
while kill -0 "$adder" 2>/dev/null; do sleep 0.01; done
poke "$(find "$TAMIS_STORE/logs" -name '*.log')" 100 'xxxxxxxxxxxxxxxxxxxx'; look 'damaged log'
tamis sync x 2>/dev/null
look 'after sync'
