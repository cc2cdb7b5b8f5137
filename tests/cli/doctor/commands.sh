# SPDX-License-Identifier: BSD-2-Clause
# Each command that doctor, the report, warnings, notes and errors print, run as it stands in the state in which they print it, and
# what doctor says then.  Those of tools/tamis/findings.c, commands/doctor.c, open.c, fields.c and store/check/ are here; the window
# whose newest slice begins in the future is in tests/golden/streams.py, what a server prints in tests/redis/lost_shards.py.
# Seen to fail with what was before: `tamis create LARGER --like -- '-over'`, which create refuses, and `tamis sync room`, after which
# nothing had come back.
said() { # by whoever opens the filter, or looks at the store
    tamis doctor
    tamis verify
    tamis repair --dry-run
    tamis info -- "$1"
    tamis list
    tamis check -- "$1" 1
    tamis add -- "$1" 1
}
look() { # FILTER STATE
    echo "- $2"
    : >of_page
    tamis doctor --json 2>&1 | sed -n 's/.*"command":"\([^"]*\)".*/\1/p' >commands
    rm -f page.html
    tamis report --all -o page.html >reported 2>&1
    if [ -e page.html ]; then
        grep -o '"command":"[^"]*"' page.html | sed 's/"command":"\(.*\)"/\1/' | sort -u | grep -vxFf commands >of_page
    fi
    # Those in prose that are whole; the rest are names of commands.
    said "$1" 2>&1 | grep -o "'tamis [^']*'" | tr -d "'" | sort -u | grep -vxE 'tamis (build|create|drop|list|rollback)' >in_prose
    for list in commands of_page in_prose; do
        while IFS= read -r command; do
            bash -c "$command" <<<'' >told 2>&1
            echo "$list: $command: $?"
        done <$list
    done
    tamis doctor 2>&1 | grep -v '^tamis: checked' || tamis doctor 2>&1
    rm -rf "$TAMIS_STORE"
}
segment() { echo "$TAMIS_STORE/segments/000000000000000$1.seg"; }

tamis create -n 100 --seed 1 --on-full warn -- -over
seq 300 | tamis add -- -over 2>warned
sed 's/.*: tamis/tamis/' warned
look -over over
tamis create full -n 100 --seed 1 --on-full refuse
seq 100 | tamis add full
look full full
tamis create room -n 1000 --seed 1 --on-full refuse
seq -s , 500 | sed 's/.*/[&]/' | tamis add room --format jsonl # one record, one batch
poke "$(segment 1)" 1648 '\350\003' # as if a killed adder had taken the rest
look room 'room that a killed adder took'
for field in 1608 1616; do
    tamis create marked -n 1000 --seed 1
    seq 500 | tamis add marked
    poke "$(segment 1)" $field '\0\0\144\247\263\266\340\015' # a time of September 2001
    look marked "the header says so at $field"
done
seq 1000 | tamis build list -q
seq 2000 | tamis build list -q
rm "$(segment 2)"
look list 'a list that is lost, and a generation that is kept'
# What the rollback has put aside is missing, and may come back: no repair forgets it.
seq 1000 | tamis build list -q
seq 2000 | tamis build list -q
rm "$(segment 2)"
tamis rollback list 2>&1
look list 'a generation that is kept is lost'
seq 1000 | tamis build list -q
seq 2000 | tamis build list -q
poke "$(segment 2)" 5000 xxxx
tamis rollback list 2>&1
tamis doctor 2>&1
seq 3000 | tamis build list -q
look list 'a generation that was kept was damaged, and a newer one took its place'
seq 1000 | tamis build list -q
rm "$(segment 1)"
look list 'a list that is lost'
tamis create bits -n 100000 --seed 1
seq 50000 | tamis add bits
dd if=/dev/zero of="$(segment 1)" bs=4096 seek=5 count=3 conv=notrunc status=none
look bits 'lost bits'
tamis create bits -n 1000 --seed 1
tamis create other -n 1000 --seed 1
rm "$TAMIS_STORE/catalog.mdb"
look bits 'no catalog'
tamis create bits -n 1000 --seed 1
cp "$(segment 1)" copy
tamis drop -q bits
tamis create other -n 1000 --seed 1
cp copy "$(segment 1)"
look other 'a file of a filter that is not in the catalog'
