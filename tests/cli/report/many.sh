# SPDX-License-Identifier: BSD-2-Clause
# A thousand filters, in a page that a browser takes at once.
for i in $(seq 1000); do echo "filter-$i"; done | xargs -I '{}' tamis create '{}' -n 100
tamis report --all -o page.html
grep -c '^<script type="application/json">' page.html
[ "$(stat -c %s page.html)" -lt 5000000 ] || stat -c %s page.html
