# SPDX-License-Identifier: BSD-2-Clause
# Nothing printed is status 1, also for empty input; no key needs no input.
tamis create seen -n 1000
tamis add seen a
expect 1 tamis check seen b
printf '' | expect 1 tamis check seen
expect 1 tamis check -v seen a
expect 0 tamis check -v seen b
expect 1 tamis check seen b
