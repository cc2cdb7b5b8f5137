# SPDX-License-Identifier: BSD-2-Clause
# Names in other scripts are those with xn--, and the rule has its version of Unicode.
# Seen to fail: the option was unknown.
tamis create names -n 1000 --seed 1 --key-rule name:idn 2>/dev/null || skip "needs libidn2"
version() { sed -E 's/idn=[a-z0-9.-]+/idn=VERSION/g'; }
tamis info names key_rule | version
echo 'Bücher.Example.' | tamis add --new names
tamis check names xn--bcher-kva.example BÜCHER.example.
tamis check --parents names a.bücher.example
tamis create names -n 1000 --seed 1 --key-rule name:idn --if-missing
tamis create pages -n 1000 --seed 1 --key-rule url:sort,idn,drop=b && tamis info pages key_rule | version
tamis explain pages 'HTTP://Faß.example/?b&a' | cut -f4
printf 'HTTP://faß.de\nhttp://xn--fa-hia.de/\n' | tamis uniq --key-rule url:idn
# Another version.
tamis create x -n 10 --key-rule name:idn=1.0 2>&1 | sed -E 's/the [0-9.]+ here/the RELEASE here/' | version
expect 2 tamis create x -n 10 --key-rule name:sort
expect 2 tamis create x -n 10 --key-rule 'url:idn=a b'
