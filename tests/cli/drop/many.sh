# SPDX-License-Identifier: BSD-2-Clause
# More filters than are looked at one by one: each line has the items of its own filter.  Names come in any order, some twice.
# Seen to fail: with the items of the filter at the place before.
# Directory only: --names is not for a server
for i in {100..299}; do echo "m$i"; done >names
tamis create --names names -n 1000
seq 7 | tamis add m150
seq 9 | tamis add m299
tamis drop --dry-run 'm*' m150 | grep -c 'would drop m...: 0 items,'
tamis drop --dry-run 'm*' m150 | grep -v ' 0 items,'
# shellcheck disable=SC2046 # one name is one word
tamis drop $(sort -r names) m299 m100 | sed -n '1,2p;150p;$p'
tamis list -q | wc -l
nothing_left
