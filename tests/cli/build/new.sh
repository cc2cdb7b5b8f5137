# SPDX-License-Identifier: BSD-2-Clause
# The store and the filter need not be there; the result is told where it is asked for.
seq 1000 >keys
seq 500 >>keys
expect 0 tamis build list keys
seq 1000 | tamis check -c list
tamis info list kind
tamis info list items
tamis build list keys - --json </dev/null | sed 's/"seconds":[0-9.e-]*/"seconds":S/; s/"sampled":[0-9]*,"sampled_yes":[0-9]*/SAMPLE/'
tamis build list keys --stats 2>&1 | sed 's/[0-9.]* s$/S/; s/[0-9]* of [0-9]* other keys/N of N other keys/'
tamis verify
