# SPDX-License-Identifier: BSD-2-Clause
# Columns, conditions, orders and CSV go by one table: the fields of info, and short names for people.
tamis create b -n 1000 --on-full warn
tamis create a,x -n 1000 --kind counting
tamis create 'c"d' -n 100k -p 1e-4
seq 990 | tamis add b
seq 2000 | tamis add 'c"d'
tamis add b x{1..200} 2>warned
tamis list -o name,items,used,rate,size_bytes,durable,on_full,window_from,unclean_since
tamis list -o items,name --total
tamis list -o name,bits --total b
tamis list --csv | sed -E 's/[0-9.e-]+,([0-9]+,[a-z]+)$/NOW,\1/'
tamis list --csv -o name,state,unclean_since,k
tamis list --json -o name,items,used b
where() {
    local condition options=()
    for condition; do options+=(--where "$condition"); done
    echo "$*: $(tamis list -q "${options[@]}" | tr '\n' ' ')"
}
where 'items>1k'
where 'items>=1000' 'items<2000'
where 'items=0'
where 'items == 2_000'
where 'used>=100%'
where 'used >= 1'
where 'rate<1%'
where 'fp_rate=1e-4'
where 'size<=8KiB'
where 'kind~b*'
where 'kind=counting'
where 'state!=ok'
where 'name>b'
where 'name~a,?'
where 'durable=false' 'on_full=grow'
where 'created_at>2026' 'created_at<3026'
where 'unclean_since>2000'
where 'unclean_since!=2000'
expect 1 tamis list --where 'items>1G'
expect 1 tamis list --csv --where 'items>1G'
by() {
    echo "$*: $(tamis list -q --sort "$@" | tr '\n' ' ')"
}
by rate
by fp_rate
by on_full
by k --reverse
refused tamis list -o name,
refused tamis list -o fill
refused tamis list -o segments
refused tamis list --where items
refused tamis list --where '>1'
refused tamis list --where 'greatness>1'
refused tamis list --where 'items>many'
refused tamis list --where 'items~1*'
refused tamis list --csv --json
refused tamis list --csv --total
refused tamis list -q -o name
