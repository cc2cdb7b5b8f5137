# SPDX-License-Identifier: BSD-2-Clause
# Any kind but counting; to what is not static keys can be added, until the next build.
seq 1000 >keys
for kind in fuse blocked bloom; do
    tamis build "of-$kind" keys --kind "$kind" -p 0.1%
    tamis info "of-$kind" kind
    tamis check -c "of-$kind" <keys
done
tamis build roomy keys --kind blocked -n 10k
tamis info roomy capacity
tamis add --new roomy fresh
refused tamis add of-fuse fresh
tamis build roomy keys --kind blocked
expect 1 tamis check roomy fresh
# A filter that keys were added to one by one becomes static, and the other way round.
tamis create seen -n 1000
tamis add seen a b c
refused tamis build seen keys
tamis build seen keys --kind fuse
tamis info seen kind
tamis rollback seen
tamis check seen a b c 17
tamis verify
