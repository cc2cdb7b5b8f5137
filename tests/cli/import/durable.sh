# SPDX-License-Identifier: BSD-2-Clause
# A stream does not say that a filter is durable: --durable does, for the kinds that can be.
tamis create seen -n 1000 --durable
seq 1 100 | tamis add seen
tamis export seen --to tamis seen.stream
tamis import plain --from tamis seen.stream
tamis info plain durable
tamis import again --from tamis seen.stream --durable
tamis info again durable
seq 100 101 | tamis add --new again
tamis create hits -n 1000 --kind counting
tamis export hits --to tamis hits.stream
tamis import hits2 --from tamis hits.stream --durable
echo "exit $?"
tamis list -q
sound
