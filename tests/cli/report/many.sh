# SPDX-License-Identifier: BSD-2-Clause
# A page has at most the 1,000 filters that matter: those in trouble, then the largest; the others are summed up.
# Seen to fail before: 100,000 filters made a page of 407 MB in 3:47 minutes.
# Directory only: filters by the thousand
seq -f 'filter-%.0f' 2000 | tamis create --names - -n 100
tamis create zz-over -n 100 --on-full warn
tamis create zz-large -n 100k
seq 300 | tamis add zz-over 2>told
seq 5000 | tamis add zz-large
for i in 1 2 3 1999; do seq 50 | tamis add "filter-$i"; done
tamis report --all -o page.html
grep -c '^<script type="application/json">' page.html
[ "$(stat -c %s page.html)" -lt 5000000 ] || stat -c %s page.html
for name in zz-over zz-large filter-1 filter-1999; do grep -q "\"name\":\"$name\"" page.html || echo "$name is not there"; done
grep -o '<p class="note" id="rest".*</p>' page.html
# The sums are those of the store.
sum() { # PATTERN before the number, DATA of the page
    echo $(($(grep -oE "$1[0-9]*" page.html | grep -oE '[0-9]+$' | paste -sd +) +
        $(grep -o "data-$2=\"[0-9]*" page.html | grep -oE '[0-9]+$')))
}
tamis list --json --total | tail -n 1 | grep -o '"items":[0-9]*,\|"size_bytes":[0-9]*'
echo "$(sum '"state":"[a-z, ]*","items":' items) $(sum '"bits_per_key":[0-9.]*,"size_bytes":' size)"
