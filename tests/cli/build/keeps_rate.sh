# SPDX-License-Identifier: BSD-2-Clause
# A build without options keeps what was asked for before: the rate (it went from 0.1 % to 1 %), the kind, the hash set, the
# seed, the policy; options change it. Another --kind went back from sip to xxh3, to seed 0 and from refuse to grow. Of a
# filter that was not built, the kind must be given.
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
    tamis drop -q list
done
tamis create made -n 1000 -p 1e-5
expect 2 tamis build made keys
tamis build made keys --kind blocked
shape made
seq 500 | tamis build made --if-changed
shape made
for options in "--seed 7" "--hash-set sip"; do
    tamis build other keys -p 0.1% $options
    tamis build other keys --kind bloom
    shape other
    tamis build other keys --kind fuse
    shape other
    tamis drop -q other
    tamis create other -n 3000 --on-full refuse $options
    tamis build other keys --kind blocked
    shape other
    tamis build other keys --kind bloom
    shape other
    tamis info other capacity # as asked for: with room for 1000 keys alone it would refuse all others
    tamis drop -q other
done
tamis create foreign -n 1000 --hash-set redisbloom # no other kind has this set
tamis build foreign keys --kind blocked
shape foreign
