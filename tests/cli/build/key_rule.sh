# SPDX-License-Identifier: BSD-2-Clause
# A list of names makes a filter of names, with no option; the rule of a filter that is there stays.
# Seen to fail: the rule was bytes, so that ADS7.example. was let through, and the rate that of one question.
asks() { printf '%s\n' ads7.example ADS7.example. sub.ads7.example example x.good.ads7.example | tamis check --parents "$1"; }
shows() { tamis info --json "$1" | grep -o '"fp_rate":[^,]*\|"key_rule":[^,]*' | tr '\n' ' '; echo "$1"; }
seq -f '0.0.0.0 ads%.0f.example' 200 >hosts
{ seq -f '||ads%.0f.example^' 200 && echo '@@||good.ads7.example^'; } >rules
seq -f 'ads%.0f.example' 200 >names
tamis build guessed hosts && asks guessed && tamis check guessed ADS7.example.
tamis build rules rules && asks rules
tamis build names names -p 1e-6 && asks names
for format in hosts adblock domains auto; do
    tamis build "as-$format" hosts --format "$format" 2>/dev/null && shows "as-$format"
done
tamis build nothing --format domains --allow-empty </dev/null
tamis build only-exceptions <<<'@@||good.example^' --allow-empty
tamis build bits names --kind blocked -n 1000 -p 1%
tamis build bytes hosts --key-rule bytes -p 1%
tamis build lines hosts --format lines
tamis build keys <<<1
for name in guessed rules names nothing only-exceptions bits bytes lines keys; do shows "$name"; done
# The rule of a filter that is there stays, also where the list is of the other sort; the first list says which.
tamis build keys hosts && tamis build guessed <<<Ads9.example/x && tamis build -p 1% guessed hosts -q && shows keys && shows guessed
expect 2 tamis build keys hosts --key-rule name -q
seq 3 >numbers
tamis build first numbers hosts -q && tamis build second hosts numbers -q && shows first && shows second
tamis build third numbers --except names -q && shows third
# Filters of other systems' hash sets are for those.
tamis build foreign names --kind bloom --hash-set guava && shows foreign
# The list of the store and `tamis info` tell the rule.
tamis info guessed | grep key_rule
tamis info bytes | grep -c key_rule
tamis build guessed hosts --shard 1/2 -q && tamis build lower --shard 1/2 -q < <(tr a-z A-Z <names) && tamis check -c lower <names && tamis check -c guessed <names
