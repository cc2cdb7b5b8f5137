# SPDX-License-Identifier: BSD-2-Clause
# Characters of two columns, and of none, are aligned. (Each code point was taken for one column.)
tamis create plain -n 100
tamis create 漢字 -n 100
tamis create "$(printf 'e\314\201te\314\201')" -n 100
tamis create 🦀 -n 100
tamis list | cut -c 1-40
