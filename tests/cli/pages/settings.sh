# SPDX-License-Identifier: BSD-2-Clause
# The setting is made by create, changed by pages, and told by info, list and pages, for a person and as JSON.
# Directory only: a server's filters are mapped by the server
for sort in auto small huge; do
    tamis create "$sort" -n 1000 --pages "$sort"
    tamis info "$sort" pages
done
tamis create unsaid -n 1000
tamis create like --like huge
tamis list --json | grep -o '"name":"[a-z]*"\|"pages":"[a-z]*"'
tamis pages small
tamis pages --json huge
tamis pages unsaid huge
tamis info unsaid pages
tamis pages unsaid small --json
tamis pages unsaid auto && tamis info --json unsaid pages
tamis pages unsaid auto # as it was
# What can have huge pages tells what it has of them.
tamis create large -n 4M
tamis info large pages
tamis pages large | sed -E 's/[0-9.]+ [KM]?i?B|[0-9]{2,}/SIZE/g' | grep -v wanted
tamis info --json large | grep -o '"huge_[a-z]*"'
tamis info --json small | grep -o '"huge_[a-z]*"'
seq 1000 | tamis add large
for sort in huge small huge auto; do
    tamis pages large "$sort"
    seq 1000 | tamis check large | wc -l
done
