#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The target `uninstall` removes all that `cmake --install` wrote, and nothing else; asked a second time, it says that there is
# nothing.  Seen to fail while uninstall.cmake left links, whose target is removed first, where they were.
# shellcheck source=tests/install/support.sh
. "$(dirname "$0")/support.sh"

prefix=$scratch/prefix
mkdir -p "$prefix/share/tamis" "$prefix/bin"
echo mine >"$prefix/share/tamis/own"
echo mine >"$prefix/bin/other"
"$CMAKE" --install "$TAMIS_BUILD" --prefix "$prefix" >installed
[ -L "$prefix${TAMIS_LIBDIR#"$TAMIS_PREFIX"}/libtamis.so.0" ] || fail "nothing was installed"
# Without root, by a prefix of one's own, the command works from there.
"$prefix/bin/tamis" --store store create seen -n 1000
expect a "$("$prefix/bin/tamis" --store store add --new seen a a)" "the command in its prefix"

uninstall=("$CMAKE" --build "$TAMIS_BUILD" --target uninstall)
"${uninstall[@]}" >said 2>&1 || fail "uninstall: $(cat said)"
expect "$(printf '%s\n' "$prefix/bin/other" "$prefix/share/tamis/own")" "$(find "$prefix" ! -type d | sort)" "what is left"
expect "$prefix/share/tamis" "$(find "$prefix" -type d -name tamis)" "directories of ours that are left"
[ -d store ] || fail "the store is gone"
! "${uninstall[@]}" >said 2>&1 || fail "nothing can be removed twice"
# cmake wraps its sentence, so where depends on the path of the build.
tr -s '[:space:]' ' ' <said | grep -q 'nothing was' || fail "it does not say that there is nothing: $(cat said)"
