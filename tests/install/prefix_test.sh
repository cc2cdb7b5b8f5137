#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What docs/install.md says of an installation without root: its two commands, in a home of its own, and then the command, its
# manual, the library and its uninstallation work from there.  Seen to fail without PKG_CONFIG_PATH in the page.
# shellcheck source=tests/install/support.sh
. "$(dirname "$0")/support.sh"

unset PKG_CONFIG_PATH LD_LIBRARY_PATH MANPATH TAMIS_STORE XDG_STATE_HOME
export PATH=${PATH#"$TAMIS_PREFIX/bin:"} HOME=$scratch/home
mkdir "$HOME" "$scratch/clone"
cd "$scratch/clone"
ln -s "$TAMIS_BUILD" build
commands=$(grep -E '^(cmake --install build --prefix|export PATH=)' "$here/../../docs/install.md")
expect 2 "$(wc -l <<<"$commands")" "commands in docs/install.md"
eval "$commands" >installed
expect "$HOME/.local/bin/tamis" "$(command -v tamis)" "the command"
tamis create seen -n 1000
expect a "$(tamis add --new seen a a)" "its answer"
if command -v man >/dev/null; then expect "$HOME/.local/share/man/man1/tamis.1" "$(man -w tamis)" "its manual"; fi
cat >has.c <<'PROGRAM'
#include <stdio.h>
#include <tamis.h>

int main(int count, char **arguments)
{
    tamis_store *store;
    tamis_filter *filter;
    if (count != 2 || tamis_store_open(arguments[1], TAMIS_OPEN_READ_ONLY, &store) < 0) return 2;
    if (tamis_filter_open(store, "seen", TAMIS_OPEN_READ_ONLY, &filter) < 0) return 2;
    return tamis_filter_contains(filter, "a", 1) == 1 ? 0 : 1;
}
PROGRAM
# shellcheck disable=SC2046 # a list of words
"$CC" -o has has.c $(pkg-config --cflags --libs tamis) || fail "pkg-config does not find the library"
./has "$HOME/.local/state/tamis" || fail "the library does not find what the command added"
"$CMAKE" --build build --target uninstall >removed
[ ! -e "$HOME/.local/bin/tamis" ] || fail "the command is still there"
[ -d "$HOME/.local/state/tamis" ] || fail "the store is gone"
