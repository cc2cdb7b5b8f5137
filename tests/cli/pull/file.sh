# SPDX-License-Identifier: BSD-2-Clause
# Directory only: pull makes a generation of a store in a directory.
# The way of a list by file://, packed and not, with exceptions, JSON and a rollback.
seq 1000 | tamis --store there build list -p 0.1%
tamis --store there export list --to tamis tonight --digest
tamis pull list "file://$PWD/tonight" --keep 3 --progress 2>told
tail -n 1 told | sed -E 's/[0-9.]+ [KMG]iB\/s/RATE/'
tamis pull list "file://$PWD/tonight"
tamis pull list "file://$PWD/tonight" -q
tamis pull list "file://$PWD/tonight" --json
printf '1\n7\n' >except
tamis pull list "file://$PWD/tonight" --except except --json | sed -E 's/"(size_bytes|bytes_read)":[0-9]+/"\1":N/g'
tamis check list 1 2 7 1001
seq 2000 | tamis --store there build list -p 0.1%
tamis --store there export list --to tamis - | gzip >tonight.gz
tamis pull list "file://$PWD/tonight.gz"
tamis check list 1 2 7 1001
tamis rollback list
tamis check list 1 2 7 1001
tamis info list imported_from
tamis pull list "file://$PWD/tonight.gz"
tamis check list 1 2 7 1001
tamis --store there export list --to guava tonight.guava 2>told || true
tamis create bits -n 100 --hash-set guava
tamis add bits a b
tamis export bits --to guava bits.guava
tamis pull other "file://$PWD/bits.guava" --from guava
tamis check other a b c
find store/pulls -type f -printf '%f\n' | sed 's/^[0-9a-f]*/N/'
tamis verify
