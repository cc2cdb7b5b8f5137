#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A consumer builds and runs by pkg-config: against the shared library, and wholly static.
# shellcheck source=tests/install/support.sh
. "$(dirname "$0")/support.sh"

warnings=(-std=c11 -Wall -Wextra -Wpedantic -Werror)
version=$(pkg-config --modversion tamis)
# pkg-config's output is a list of words.
# shellcheck disable=SC2046
"$CC" "${warnings[@]}" -o shared "$here/consumer.c" $(pkg-config --cflags --libs tamis)
readelf -d shared | grep -q 'NEEDED.*libtamis\.so\.0' || fail "not linked to libtamis.so.0"
answers=$(LD_LIBRARY_PATH=$TAMIS_LIBDIR ./shared store-shared)
expect "$version 1 0 1 0" "$answers" "shared consumer"

# shellcheck disable=SC2046
"$CC" "${warnings[@]}" -static -o static "$here/consumer.c" \
    $(pkg-config --cflags --libs --static tamis)
! readelf -d static | grep NEEDED || fail "the static consumer needs shared libraries"
answers=$(./static store-static)
expect "$version 1 0 1 0" "$answers" "static consumer"

# The tree says where it is by itself, so it may be moved.
moved=$scratch/moved
cp -a "$TAMIS_PREFIX" "$moved"
export PKG_CONFIG_PATH=$moved${TAMIS_LIBDIR#"$TAMIS_PREFIX"}/pkgconfig
include=$(realpath "$(pkg-config --variable=includedir tamis)")
expect "$moved/include" "$include" "includedir of a moved tree"
expect "$moved" "$(realpath "$(pkg-config --variable=prefix tamis)")" "prefix of a moved tree"
