# SPDX-License-Identifier: BSD-2-Clause
# The same keys, in whatever order and however often, are not published again; other parameters are.
seq 1000 >keys
tac keys >backwards
again() { tamis build list "$@" --if-changed --json | grep -o '"published":[a-z]*,"generation":[0-9]*'; }
again keys
again keys
again backwards keys
again keys -p 1e-6
again keys -p 1e-6
again keys --kind blocked -p 1e-6
again keys --kind fuse
again keys --seed 1
again keys --seed 1 --except <(echo 7)
again keys --seed 1
tamis build list keys --seed 1 --if-changed        # says so
tamis build list keys --seed 1 --if-changed --quiet # says nothing, for cron
echo more >>keys
again keys --seed 1
tamis generations list | wc -l
