#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A consumer builds and runs by find_package(tamis), with both targets; a version that is not there
# is refused.
# shellcheck source=tests/install/support.sh
. "$(dirname "$0")/support.sh"

"$CMAKE" -S "$here/consumer" -B build -DCMAKE_C_COMPILER="$CC" -DCMAKE_PREFIX_PATH="$TAMIS_PREFIX" \
    -DCMAKE_C_FLAGS="-Wall -Wextra -Wpedantic -Werror"
"$CMAKE" --build build
version=$(pkg-config --modversion tamis)
for library in tamis tamis_static; do
    answers=$("build/with_$library" "store-$library")
    expect "$version 1 0 1 0" "$answers" "consumer of tamis::$library"
done
readelf -d build/with_tamis | grep -q 'NEEDED.*libtamis\.so\.0' ||
    fail "tamis::tamis did not link libtamis.so.0"
! readelf -d build/with_tamis_static | grep 'NEEDED.*libtamis' ||
    fail "tamis::tamis_static linked the shared library"

cp -r "$here/consumer" "$here/consumer.c" .
sed -i 's/tamis 0\.1 REQUIRED/tamis 99 REQUIRED/' consumer/CMakeLists.txt
if "$CMAKE" -S consumer -B build-99 -DCMAKE_C_COMPILER="$CC" \
    -DCMAKE_PREFIX_PATH="$TAMIS_PREFIX" >refused 2>&1; then
    fail "version 99 was found"
fi
grep -q 'considered but not accepted' refused || fail "version 99 refused for another reason: $(cat refused)"
