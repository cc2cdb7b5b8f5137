# SPDX-License-Identifier: BSD-2-Clause
# The JSON of the page is what info and generations print; one element a filter; nothing is fetched.
tamis create seen -n 1k
seq 3000 | tamis add seen
tamis create listed -n 1k --kind counting
seq 500 | tamis add listed
tamis report --all -o page.html
json() { sed -n 's|^<script type="application/json">{"info":\(.*\),"generations":.*}</script>$|\1|p' "$1"; }
tamis info listed --json >expected
tamis info seen --json >>expected
json page.html | cmp - expected && echo same figures
tamis report listed seen -o page.html
json page.html | cmp - expected && echo same figures
tamis report seen -o - | json - | cmp - <(tamis info seen --json) && echo same figures
grep -c '^<script type="application/json">' page.html
grep -o '<bdi>[^<]*</bdi></th>.*' page.html
# Without what the script draws from, and its text.
sed -e '/^<script>$/,/^<\/script>/d' -e '/application\/json/d' page.html >plain.html
grep -oE '<(head|main|section|table|style|p|tr|td)[ >]' plain.html | tr -d ' >' | sort | uniq -c >opened
grep -oE '</(head|main|section|table|style|p|tr|td)>' plain.html | tr -d '/>' | sort | uniq -c >closed
diff opened closed
grep -oE '(src|href|url|@import)[=(]["'\'']?[^#"$]+' page.html | sort -u
grep -oE 'https?://[^" ]*' page.html
ls
