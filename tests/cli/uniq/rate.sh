# SPDX-License-Identifier: BSD-2-Clause
# No line twice, and as few lost as was asked for, while the filter grows from 1,000 lines to 3 million.
# With --rate taken from nowhere (1e-2 in place of 1e-3 in uniq.c) the second line said "too many".
seq 1 3000000 >lines
tamis uniq -n 1000 -p 0.001 lines >printed
lost=$((3000000 - $(wc -l <printed)))
# 3,000 are expected at the most; their deviation is 55.
((lost <= 3300)) && echo "few are lost" || echo "too many are lost: $lost"
sort -n printed | uniq -d | wc -l
lost=$((3000000 - $(tamis uniq lines | wc -l)))
((lost <= 20)) && echo "hardly one is lost" || echo "too many are lost: $lost"
