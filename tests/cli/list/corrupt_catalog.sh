# SPDX-License-Identifier: BSD-2-Clause
# Damage is said with the file, by every command, and nothing is touched.
# Directory only: damages files
tamis create seen -n 1000
cp "$TAMIS_STORE/catalog.mdb" intact
head -c 32768 /dev/urandom >"$TAMIS_STORE/catalog.mdb"
for command in list 'info seen' 'check seen a' 'add seen a' 'create other -n 1000' verify 'drop seen' \
    'rename seen b' sync; do
    # shellcheck disable=SC2086
    refused tamis $command 2>told
    wc -l <told
    grep -c 'catalog\.mdb' told
done
: >"$TAMIS_STORE/catalog.mdb"
refused tamis list
head -c 5000 intact >"$TAMIS_STORE/catalog.mdb"
refused tamis list 2>told
grep -c 'catalog\.mdb' told
cp intact "$TAMIS_STORE/catalog.mdb"
tamis list -q
