# SPDX-License-Identifier: BSD-2-Clause
# An empty list is refused, unless it is meant.
# Seen to fail without the test of the number of keys.
seq 10 >keys
: >empty
printf '# nothing\n\n' >comments
tamis build list keys
refused tamis build list empty
refused tamis build list empty comments --comments --skip-blank
refused tamis build list </dev/null
refused tamis build list empty --except keys
expect 0 tamis build list empty keys
expect 0 tamis build list keys --except empty --against empty
expect 0 tamis build list empty --allow-empty
tamis info list items
expect 1 tamis check list 1 2 3
tamis generations list | cut -c -35
expect 0 tamis build list empty --allow-empty --if-changed
tamis verify
