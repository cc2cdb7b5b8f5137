# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Progress goes by what is read of the files, as they are packed, then by what is done with the keys.
seq 2000000 >keys
tamis build list keys --progress 2>told
grep -cE '^[0-9]+ keys, [0-9]+ keys/s, [0-9]+ %, .* left$' told | sed 's/^[1-9][0-9]*$/some/'
grep -vE '^((sorting|making|verifying): )?[0-9]+ keys, [0-9]+ keys/s(, [0-9]+ %, .* left)?$' told
tamis build list keys --no-progress
tamis build list keys
