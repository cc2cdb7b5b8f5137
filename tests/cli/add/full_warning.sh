# SPDX-License-Identifier: BSD-2-Clause
# Past the capacity adding goes on, and one warning is given.
tamis create seen -n 10000 --on-full warn
seq 1 10000 | tamis add seen
seq 1 30000 | tamis add seen 2>warning
wc -l <warning
grep -c "^tamis: warning: filter 'seen' holds [0-9]* keys, past its capacity of 10000; " warning
tamis info seen state
tamis list | awk '{ print $1, $NF }'
