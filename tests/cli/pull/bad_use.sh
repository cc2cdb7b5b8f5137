# SPDX-License-Identifier: BSD-2-Clause
# Directory only: pull makes a generation of a store in a directory.
# What is refused before anything is asked for, or made.
refused tamis pull
refused tamis pull list
refused tamis pull list https://127.0.0.1:1/x more
refused tamis pull list ftp://127.0.0.1/x
refused tamis pull list /tmp/list
refused tamis pull list redis://:secret@127.0.0.1/0
refused tamis pull list http://tom:secret@127.0.0.1:1/x?token=secret
refused tamis pull list "http://tom:sec/ret@127.0.0.1:1/x"
refused tamis pull "" file:///none
refused tamis pull list file:///none --from nothing
refused tamis pull list file:///none --from redis://127.0.0.1/0
refused tamis pull list file:///none --seal
refused tamis pull list file:///none --except missing
refused tamis pull list file:///none --except - --except -
refused tamis pull list file:///none --signature file:///none.minisig
refused tamis pull list file:///none --max-bytes much
refused tamis pull list file:///none --retry 101
refused tamis pull list file:///none --timeout 1ms
refused tamis pull list file:///none --keep 1001
refused tamis pull list "https://127.0.0.1:1/$(printf '%03000d' 0)"
refused tamis --store redis://127.0.0.1:1 pull list file:///none
refused tamis pull list file://host/none
refused tamis pull list file://
# These make the store, and nothing in it.
expect 2 tamis pull list file:///none
expect 2 tamis pull list "file://$PWD"
mkfifo pipe
expect 2 tamis pull list "file://$PWD/pipe"
expect 2 tamis pull list file:///dev/zero
expect 2 tamis pull list https://127.0.0.1:1/x --retry 0 2>told
sed -E 's/ (after|to connect).*//' told
nothing_left
find store/pulls -type f
