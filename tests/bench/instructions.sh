#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# instructions.sh PROGRAM: how many instructions of aarch64 a key takes, which an emulator can tell and no clock of
# this machine can.  PROGRAM is bench_instructions for aarch64 (`cmake --preset aarch64`, in .build/aarch64).
# qemu-aarch64 logs each instruction that it executes; the lines for 1,024 keys less those for none, by 1,024.
set -euo pipefail

program=${1:?usage: instructions.sh PROGRAM}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
readonly keys=1024

# The instructions of one run with that kind, operation and number of keys.
count()
{
    rm -rf "$scratch/store"
    qemu-aarch64 -singlestep -d exec,nochain -D /dev/stdout "$program" "$scratch/store" "$@" | grep -c '^Trace'
}

printf '%-10s %-12s %s\n' kind operation 'instructions a key'
for kind in blocked bloom counting; do
    for operation in add hit single-hit; do
        none=$(count "$kind" "$operation" 0)
        some=$(count "$kind" "$operation" "$keys")
        printf '%-10s %-12s %d\n' "$kind" "$operation" $(((some - none) / keys))
    done
done
