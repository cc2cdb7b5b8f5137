# SPDX-License-Identifier: BSD-2-Clause
# What is wrong comes first, as doctor says it; names in the order in which people count; small rates as -p takes them.
for i in 10 2 1 02; do tamis create "seen-$i" -n 100 -p 1e-6; done
tamis create full -n 10 --on-full refuse
seq 10 | tamis add full
tamis report --all -o page.html
sed -n '/id="attention"/,/<\/section>/p' page.html | sed 's/<[^>]*>/ /g' | tr -s ' ' | sed 's/ $//'
tamis doctor
grep -o 'href="#f[0-9]*"><bdi>[^<]*' page.html | sed 's/.*>//'
grep -o "data-field=\"fp_rate\" value=[^<]*" page.html | sort | uniq -c
tamis drop full
tamis report --all -o page.html
grep -c 'id="attention"' page.html
grep -o 'Nothing needs attention' page.html
