# SPDX-License-Identifier: BSD-2-Clause
# What is not whole or not sound is refused with the place and the reason, and nothing is left.
tamis create seen -n 100
tamis add seen a b c
tamis export seen --to tamis whole
tamis drop -q seen
for bytes in 0 7 63 200 270 295 $(($(stat -c %s whole) - 1)); do
    head -c "$bytes" whole >part
    refused tamis import x --from tamis part
    refused tamis import x --from tamis - <part
done
cp whole damaged
poke damaged 300 '\x55'
refused tamis import x --from tamis damaged
cp whole newer
poke newer 8 '\x07'
refused tamis import x --from tamis newer
{ cat whole; echo; } >longer
refused tamis import x --from tamis longer
refused tamis import x --from redisbloom whole
refused tamis import x --from guava whole
printf '\1\5\0\0\1\0' | refused tamis import x --from guava -
printf '\0\5\0\0\0\1AAAAAAAA' | refused tamis import x --from guava -
nothing_left
tamis import x --from tamis whole
tamis check x a b c
