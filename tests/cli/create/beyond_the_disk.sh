# SPDX-License-Identifier: BSD-2-Clause
# With both numbers; nothing is made, no store either.
# Directory only: of that size a server makes a filter in shards, and the sentence is about one of them
refused tamis create seen -n 1T 2>told
no_sizes told
rm told
tamis create small -n 1000
refused tamis create seen -n 1T 2>told
no_sizes told
