# SPDX-License-Identifier: BSD-2-Clause
# Words of other programs run nothing, and are answered.  "tamis rm" destroyed the filter.
tamis create rm -n 1000
for word in rm delete exists contains query insert stats show ADD Add BF.ADD bf.madd BF.EXISTS CF.DEL BF.RESERVE union fsck LS help.; do
    echo key | refused tamis "$word" rm key
done
refused tamis help rm
refused tamis rm --help
