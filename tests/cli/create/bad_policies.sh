# SPDX-License-Identifier: BSD-2-Clause
refused tamis create x -n 10 --on-full explode
refused tamis create x -m 1000 -k 3 --on-full grow
refused tamis create x -n 10 --slices 4
refused tamis create x -n 10 --window 0s
refused tamis create x -n 10 --window 30x
refused tamis create x -n 10 --window -5d
refused tamis create x -n 10 --window 200000w
refused tamis create x -n 10 --window 36526d
tamis create century -n 10 --window 36525d
refused tamis create x -n 10 --window 1s --slices 32
refused tamis create x -n 10 --window 30d --slices 33
refused tamis create x -n 10 --window 30d --slices 0
refused tamis create x --window 30d
refused tamis create x -m 1000 -k 3 --window 30d
refused tamis create x -n 10 --hash-set redisbloom --window 30d
tamis create plain -n 10
refused tamis rotate plain
refused tamis rotate nothere
refused tamis rotate
