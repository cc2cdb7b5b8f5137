# SPDX-License-Identifier: BSD-2-Clause
# Several filters in one question: all of them, one of them, and which.
for name in blk-ads blk-malware other; do tamis create "$name" -n 100 -p 1e-9; done
tamis add blk-ads a.example b.example
tamis add blk-malware b.example c.example
tamis add other d.example
keys='a.example b.example c.example d.example e.example'
ask() {
    echo "- $*"
    tr ' ' '\n' <<<"$keys" | tamis check "$@"
}
ask --in blk-ads --in blk-malware
ask --in blk-ads --in blk-malware --any
ask --in blk-ads --in blk-malware --any -v
ask --in blk-ads --in blk-malware -v
ask --in blk-ads --in blk-malware --any -c
ask --in blk-ads --in other --which
ask 'blk-*' --any
ask 'blk-*'
ask '*' --which
ask '*' --any --answer yes,no
tamis check --in blk-ads --in other --any d.example e.example
tamis check --any 'blk-[am]*' c.example
printf '0.0.0.0 x.example c.example\n0.0.0.0 y.example\n' | tamis check --in blk-ads --in blk-malware --which --format hosts
tamis check --json --in blk-ads --in other --any a.example e.example
expect 0 tamis check -q --any '*' d.example
expect 1 tamis check -q --any '*' nothing.example
# A name that looks like a pattern is a name first.
tamis create 'x*' -n 100
tamis create xy -n 100
tamis add xy k
expect 1 tamis check 'x*' k
expect 2 tamis check 'none-*' k
expect 2 tamis check --in none k
expect 2 tamis check --any blk-ads a.example
expect 2 tamis check --which -c 'blk-*' a.example
expect 2 tamis check
expect 2 tamis check 'blk-*' --answer yes,no,unknown k
