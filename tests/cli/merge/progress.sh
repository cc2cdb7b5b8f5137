# SPDX-License-Identifier: BSD-2-Clause
# Progress where it is asked for; none else.
# Directory only: the server merges in one step, which has no progress
tamis create a -n 2M && tamis create b --like a
tamis merge a b --progress 2>&1 | sed 's/[0-9.]* [KMG]*i*B\/s/RATE/'
tamis merge a b --no-progress
tamis merge a b
