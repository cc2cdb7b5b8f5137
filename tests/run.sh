#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run.sh [PRESET] [-- CTEST-ARGUMENT...]: install what the tests need, build, run them all.  ctest's
# summary is the last thing printed, and its exit status is the script's.
#
#   tests/run.sh                       as installed (-O3) but with assertions kept, in .build/test
#   tests/run.sh asan                  a preset of CMakePresets.json, in .build/asan
#   tests/run.sh aarch64               for another processor, emulated by qemu-user: the tests of that label
#   tests/run.sh -- -L unit            only the tests of label unit (docs/testing.md lists them)
#   tests/run.sh tsan -- -R race -V    presets and ctest's arguments together
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top"

usage()
{
    sed -n '4,11s/^# \{0,1\}//p' "$top/tests/run.sh"
}

preset=
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help)
        usage
        exit 0
        ;;
    --)
        shift
        break
        ;;
    -*)
        echo "run.sh: unknown option '$1'; arguments for ctest go after --" >&2
        exit 2
        ;;
    *)
        [ -z "$preset" ] || {
            echo "run.sh: one preset at a time, not '$preset' and '$1'" >&2
            exit 2
        }
        preset=$1
        shift
        ;;
    esac
done

packages=(
    gcc libc6-dev cmake ninja-build pkg-config # the build
    liblmdb-dev libxxhash-dev libjansson-dev   # the library and the command
    libcmocka-dev g++                          # unit tests; the header as C++
    mandoc zsh                                 # manual pages, zsh completion
    python3 python3-lmdb python3-xxhash        # the independent reader of tests/golden
    libmd-dev libsodium-dev libhiredis-dev     # hash sets md5 and sip; import and export live
    zlib1g-dev libzstd-dev zstd                # packed input of tamis build
    webext-ublock-origin-firefox curl          # the list of docs/nightly.md, and how it comes
    redis-server php-cli php-redis             # the other systems, tests/interop
    python3-cffi                               # tamis_ffi.h, with the FFI of php-cli
    libbloom-dev                               # the other library of tests/bench
    rsync                                      # copies of a store in use
    e2fsprogs btrfs-progs                      # file systems that are filled up
    chromium                                   # `tamis report` in a browser: 122 MB, half a minute
)
target=all
case $preset in
clang | fuzz) packages+=(clang) ;;
aarch64)
    # The processor is emulated by qemu-user, at a tenth of the speed or less: only these tests run.
    packages=(
        cmake ninja-build pkg-config
        gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user libc6:arm64
        liblmdb-dev:arm64 libxxhash-dev:arm64 libcmocka-dev:arm64
    )
    target=aarch64_tests
    set -- -L '^aarch64$' "$@"
    ;;
esac
tools/need-packages.sh "${packages[@]}" >&2

build=.build/${preset:-test}
if [ -n "$preset" ]; then
    cmake --preset "$preset" -G Ninja
else
    # Release without -DNDEBUG: an assertion that fails is a bug that the tests must show.  -g1 names functions
    # and lines; all of -g takes a sixth longer.
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=-O3 -g1" \
        -DTAMIS_WERROR=ON
fi </dev/null
cmake --build "$build" --target "$target" -j "$(nproc)" </dev/null
# A child of a process with threads ends without having joined its parent's: no leak.
export TSAN_OPTIONS=report_thread_leaks=0${TSAN_OPTIONS:+:$TSAN_OPTIONS}
# LMDB clears 2 MiB each time that a store is opened to write.  With a fixed limit malloc() goes on taking these from
# the kernel, which hands out zeros when they are touched: tests that open by the thousand take a third less.
export MALLOC_MMAP_THRESHOLD_=131072
# A test that hangs must not hold up the rest; the long ones set a limit of their own.
exec ctest --test-dir "$build" --output-on-failure --timeout 300 -j "$(nproc)" "$@" </dev/null
