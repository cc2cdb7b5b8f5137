# SPDX-License-Identifier: BSD-2-Clause
# A filter that cannot be read is named in the page, the others are there; the status is 2.
tamis create broken -n 100
tamis create sound -n 100
poke "$TAMIS_STORE/segments/0000000000000001.seg" 100 xx
expect 2 tamis report --all -o page.html
grep -o '<script type="application/json">{"name".*' page.html
grep -o '"info":{"name":"[^"]*' page.html
grep -o '<bdi>[^<]*</bdi></th>.*' page.html
expect 2 tamis report broken -o alone.html
grep -c '"info":' alone.html
ls
