# SPDX-License-Identifier: BSD-2-Clause
# Everything that the segments know is there again.
seq 1000 | tamis build list --keep 3
seq 2000 | tamis build list --except <(echo 5)
tamis create seen -n 1000
tamis add seen a b c
for damage in remove empty noise; do
    case $damage in
    remove) rm "$TAMIS_STORE/catalog.mdb" ;;
    empty) : >"$TAMIS_STORE/catalog.mdb" ;;
    noise) seq 20000 | head -c 65536 >"$TAMIS_STORE/catalog.mdb" ;;
    esac
    tamis repair
    echo "exit $?"
    tamis list -q
    tamis check -c list < <(seq 2000)
    tamis check seen a b c d
    tamis except list list
    tamis verify
done
tamis rollback list
tamis check -c list < <(seq 2000)
