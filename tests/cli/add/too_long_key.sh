# SPDX-License-Identifier: BSD-2-Clause
# 64 MiB is the longest key; the one beyond it is named, and those before it are done.
tamis create seen -n 1000
{ echo before; head -c 67108864 /dev/zero | tr '\0' x; echo; } | tamis add --new seen | wc -lc
{ echo first; head -c 67108865 /dev/zero | tr '\0' y; echo; } | expect 2 tamis add --new seen
head -c 67108865 /dev/zero | tr '\0' z | expect 2 tamis add seen
tamis info seen items
