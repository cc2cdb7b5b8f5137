# SPDX-License-Identifier: BSD-2-Clause
# Directory only: reads the headers of files
# One look, as list has it; nothing is added meanwhile.
tamis create seen -n 10k
tamis create full -n 500 -p 1e-4 --kind bloom --on-full warn
tamis create slow -n 2M --kind counting
seq 5000 | tamis add seen
seq 600 | tamis add full 2>warned
once() {
    tamis top --once --interval 50ms "$@" | no_times
}
once
once --sort items --human s
once --sort state -q 2>told || cat told
once --sort full-in '*l*'
once --color --sort used --reverse full | cat -v
expect 1 tamis top --once --interval 50ms nix >none
sed 1q none | no_times
cmp <(once --json | grep -o '"items":[0-9]*') <(tamis list --json | grep -o '"items":[0-9]*') && echo "items are those of list"
