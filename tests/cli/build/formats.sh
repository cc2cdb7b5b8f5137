# SPDX-License-Identifier: BSD-2-Clause
# A list as users have it, with no option but the name: what it is read as is told, and its names answer.
# Seen to fail: each line was one key, "0.0.0.0 ads1.example", and nothing was said.
many() { seq -f "$1" 200; }
asks() { tamis check list ads7.example; }
many '0.0.0.0 ads%.0f.example' | tamis build list && asks
{ echo '127.0.0.1 localhost' && many '0.0.0.0 ads%.0f.example' | sed 's/ads\(.*\)/& more\1 # why/' && echo nonsense; } | tr -s ' ' '\t' >hosts
tamis build list hosts && asks && tamis check -q list more8.example
{ printf '[Adblock Plus 2.0]\n! Title: x\n@@||good.example^\nexample.org##.ad\n||partly.example^$script\n' && many '||ads%.0f.example^$third-party'; } >rules
tamis build list rules && asks
tamis except list list
expect 1 tamis check list partly.example good.example
many 'ads%.0f.example # why' | tamis build list && asks
many ' *.ads%.0f.example ' | sed 's/$/\r/' | tamis build list && asks
{ printf '\357\273\277' && many 'ads%.0f.example'; } | tamis build list && asks # as it stands, so nothing is told
printf 'b\303\274cher.example\n' | tamis build list
# Two files of different sorts; what is excepted may be one of them.
tamis build list hosts rules --except rules --except hosts
# What nobody can tell is refused, with the options that read it.
tamis build -q list <<<old.example
many 'C0FFEE%.0f:12' | refused tamis build list
many '  "ads%.0f.example",' | refused tamis build list
many '{"host":"ads%.0f.example"}' | refused tamis build list
many '{"host":"ads%.0f.example"}' | tamis build list --format jsonl --field host && asks
printf 'C0FFEE01:12\n00ff:1\n' | tamis build list --format csv --separator : --hex && tamis check --hex list c0ffee01
# What is most likely meant as lines.
many '%.0f,ads.example' | tamis build list
many '%.0f\tads.example' | sed 's/\\t/\t/' | tamis build list
many '0.0.0.0 ads%.0f.example' | tamis build list --format lines && tamis check list '0.0.0.0 ads7.example'
seq 100 | tamis build list
many 'https://ads%.0f.example/' | tamis build list
