# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 100
refused tamis export seen file
refused tamis export seen --to valkey file
refused tamis export seen --to tamis
refused tamis export sen --to tamis file
refused tamis export seen --to redis-bitmap file
refused tamis export seen --to redisbloom file
refused tamis export seen --to guava file
refused tamis export seen --to tamis no/such/directory/file
refused tamis export seen --to tamis .
refused tamis export seen --to tamis - --json
refused tamis --store nowhere export seen --to tamis file
here
