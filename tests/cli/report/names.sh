# SPDX-License-Identifier: BSD-2-Clause
# Whatever a name holds, it is text in the page; each filter has one line of data, that ends with its element.
name='</script><script>alert(1)</script>"onload='\''x'\''& <b>$(id)<!--<script>'
tamis create "$name" -n 100
tamis add "$name" a b
tamis create 'größe 漢字 ‮gnp' -n 100
tamis create $'two\xe2\x80\xa8lines' -n 100
tamis report --all -o page.html
grep -c '<script>alert\|<b>$(id)\|[^\]"onload\|<!--' page.html
grep -o '<bdi>[^<]*</bdi></th>' page.html
sed -n 's|^<script type="application/json">{"info":{"name":\("[^"]*\(\\"[^"]*\)*"\),.*}</script>$|\1|p' page.html
