# SPDX-License-Identifier: BSD-2-Clause
# Directory only: another process holds a lock of the directory; a server has none
# Once top has begun, it goes on while somebody else has the lock of the catalog, and tells what is added.
tamis create seen -n 10k
coproc adder { tamis add --new seen; }
exec 3<&"${adder[0]}"
echo first >&"${adder[1]}"
read -r _ <&3
tamis top --json --interval 100ms >looks &
top=$!
until [ -s looks ]; do sleep 0.05; done
exec 9>>"$TAMIS_STORE/catalog.lock"
flock -x 9
seq 2000 >&"${adder[1]}"
until tail -n 1 looks | grep -qE '"items":(19[5-9]|200)[0-9],'; do sleep 0.05; done
echo "it tells of all keys"
exec 9>&-
kill "$top"
wait "$top"
echo "exit $?"
eval "exec ${adder[1]}>&-"
cat <&3 >rest
wait
expect 2 timeout 30 flock -x "$TAMIS_STORE/catalog.lock" tamis --wait 0.2 top --once 2>told
grep -c 'catalog is locked' told
