# SPDX-License-Identifier: BSD-2-Clause
# A line a problem on standard output, their number on standard error, status 2.
tamis create a -n 1000
tamis create b -n 1000
tamis create c -n 1000
head -c 4096 "$TAMIS_STORE/segments/0000000000000001.seg" >short
cp short "$TAMIS_STORE/segments/0000000000000001.seg"
rm "$TAMIS_STORE/segments/0000000000000003.seg"
expect 2 tamis verify
expect 2 tamis verify --json
expect 2 tamis verify a
expect 0 tamis verify b
expect 2 tamis verify b absent
# The problems of all that are named are summed up, and the sound ones hide none.
expect 2 tamis verify a b
expect 2 tamis verify b a c
