# SPDX-License-Identifier: BSD-2-Clause
# -q prints nothing and ends at the first match, however long the input.
tamis create seen -n 1000
tamis add seen y
expect 0 tamis check -q seen y
expect 1 tamis check -q seen n
expect 1 tamis check -qv seen y
yes | timeout 60 tamis check -q seen
echo "exit $?"
