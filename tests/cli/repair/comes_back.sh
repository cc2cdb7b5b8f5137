# SPDX-License-Identifier: BSD-2-Clause
# A segment is away while the catalog is made anew, and comes back.  (A repair removed it, and its keys were gone.)
away() { mv "$TAMIS_STORE/segments/000000000000000$1.seg" away; }
back() { mv away "$TAMIS_STORE/segments/000000000000000$1.seg"; }
tamis create grown -n 1000 -p 50%
seq 5000 | tamis add grown
for last in 'repair' 'repair --rebuild'; do
    away 1
    expect 1 tamis repair --rebuild >told 2>said
    grep 'not mended' told
    back 1
    # shellcheck disable=SC2086
    expect 0 tamis $last >told 2>said
    tamis check -c grown < <(seq 5000) 2>said
done
echo - the only segment of a filter
rm -r "$TAMIS_STORE"
for name in a b; do
    tamis create $name -n 1000
    seq 500 | tamis add $name
done
away 1
expect 1 tamis repair --rebuild >told 2>said
grep 'not mended' told
tamis list -q
expect 1 tamis repair >told 2>said
back 1
expect 0 tamis doctor
expect 0 tamis repair
tamis check -c a < <(seq 500)
echo - a segment that cannot be read
ulimit -n 6
tamis repair --rebuild >told 2>said && echo "it ran"
tail -1 said | grep -c 'nothing was changed'
