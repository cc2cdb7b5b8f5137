# SPDX-License-Identifier: BSD-2-Clause
# A thousand filters: folded up, in a page that a browser takes at once.
for i in $(seq 1000); do echo "filter-$i"; done | xargs -I '{}' tamis create '{}' -n 100
tamis report --all -o page.html
grep -c '^<details class="panel filter"' page.html
grep -c '^<details class="panel filter"[^>]* open' page.html
[ "$(stat -c %s page.html)" -lt 20000000 ] || stat -c %s page.html
