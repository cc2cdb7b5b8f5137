# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 100
tamis add seen a b
chmod -R a-w "$TAMIS_STORE"
mkdir -m 777 out
chmod 755 "$SCRATCH"
denied tamis report --all -o out/page.html
grep -o '"state":"ok","items":[0-9]*' out/page.html
