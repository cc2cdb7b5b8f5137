# SPDX-License-Identifier: BSD-2-Clause
# What is wrong, as doctor says it; names in the order in which people count.
for i in 10 2 1 02; do tamis create "seen-$i" -n 100 -p 1e-6; done
tamis create full -n 10 --on-full refuse
seq 10 | tamis add full
tamis report --all -o page.html
sed -n 's|.*,"findings":\[\({.*}\)\],"published".*|\1|p' page.html >findings
tamis doctor --json | cmp - findings && echo same findings
grep -c '"findings":\[\]' page.html
grep -o '"info":{"name":"[^"]*' page.html
grep -o '<bdi>[^<]*</bdi></th>.*' page.html
