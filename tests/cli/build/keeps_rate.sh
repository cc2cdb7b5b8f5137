# SPDX-License-Identifier: BSD-2-Clause
# A build without options keeps what was asked for before: the rate (it went from 0.1 % to 1 %), the kind, the hash set, the
# seed, the policy; options change it. Of a filter that was not built, only the rate is taken.
! tamis explain --hash-set sip -m 8 -k 1 key 2>&1 | grep -q libsodium || skip "needs libsodium"
shape() {
    tamis list "$1" --json | grep -o '"\(kind\|hash_set\|fp_rate\|fingerprint_bits\|on_full\|seed\)":[^,]*' | tr '\n' ' '
    echo
}
seq 1000 >keys
for options in "-p 0.1%" "-p 1e-4 --kind bloom --seed 5" "--kind blocked --hash-set sip -p 2%"; do
    tamis build list keys $options
    shape list
    seq 2000 | tamis build list
    shape list
    expect 0 tamis build list keys -p 5%
    shape list
    tamis drop list
done
tamis create made -n 1000 -p 1e-5
expect 2 tamis build made keys
tamis build made keys --kind blocked
shape made
seq 500 | tamis build made --if-changed
shape made
