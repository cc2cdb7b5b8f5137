# SPDX-License-Identifier: BSD-2-Clause
for name in crawl.a crawl.b black; do tamis create "$name" -n 1000; done
tamis list -q crawl.
tamis list -q
expect 1 tamis list nothing
expect 1 tamis list -q nothing
expect 1 tamis list --json nothing
