# SPDX-License-Identifier: BSD-2-Clause
# Filters of Spark and of Parquet files: made here, written, taken over by another store, and refused.
tamis create v1 -n 100 -p 0.03 --hash-set spark-v1
tamis create v2 -n 100 -p 0.03 --hash-set spark-v2
tamis create seeded -n 100 -p 0.03 --hash-set spark-v2 --seed 4294967295
tamis create split -n 100 -p 0.03 --hash-set parquet
for name in v1 v2 seeded split; do
    format=spark && [ "$name" != split ] || format=parquet
    seq 50 | tamis add "$name"
    tamis export "$name" --to "$format" "$name.bin" --with-key
    head -c 20 "$name.bin" | od -A n -t x1 -w20
    tamis --store other import "$name" --from "$format" - <"$name.bin"
    seq 50 | tamis --store other check -c "$name"
    cmp <(tamis --store other export "$name" --to "$format" - --with-key) "$name.bin"
done
tamis --store other list
tamis --store other info split note
refused tamis export seeded --to spark again
refused tamis export v1 --to parquet again
refused tamis export split --to spark again
refused tamis import x --from spark split.bin
refused tamis import x --from parquet v1.bin
printf 'PAR1\25\100' | refused tamis import x --from parquet -
head -c 100 v1.bin | refused tamis import x --from spark -
refused tamis create x --hash-set spark-v2 -n 100 --seed 4294967296
refused tamis create x --hash-set spark-v1 -n 100 --seed 1
refused tamis create x --hash-set parquet -m 1000
refused tamis create x --hash-set parquet -m 1024 -k 7
tamis explain --hash-set parquet -m 1024 joker
tamis explain --hash-set spark-v1 -m 1024 -k 3 joker
tamis explain --hash-set spark-v2 -m 1024 -k 3 --seed 7 joker
