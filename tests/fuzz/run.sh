#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run.sh [SECONDS [SEED [LESS]]]: build the fuzzers and run each for so long, 60 s unless told, from its corpus;
# those whose input no stranger makes for LESS seconds, the same unless told; as many at once as there are
# processors.  A SEED other than 0 repeats a run.  What crashes one is kept
# in .build/fuzz/crashes, and the exit status is 1.  Inputs that a run finds are thrown away.
set -euo pipefail

seconds=${1:-60}
seed=${2:-0} # 0: another one each time
less=${3:-$seconds}
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$top"
tools/need-packages.sh clang libclang-rt-dev cmake ninja-build pkg-config liblmdb-dev libxxhash-dev libcmocka-dev \
    libhiredis-dev libjansson-dev >&2
cmake --preset fuzz -G Ninja -DTAMIS_FUZZ=ON </dev/null
targets=()
for source in tests/fuzz/fuzz_*.c; do
    [ "$source" = tests/fuzz/fuzz_streams.c ] || targets+=("$(basename "$source" .c)")
done
cmake --build .build/fuzz -j "$(nproc)" --target "${targets[@]}" </dev/null

crashes=.build/fuzz/crashes
logs=.build/fuzz/logs
rm -rf "$crashes" "$logs"
mkdir -p "$crashes" "$logs"

fuzz_one()
{
    local target=$1 new time=$seconds
    # The catalog's pages and the index of exceptions are read behind what judges a header or a record; what a
    # dump has is read by the same code as what RESTORE brings.
    [[ $target != fuzz_@(pages|index|segment|dump) ]] || time=$less
    new=$(mktemp -d)
    if ".build/fuzz/tests/fuzz/$target" -max_total_time="$time" -seed="$seed" -timeout=10 -rss_limit_mb=1024 \
        -artifact_prefix="$crashes/$target-" "$new" "tests/fuzz/corpus/${target#fuzz_}" \
        >"$logs/$target" 2>&1; then
        echo "$target: $(grep '^Done ' "$logs/$target")"
    else
        echo "$target FAILED; the end of $logs/$target:"
        tail -n 30 "$logs/$target"
    fi
    rm -rf "$new"
}
export -f fuzz_one
export seconds less seed crashes logs
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I '{}' bash -c 'fuzz_one {}' | tee "$logs/all"
! grep -q FAILED "$logs/all"
