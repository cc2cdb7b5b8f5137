#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Where the headers of Python, PHP or a library are missing, `cmake -S . -B build` leaves that part out and says so at its end; a later
# configure that finds them builds it.  Seen to fail while OFF, the default of the first configure, was kept in the cache, and
# where libraries were left out without a word.
set -euo pipefail
: "${TAMIS_SOURCE:?run by ctest, see tests/install/CMakeLists.txt}" "${CMAKE:?}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail()
{
    echo "$1"
    cat "$scratch/log"
    exit 1
}

# configure OPTION...
configure()
{
    "$CMAKE" -S "$TAMIS_SOURCE" -B "$scratch/build" -DTAMIS_BUILD_TESTS=OFF "$@" >"$scratch/log" 2>&1
}

part()
{
    sed -n "s/^TAMIS_$1:[A-Z]*=//p" "$scratch/build/CMakeCache.txt"
}

# After the compiler is found, nobody finds php-config, or the headers of Python; pkg-config does not know libzstd.
printf '#!/bin/sh\ncase $* in *libzstd*) exit 1 ;; esac\nexec %s "$@"\n' "$(command -v pkg-config)" >"$scratch/pkg-config"
chmod +x "$scratch/pkg-config"
headers=$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')
php_config=$(command -v php-config) && [ -e "$headers/Python.h" ] || exit 77
echo "set(CMAKE_IGNORE_PATH \"$(dirname "$php_config");/usr/bin;/bin;$headers\")" >"$scratch/hide.cmake"
configure -DCMAKE_PROJECT_tamis_INCLUDE="$scratch/hide.cmake" -DPKG_CONFIG_EXECUTABLE="$scratch/pkg-config" \
    -DPython3_EXECUTABLE=/usr/bin/python3 || fail "it does not configure"
said=$(tail -n 5 "$scratch/log")
for word in 'the Python package' 'python3-dev' 'the PHP extension' 'php-dev' 'lists that zstd packed (libzstd-dev)'; do
    grep -qF "$word" <<<"$said" || fail "the end of configure does not say '$word'"
done
[ "$(part BUILD_PHP)$(part BUILD_PYTHON)$(part WITH_ZSTD)" = "" ] || fail "a part without its headers is in the cache"
! configure -DTAMIS_BUILD_PHP=ON || fail "a part that is asked for is left out"
grep -q 'TAMIS_BUILD_PHP needs php-cli and php-dev' "$scratch/log" || fail "it does not say what is missing"

configure -UTAMIS_BUILD_PHP -UCMAKE_PROJECT_tamis_INCLUDE -DPKG_CONFIG_EXECUTABLE="$(command -v pkg-config)" ||
    fail "it does not configure again"
[ "$(part BUILD_PHP)" = ON ] || fail "the PHP extension is left out though its headers are there"
[ "$(part BUILD_PYTHON)" = ON ] || fail "the Python package is left out though its headers are there"
[ "$(part WITH_ZSTD)" = ON ] || fail "libzstd is left out though it is there"
! grep -q 'Left out' "$scratch/log" || fail "it names what it builds"
