# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the tests here.  They are given, in the environment: TAMIS_PREFIX, the installed tree;
# TAMIS_LIBDIR, the libraries in it; CC and CMAKE, the compiler and the cmake of the build.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export here
: "${TAMIS_PREFIX:?run by ctest, see tests/install/CMakeLists.txt}" "${TAMIS_LIBDIR:?}" "${CC:?}"
export PKG_CONFIG_PATH=$TAMIS_LIBDIR/pkgconfig
export PATH=$TAMIS_PREFIX/bin:$PATH

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

# expect WANTED GOT WHAT
expect()
{
    [ "$1" = "$2" ] || fail "$3: expected '$1', got '$2'"
}
