# SPDX-License-Identifier: BSD-2-Clause
# A full disk publishes nothing and leaves nothing behind.
small_disk 3m
seq 1000 | tamis build list
before=$(snapshot)
seq 3000000 | expect 2 tamis build list 2>told
sed 's/[0-9][0-9]* bytes/N bytes/g' told | grep -c 'nothing was published'
seq 3000000 | expect 2 tamis build list --memory 1MiB 2>told
grep -c 'nothing was published' told
[ "$before" = "$(snapshot)" ] || snapshot
seq 1000 | tamis check -c list
tamis verify
