# SPDX-License-Identifier: BSD-2-Clause
# Progress goes by what is read of all files, then by what is done with the keys.
seq 4000000 >keys
{ sleep 0.5; echo b; } | tamis build list - keys --progress 2>told
grep -qE '^[0-9,]+ keys?, [0-9,]+ keys/s, [0-9]+ %, .* left$' told && echo "reading is told"
grep -vE '^[0-9,]+ keys?, [0-9,]+ keys/s, [0-9]+ %, .* left$' told |
    grep -vE '^(sorting|making|verifying): [0-9,]+ keys?, [0-9,]+ keys/s(, [0-9]+ %, .* left)?$'
{ sleep 0.3; echo b; } | tamis build list - keys --no-progress
{ sleep 0.3; echo b; } | tamis build list - keys
