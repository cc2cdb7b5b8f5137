#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The shared library has its SONAME and exports exactly the calls that tamis.h declares, which are those
# of symbols.txt; the static one defines no global name outside tamis_.
# shellcheck source=tests/install/support.sh
. "$(dirname "$0")/support.sh"

soname=$(readelf -d "$TAMIS_LIBDIR/libtamis.so" | sed -n 's/.*Library soname: \[\(.*\)\]/\1/p')
expect libtamis.so.0 "$soname" "SONAME"
[ -e "$TAMIS_LIBDIR/$soname" ] || fail "no $soname beside libtamis.so"

# Each call has a version, store/tamis.map.
nm -D --defined-only "$TAMIS_LIBDIR/libtamis.so" | awk '$2 != "A" { print $3 }' | sort >versioned
! grep -v '@@TAMIS_0$' versioned || fail "calls without a version, above"
sed 's/@@.*//' versioned >exported
# One declaration a line; what is exported carries the visibility attribute of TAMIS_API.
echo '#include <tamis.h>' >headers.c
"$CC" -I "$TAMIS_PREFIX/include" -E -P headers.c | tr '\n' ' ' | tr ';' '\n' |
    grep 'visibility("default")' | sed 's/__attribute__((.*))//' |
    sed 's/^[^(]*\b\(tamis_[a-z0-9_]*\) *(.*/\1/' | sort >declared
[ "$(wc -l <declared)" -gt 20 ] || fail "too few declarations found in the headers: $(cat declared)"
diff declared exported || fail "exported symbols (>) are not the declared calls (<)"
# A call that is not in the list was exported without being meant for users; one that is gone breaks them.
grep -v '^#' "$here/symbols.txt" | diff - exported ||
    fail "exported symbols (>) are not those of tests/install/symbols.txt (<): change it on purpose only"

nm -g --defined-only "$TAMIS_LIBDIR/libtamis.a" | awk 'NF == 3 { print $3 }' | sort -u >globals
[ -s globals ] || fail "no global symbol in libtamis.a"
! grep -v '^tamis_' globals || fail "global names outside tamis_ in libtamis.a, above"
echo "$(wc -l <exported) calls exported, $(wc -l <globals) global names in libtamis.a"

# `man CALL` leads to the page that describes the call.
while read -r call; do
    page=$TAMIS_PREFIX/share/man/$(sed -n 's/^\.so //p' "$TAMIS_PREFIX/share/man/man3/$call.3")
    grep -q "^\.It Fn $call\( \|$\)" "$page" || fail "$call(3) leads to $page, which does not describe it"
done <exported
