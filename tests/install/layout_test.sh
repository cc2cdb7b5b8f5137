#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Sizes, places and numbers in the public headers are those of layout.txt, on which programs that were compiled before depend.
# What is new stands at the end of a struct; nothing that is there moves or changes its number.  Seen to fail for a member that was
# put between others.
# shellcheck source=tests/install/support.sh
. "$(dirname "$0")/support.sh"

command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
echo '#include <tamis.h>' >headers.c
"$CC" -I "$TAMIS_PREFIX/include" -E -P headers.c | python3 -B "$here/layout.py" >layout.c
"$CC" -I "$TAMIS_PREFIX/include" -o layout layout.c
./layout >is
[ "$(grep -c '^struct' is)" -gt 20 ] || fail "too few structs found in the headers"
grep -v '^#' "$here/layout.txt" | diff - is ||
    fail "the layout of the headers (>) is not that of tests/install/layout.txt (<): change it on purpose only"
