# SPDX-License-Identifier: BSD-2-Clause
# Builds of hash set sip go on with the filter's key.
! tamis explain --hash-set sip -m 8 -k 1 key 2>&1 | grep -q libsodium || skip "needs libsodium"
seq 1000 >list
seq 900 2000 >good
tamis build f list --hash-set sip --against good
tamis check -c f <list
first=$(tamis explain f key | cut -f2 | cut -d, -f1)
tamis build f list --hash-set sip --against good --if-changed --stats 2>&1 | grep -i -m1 'unchanged\|in force'
seq 3000 >list
tamis build f list --hash-set sip
[ "$(tamis explain f key | cut -f2 | cut -d, -f1)" = "$first" ] && echo the same key
tamis build f list
tamis build f list --hash-set sip --kind bloom
[ "$(tamis explain f key | cut -f2 | cut -d, -f1)" != "$first" ] && echo another key
tamis check -c f <list
refused tamis build f list --hash-set sip --seed 1
tamis verify f
