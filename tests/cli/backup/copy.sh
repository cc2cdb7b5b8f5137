# SPDX-License-Identifier: BSD-2-Clause
# The copy has every filter, generation and exception, and is a store of its own.
seq 1000 | tamis build list
seq 2000 | tamis build list --except <(echo 5)
tamis create seen -n 1000
tamis add seen a b c
before=$(snapshot)
expect 0 tamis backup copy
[ "$before" = "$(snapshot)" ] || echo "the store was changed"
export TAMIS_STORE=$PWD/copy
tamis list -q
tamis check -c list < <(seq 2000)
tamis except list list
tamis check seen a b c d
tamis rollback list
tamis check -c list < <(seq 2000)
tamis add seen d
tamis verify
tamis --store store check seen d
mkdir there
tamis --store store backup there --json | sed 's/"seconds":[0-9.e-]*/"seconds":S/; s/"bytes":[1-9][0-9]*/"bytes":N/'
