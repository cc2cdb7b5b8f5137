# SPDX-License-Identifier: BSD-2-Clause
refused tamis restore
refused tamis restore absent
mkdir nothing
refused tamis restore nothing
tamis create seen -n 1000 --seed 1
tamis backup copy
truncate -s 5000 copy/segments/0000000000000001.seg
expect 2 tamis restore copy seen --overwrite
expect 2 tamis restore copy --store new
ls -d new* 2>told
tamis verify
