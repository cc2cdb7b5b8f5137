# SPDX-License-Identifier: BSD-2-Clause
# --shard I/N takes the keys of that shard only: all shards together hold each key once, and what the rule of
# docs/cluster.md gives to another shard is not in.  Seen to fail: with a shard that is one less, and with
# --except and --against read whole.
seq -f 'https://host%.0f.example/' 3000 >keys
for i in 0 1 2; do
    tamis build "part-$i" keys --shard "$i/3" -p 0.001%
    tamis check "part-$i" <keys >"in-$i"
done
sort in-0 in-1 in-2 | cmp - <(sort keys)
wc -l <in-0
# Made by the rule with another program: python3-xxhash (tests/redis/make_shards.py).
grep -xF 'https://host1.example/' in-?
grep -xF 'https://host2.example/' in-?
grep -xF 'https://host3.example/' in-?
# One shard of one is all; NUL and several files are cut likewise.
tamis build whole keys --shard 0/1 --json | grep -o '"keys":[0-9]*'
tr '\n' '\0' <keys | tamis build part-0 -z --shard 0/3 -p 0.001% --if-changed
head -n 1000 keys >keys.1
tail -n +1001 keys >keys.2
tamis build part-1 keys.1 keys.2 --shard 1/3 -p 0.001% --if-changed --quiet
# Exceptions are those of the shard.
tamis build part-2 keys --shard 2/3 --except keys --json -p 0.001% | grep -o '"exceptions":[0-9]*'
wc -l <in-2
# Long keys: with seed 0 the shard and the fingerprint's place come from one hash, and the build failed.
seq -f "$(printf 'x%.0s' {1..250})%.0f" 20000 >long
tamis build long long --shard 3/16 -p 0.001%
tamis check -c long <long
tamis info long seed
tamis build chosen keys --shard 1/3 --seed 7
tamis info chosen seed
# A shard may be empty where the list is not.
echo https://host1.example/ | tamis build small --shard 0/3
echo https://host1.example/ | tamis build small --shard 1/3
echo https://host1.example/ | tamis build small --shard 2/3
refused tamis build x keys --shard 3/3
refused tamis build x keys --shard 0/0
refused tamis build x keys --shard 1
refused tamis build x keys --shard 1/
refused tamis build x keys --shard /3
refused tamis build x keys --shard ' 1/3'
refused tamis build x keys --shard 1/3x
refused tamis build x keys --shard 0/65537
refused tamis add whole a --shard 0/3
