# SPDX-License-Identifier: BSD-2-Clause
# One truncated filter of ten: it is named, the others are copied, status 1; an earlier copy of it stays.  (The copy had none.)
for name in 0 1 2 3 4 5 6 7 8 9; do
    tamis create "$name" -n 1000 --seed 1
    seq 100 | tamis add "$name"
done
expect 0 tamis backup nightly
seq 101 200 | tamis add 9
truncate -s 5000 "$TAMIS_STORE/segments/0000000000000005.seg"
echo - a first copy
expect 1 tamis backup copy
tamis --store copy list -q | tr '\n' ' '
tamis --store copy verify
expect 1 tamis backup another --json | sed 's/"seconds":[0-9.e-]*/"seconds":S/' 2>told
echo - --strict
expect 2 tamis backup strict --strict
ls -d strict* 2>there
echo - each night
for _ in first second; do
    expect 1 tamis backup nightly
done
tamis --store nightly check -c 4 < <(seq 100)
tamis --store nightly check -c 9 < <(seq 200)
tamis --store nightly verify
echo - a kept generation alone
rm -r "$TAMIS_STORE"
for keys in 100 200; do seq $keys | tamis build list -q; done
truncate -s 4000 "$TAMIS_STORE/segments/0000000000000001.seg"
expect 1 tamis backup kept
tamis --store kept generations list | cut -c 1-12
tamis --store kept verify
