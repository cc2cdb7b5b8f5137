# SPDX-License-Identifier: BSD-2-Clause
# `tamis add urls big.txt` adds the key "big.txt", which is seldom meant: a hint says so, and how to read the
# file.  Not for several keys, for a directory, after --, and with -q.
tamis create urls -n 1000
echo a >big.txt
mkdir directory
tamis add --new urls big.txt
expect 1 tamis check urls big.txt.old
tamis check urls big.txt
echo several, a directory, after --, -q: >&2
tamis add urls big.txt other
tamis add urls directory
tamis add urls -- big.txt
tamis check -q urls big.txt
echo a dash: >&2
tamis add urls -
