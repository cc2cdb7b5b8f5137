# SPDX-License-Identifier: BSD-2-Clause
# --like takes the policy too, and the size that a filter was made for, not the one it has grown to.
show() {
    for field in kind hash_set m_bits k seed capacity fp_rate on_full window_seconds window_items slices; do
        tamis info "$1" "$field"
    done | paste -sd ' '
}
like() { # OPTION... of create
    tamis create one "$@" 2>/dev/null && tamis create two --like one 2>/dev/null
    show two
    [ "$(show one)" = "$(show two)" ] || echo "differ: $*"
    seq 1 3000 | tamis add one 2>/dev/null
    tamis create three --like one 2>/dev/null
    [ "$(show two)" = "$(show three)" ] || echo "differs after it has grown: $*"
    tamis drop -q one two three
}
like -n 1000
like -n 1000 -p 1e-4 --kind bloom --seed 3
like -n 1000 --on-full refuse
like -n 1000 --on-full warn --kind bloom
like -m 50k -k 3
like -m 50k -k 3 -n 5k --on-full refuse
like --hash-set php:js,elf -m 64Ki
like -n 1000 --hash-set guava
like -n 1000 --window 30d --slices 5
like --window 10k --slices 4
