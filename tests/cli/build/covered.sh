# SPDX-License-Identifier: BSD-2-Clause
# Names below a listed one are counted, and left out where that is asked for.  An exception between the two keeps them in.
# Seen to fail: all names of a list were kept, in silence.
asks() { printf '%s\n' a.bad.example x.good.bad.example good.bad.example 192.0.2.1 | tamis check --parents "$1"; }
{
    printf '||%s^\n' bad.example A.bad.example. b.a.bad.example a.bad.example x.good.bad.example y.x.good.bad.example other.example 
    printf '@@||good.bad.example^\n'
} >rules
tamis build all rules --format adblock
tamis build few rules --format adblock --drop-covered
for name in all few; do tamis info "$name" items && asks "$name"; done
expect 1 tamis check few a.bad.example
tamis build few rules --format adblock --drop-covered --if-changed -q && tamis build few rules --format adblock --drop-covered --json -q | grep -o '"distinct":[^,]*\|"covered":[^,]*'
# The keys that the others leave make the same generation.
printf '%s\n' bad.example x.good.bad.example other.example | tamis build same --key-rule name --format lines --except <(echo good.bad.example)
[ "$(tamis generations few --json | grep -o '"key_digest":"[^"]*"' | tail -1)" = "$(tamis generations same --json | grep -o '"key_digest":"[^"]*"' | tail -1)" ] && echo same
# By --except, by hand, and what --against may make of a key that is known to be good.
printf '%s\n' bad.example x.good.bad.example >names
echo Good.Bad.Example >good
tamis build by-file names --drop-covered --except good && tamis info by-file items
tamis build by-hand names -q && tamis except by-hand add good.bad.example && tamis build by-hand names -q --drop-covered && tamis info by-hand items
tamis build known-good names --drop-covered --against <(echo good.bad.example) && tamis info known-good items
# Which parent stands where in the list is of no matter, nor in which file; one that is left out has a listed parent itself.
echo c.example >above && echo b.c.example >below
seq -f 'a%.0f.b.c.example' 3000 | tamis build order - above below --format domains --drop-covered --json | grep -o '"distinct":[^,]*\|"covered":[^,]*'
# A shard leaves out what is covered by a name of another shard.
for shard in 0 1 2; do tamis build "shard$shard" names -q --drop-covered --shard "$shard/3" --allow-empty && tamis info "shard$shard" items; done | sort
# Other keys have no parents.
expect 2 tamis build lines names --format lines --drop-covered
tamis build lines names --format lines --json | grep -c covered
[ -z "$(find "$TAMIS_STORE" -name '*.tmp')" ]
