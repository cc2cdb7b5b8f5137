# SPDX-License-Identifier: BSD-2-Clause
# Numbers go down, names up, the worst state comes first; what is equal goes by name.
tamis create b -n 1000 --on-full warn
tamis create a -n 1000 --kind counting
tamis create c -n 100k
seq 990 | tamis add b
seq 2000 | tamis add c
by() {
    echo "$*: $(tamis list -q --sort "$@" | tr '\n' ' ')"
}
for key in name kind capacity items used rate-now bits size state; do by "$key"; done
tamis add b x{1..200} 2>warned
by state
by items --reverse
echo "reverse: $(tamis list -q --reverse | tr '\n' ' ')"
tamis list --sort items | cut -d ' ' -f 1
tamis list --sort items --json | grep -oE '"name":"[^"]*"|"kind":"[^"]*"' | paste -sd ",\n"
refused tamis list --sort greatest
refused tamis list --sort
