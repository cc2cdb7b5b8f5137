# SPDX-License-Identifier: BSD-2-Clause
refused tamis uniq missing
refused tamis uniq - -
refused tamis uniq -p 2
refused tamis uniq -n 0
refused tamis uniq --new
mkdir directory
refused tamis uniq directory
echo x | expect 2 tamis uniq >/dev/full
