# SPDX-License-Identifier: BSD-2-Clause
# The JSON of the page is what info prints; one section a filter; nothing is fetched.
tamis create seen -n 1k
seq 3000 | tamis add seen
tamis create listed -n 1k --kind counting
seq 500 | tamis add listed
tamis report --all -o page.html
json() { sed -n 's|.*<script type="application/json">{"info":\(.*\),"generations":.*|\1|p' "$1"; }
tamis info listed --json >expected
tamis info seen --json >>expected
json page.html | cmp - expected && echo same figures
tamis report listed seen -o page.html
json page.html | cmp - expected && echo same figures
tamis report seen -o - | json - | cmp - <(tamis info seen --json) && echo same figures
grep -c '^<details class="panel filter" id="f[01]" open>' page.html
grep -oE '<(html|head|body|main|table|svg|script|style|details|figure)[ >]' page.html | tr -d ' >' | sort | uniq -c >opened
grep -oE '</(html|head|body|main|table|svg|script|style|details|figure)>' page.html | tr -d '/>' | sort | uniq -c >closed
diff opened closed && echo all closed
grep -oE '(src|href|url|@import)[=(]["'\'']?[^#"]+' page.html | sort -u
grep -oE 'https?://[^" ]*' page.html
ls
