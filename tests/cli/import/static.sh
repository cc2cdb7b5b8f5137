# SPDX-License-Identifier: BSD-2-Clause
# A filter of kind fuse goes to another store with its exceptions, and comes back byte for byte.  It
# was refused before.
# Directory only: builds, which is done where the files are; tests/redis/remote_commands.py imports such a stream
seq 1000 | tamis build nightly -p 1e-4
printf '5\n7\n' | tamis except nightly add
tamis export nightly --to tamis nightly.tamis
tamis --store other import nightly --from tamis nightly.tamis
seq 4 8 | tamis --store other check nightly
tamis --store other except nightly list
tamis --store other verify
cmp <(tamis --store other export nightly --to tamis -) nightly.tamis
seq 1000 | tamis --store other build nightly -p 1e-4 --if-changed
tamis create seen -n 100
tamis add seen a b c
tamis except seen add b
tamis export seen --to tamis - | tamis --store other import seen --from tamis -
tamis --store other check seen a b c
expect 2 tamis import sealed --from tamis nightly.tamis --seal -n 1000
