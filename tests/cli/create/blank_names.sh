# SPDX-License-Identifier: BSD-2-Clause
# Nobody sees a blank before or behind a name: no new filter gets one, by whichever command.
# Directory only: looks at the directory
for name in ' a' 'a ' $'\xc2\xa0a' $'a\xe3\x80\x80' $'\xef\xbb\xbfa' ' '; do
    refused tamis create "$name" -n 1000
done
tamis create 'two words' -n 1000
tamis create b -n 1000
refused tamis create 'a ' -n 1000 --if-missing
printf 'c\nd \n' > names
refused tamis create --names names -n 1000
refused tamis rename b 'b '
echo key > keys
refused tamis build 'f ' keys
tamis export b b.tamis --to tamis
refused tamis import ' g' b.tamis --from tamis
refused tamis merge 'm ' b
tamis list -q
