# SPDX-License-Identifier: BSD-2-Clause
# `tamis` alone shows the commands in five groups, each once.
expect 2 tamis >shown
cat shown
grep -cE '^[a-z].*[a-z]$' shown # the groups
cmp <(sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' shown) <(tamis help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p')
sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' shown | sort | uniq -d
