# SPDX-License-Identifier: BSD-2-Clause
refused tamis uniq missing
refused tamis uniq - -
refused tamis uniq -p 2
refused tamis uniq -n 0
refused tamis uniq --new
mkdir directory
refused tamis uniq directory
echo x | expect 2 tamis uniq >/dev/full
# More than the memory of any machine: it says where to go on. (It advised fewer keys, or a greater rate.)
echo x | expect 2 tamis uniq -n 1T 2>&1 | grep -o 'for so many lines .*'
