# SPDX-License-Identifier: BSD-2-Clause
# Hash set sip: its key is shown nowhere, and leaves the store only with --with-key.
# Directory only: repair, report and compare work where the files are; tests/redis/static.py has secrets on servers
! tamis explain --hash-set sip -m 8 -k 1 key 2>&1 | grep -q libsodium || skip "needs libsodium"
tamis create s -n 1000 --hash-set sip
tamis create t -n 1000 --hash-set sip
tamis create u --like s
tamis create s -n 1000 --hash-set sip --if-missing
refused tamis create x -n 1000 --hash-set sip --seed 7
refused tamis create x -n 1000 --hash-set sip:1
seq 100 | tamis add s | grep -c NEW
seq 101 200 | tamis add u | grep -c NEW
tamis merge s u
seq 200 | tamis check -c s
refused tamis merge s t
refused tamis compare s t
refused tamis explain --hash-set sip -m 8 -k 1 key
refused tamis export s --to tamis s.tamis
[ ! -e s.tamis ] && echo no file
tamis export s --to tamis s.tamis --with-key
tamis --store other import s --from tamis s.tamis
seq 200 | tamis --store other check -c s
[ "$(tamis explain s key)" = "$(tamis --store other explain s key)" ] && echo one key
[ "$(tamis explain s key)" != "$(tamis explain t key)" ] && echo two keys
# Lost the catalog: the headers have the key.
rm store/catalog.mdb
tamis repair --rebuild >told
seq 200 | tamis check -c s
tamis verify
# The key as it lies in the header is in nothing that the command says, in whatever writing.
key=$(od -An -tx1 -j136 -N16 store/segments/0000000000000001.seg | tr -d " \n")
[ "${#key}" -eq 32 ] && [ -n "${key//0/}" ] && echo a key
tamis report --all -o page.html
{ tamis info s --json && tamis list --json && tamis verify --json && cat page.html told; } >all 2>&1
grep -ci "$key" all
grep -cq '"hash_set":"sip"' all && echo nowhere
# A seed: in `info`, which is the owner's, and neither in a report nor, unasked, in an export.
tamis create seeded -n 10 --seed 12345678901234567890
tamis info seeded --all | grep seed
tamis report seeded -o page.html
grep -c 1234567890123456789 page.html
refused tamis export seeded --to tamis -
tamis export seeded --to tamis - --with-key | wc -c
