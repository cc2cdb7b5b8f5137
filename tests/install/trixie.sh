#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# trixie.sh: in a fresh Debian 13, on a copy of the tree, the library, the command, the Redis module and the unit tests of the core
# are built as tests/run.sh builds them, with warnings as errors; and these tests pass.
#
# With TAMIS_TEST_LONG=1 it is tests/run.sh itself, the whole core: that brings some 700 packages, 400 MB.
#
# Seen to fail while store/exchange/portable.c had <assert.h> from the xxhash.h of Debian 12 alone.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
tools=git
suite=trixie
packages=gcc,libc6-dev,cmake,ninja-build,pkgconf,liblmdb-dev,libxxhash-dev,libjansson-dev,libcmocka-dev,libmd-dev,libsodium-dev,libidn2-dev
packages+=,libhiredis-dev,libssl-dev,libcurl4-openssl-dev,zlib1g-dev,libzstd-dev,libncurses-dev,python3
[ "${TAMIS_TEST_LONG:-}" != 1 ] || packages= # those that run.sh says it needs
# shellcheck source=tests/install/debian.sh
. "$here/debian.sh"

# in_source COMMAND: a line of shell; the end of what it prints is shown if it fails.
in_source()
{
    inside bash -ec "cd /src; $1" >"$TAMIS_CHROOT/said" 2>&1 || {
        tail -n 100 "$TAMIS_CHROOT/said" >&2
        fail "in Debian $(cat "$root/etc/debian_version"): $1"
    }
}

fresh base
step "a fresh $suite"
mkdir "$root/src"
git -C "$source" ls-files -z --cached --others --exclude-standard |
    tar -C "$source" -c --null --ignore-failed-read -T - | tar -x --no-same-owner -C "$root/src"
mkdir -p "$root/dev/shm" "$root/dev/pts"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
if [ "${TAMIS_TEST_LONG:-}" = 1 ]; then
    in_source 'HOME=/root tests/run.sh'
    grep 'tests passed' "$TAMIS_CHROOT/said" || fail "tests/run.sh has not said how many tests passed"
    step "tests/run.sh passes"
    exit 0
fi
in_source 'cmake -S . -B b -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=-O3 -g1" -DTAMIS_WERROR=ON'
in_source 'cmake --build b --target tamis tamis_cli tamis_redis'
step "the library, the command and the module are built"
unit='ctest --test-dir b -L "^unit$" -LE "$(<b/not-core)"'
in_source "$unit -N"' | sed -n "s/^ *Test *#[0-9]*: //p" | sort >names
    ninja -C b -t targets all | cut -d : -f 1 | sort | comm -12 - names >programs
    [ "$(wc -l <programs)" -gt 50 ]
    xargs ninja -C b <programs'
step "$(wc -l <"$root/src/programs") programs of unit tests are built"
in_source "$unit --timeout 300 --output-on-failure -j $(nproc)"
grep 'tests passed' "$TAMIS_CHROOT/said" || fail "ctest has not said how many tests passed"
step "the unit tests pass on Debian $(cat "$root/etc/debian_version")"
