# SPDX-License-Identifier: BSD-2-Clause
# A store without filters has a page too.
tamis create seen -n 100
tamis drop -q seen
tamis report --all -o page.html
grep -c '^<script type="application/json">\|^<tr><th scope="row"' page.html
tail -n 1 page.html
