# SPDX-License-Identifier: BSD-2-Clause
# --sign: a file and its signature, which import --verify takes.  (The real minisign beside it: minisign_takes_and_gives.)
# Broken to see it fail: the signature without the name of the file; is_private() always true.
tamis import x --from tamis /dev/null --verify x 2>&1 | grep -q libsodium && skip "needs libsodium"
cp -r "${2%/cli/*}/interop/vectors/minisign" keys
chmod 600 keys/*.key
untimed() { sed -E 's/timestamp:[0-9]+/timestamp:T/' "$@" | grep -a trusted; }
tamis create list -n 100
tamis add list a b
tamis export list --to tamis one --sign keys/plain.key
untimed one.minisig
tamis import copy --from tamis one --verify keys/plain.pub
tamis check copy a

echo "-- another comment, another place, a pipe, a format that is not our own"
tamis export list --to tamis two --sign keys/plain.key --trusted-comment 'zum Süden' --signature sig --json | sed 's/"bytes":[0-9]*/"bytes":N/'
untimed sig
tamis export list --to tamis - --sign keys/plain.key --signature three.minisig >three
untimed three.minisig
tamis import third --from tamis - --signature three.minisig --verify keys/plain.pub <three
tamis create guava -n 100 --kind bloom --hash-set guava
tamis export guava --to guava four --sign keys/plain.key
tamis import four --from guava four --verify keys/plain.pub

echo "-- a key with a password"
echo 'correct horse' >password
tamis export list --to tamis five --sign keys/small.key --password-file password
tamis import five --from tamis five --verify keys/plain.pub --verify keys/small.pub
echo 'correct' >wrong
expect 2 tamis export list --to tamis six --sign keys/small.key --password-file wrong
expect 2 setsid tamis export list --to tamis six --sign keys/small.key
expect 2 tamis export list --to tamis six --sign keys/small.key --password-file missing

echo "-- refused, and nothing is written"
expect 2 tamis export list --to tamis one --sign keys/plain.key
rm one
expect 2 tamis export list --to tamis one --sign keys/plain.key
tamis export list --to tamis one --sign keys/plain.key --force
expect 2 tamis export list --to tamis six --sign missing
chmod 600 keys/plain.pub
expect 2 tamis export list --to tamis six --sign keys/plain.pub
install -m 644 keys/plain.key open.key
expect 2 tamis export list --to tamis six --sign open.key
expect 2 tamis export list --to tamis - --sign keys/plain.key
expect 2 tamis export list --to tamis six --sign keys/plain.key --signature -
expect 2 tamis export list --to tamis six --sign keys/plain.key --signature six
expect 2 tamis export list --to tamis six --signature sig
expect 2 tamis export list --to tamis six --trusted-comment text
expect 2 tamis export list --to tamis six --sign keys/plain.key --trusted-comment 'two
lines'
expect 2 tamis export list --to tamis six --sign keys/plain.key --trusted-comment "$(printf '%8000s' x)"
expect 2 tamis export list --to redis://127.0.0.1:1/0 key --sign keys/plain.key
(ulimit -f 0 && expect 2 tamis export list --to tamis six --sign keys/plain.key 2>/dev/null)
here
