# SPDX-License-Identifier: BSD-2-Clause
# How many segments are sealed is told of a filter that has any.
# Directory only: a server does not tell of its segments
tamis create plain -n 1000
tamis create grown -n 100
seq 500 | tamis add grown
tamis info plain | grep sealed
tamis info grown | grep sealed
