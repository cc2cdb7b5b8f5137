# SPDX-License-Identifier: BSD-2-Clause
# On a terminal no line is wider than it is; what is asked for, or goes elsewhere, is whole.
[ -n "$(type -P script)" ] || skip "needs script"
long=crawl.of.a.site.with.a.name.that.is.long.2026-11-28
tamis create "$long" -n 10M -p 1e-5
tamis create seen -n 1234567 -p 1e-9
seq 100000 | tamis add "$long"
tamis create rather.usual -n 1234567 -p 1e-9 --kind counting
on_terminal() { # COLUMNS COMMAND
    script -qec "stty cols $1; $2" /dev/null | tr -d '\r'
}
for columns in 160 100 80 60 44; do
    on_terminal "$columns" 'tamis list --total --color=never' >shown
    cat shown
    [ "$(wc -L <shown)" -le "$columns" ] || echo "wider than $columns"
done
on_terminal 80 'tamis list seen --color=never'
on_terminal 40 'tamis list -o name,items,capacity,kind --color=never'
[ "$(tamis list | wc -L)" -gt 80 ] || echo "no terminal, and not whole"
