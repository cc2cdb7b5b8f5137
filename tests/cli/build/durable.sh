# SPDX-License-Identifier: BSD-2-Clause
# A build replaces the keys of a durable filter, not its durability.
tamis create list -n 1000 --durable
tamis add list a b
tamis info list durable
printf 'c\nd\n' | tamis build list --kind blocked
tamis info list durable
tamis check list a c
