# SPDX-License-Identifier: BSD-2-Clause
# A pattern as in the shell; a name that begins with it as it is written fits too.
for name in crawl.eu crawl.us mail 'a[b' 'a*c' 'x?y' $'caf\xc3\xa9' 'a\b'; do tamis create -n 10 -- "$name"; done
for pattern in '*' 'crawl.*' '*.us' '*a*l*' 'c*[!su]' $'caf?' 'a[' 'a[bc' 'a*' 'a\*' $'a\\' 'x?' '?' '[mx]*' '*.??' 'nix*'; do
    echo "$pattern: $(tamis list -q "$pattern" | tr '\n' ' ')"
done
tamis list 'crawl.*'
expect 1 tamis list '*.de'
expect 1 tamis list --total '*.de'
