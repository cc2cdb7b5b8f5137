# SPDX-License-Identifier: BSD-2-Clause
tamis create small -n 1000 --on-full warn
tamis create large -n 2M
seq 123456 | tamis add large
tamis list --total
tamis list --total --human
tamis list --total --json small | tail -n 1
seq 1000 | tamis add small
tamis add small x{1..200} 2>warned
tamis list --total --human
tamis list --total --json | tail -n 1
refused tamis list -q --total
refused tamis list -q --human
refused tamis list --json --human
