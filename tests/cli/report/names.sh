# SPDX-License-Identifier: BSD-2-Clause
# Whatever a name holds, it is text in the page.
name='</script><script>alert(1)</script>"onload='\''x'\''& <b>$(id)'
tamis create "$name" -n 100
tamis add "$name" a b
tamis create 'größe 漢字 ‮gnp' -n 100
tamis report --all -o page.html
grep -c 'alert(1)' page.html
grep -c '<script>alert\|<b>$(id)\|[^\]"onload' page.html
grep -o '<bdi>[^<]*</bdi></h2>' page.html
sed -n 's|.*<script type="application/json">{"info":{"name":\("[^"]*\(\\"[^"]*\)*"\).*|\1|p' page.html
