#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What README.md shows is true: its shell sessions give exactly the output that stands under their commands, and its lines of C
# (which compile without a warning), Python and PHP say `new` once, each of a key of its own.  Python and PHP are left out where
# they were not built.  Seen to fail with a key of C that Python adds before, and with a digit changed in an output.
# shellcheck source=tests/install/support.sh
. "$(dirname "$0")/support.sh"

readme=$here/../../README.md
[ "$(wc -l <"$readme")" -le 140 ] || fail "README.md has more than 140 lines: docs/README.md says where the rest goes"

# blocks LANGUAGE: the insides of all ```LANGUAGE blocks, one after the other
blocks()
{
    awk -v fence="\`\`\`$1" '/^```/ { inside = $0 == fence; next } inside' "$readme"
}

# In a session commands stand after "$ ", continued after "> ", all else is output.  `bash -v`
# prints each command as it reads it, so without the prompts its output must be the session itself.
blocks console >session
grep -q '^\$ ' session || fail "README.md has no \`\`\`console block"
sed 's/^[$>] //' session >expected
sed -n 's/^[$>] //p' session >commands
mkdir home work
env -u TAMIS_STORE -u XDG_STATE_HOME HOME="$scratch/home" LD_LIBRARY_PATH="$TAMIS_LIBDIR" \
    sh -c 'cd work && exec bash -v ../commands' >printed 2>&1 || true
diff -u expected printed || fail "README.md (-) and what its commands print (+) differ"

# says_new WHAT COMMAND...: the command prints `new` the first time, and nothing the second.
says_new()
{
    local what=$1
    shift
    [ "$(cd work && "$@")" = new ] || fail "$what does not say that its key is new"
    [ -z "$(cd work && "$@")" ] || fail "$what says twice that its key is new"
}
export LD_LIBRARY_PATH=$TAMIS_LIBDIR
said=("$(wc -l <commands) lines of commands")

# Before C, which opens the filter that these make; where neither is there, the command does.
blocks python >seen.py
{ echo '<?php' && blocks php; } >seen.php
python=${TAMIS_BUILD-/none}/python
if [ -d "$python/tamis" ]; then
    says_new Python env "PYTHONPATH=$python" /usr/bin/python3 -B ../seen.py
    said+=("$(wc -l <seen.py) of Python")
fi
php=${TAMIS_BUILD-/none}/php/tamis.so
if [ -f "$php" ]; then
    says_new PHP php -n -d "extension=$php" ../seen.php
    said+=("$(($(wc -l <seen.php) - 1)) of PHP")
fi
[ -d work/store ] || tamis --store work/store create urls -n 1000

blocks c >lines
[ -s lines ] || fail "README.md has no \`\`\`c block"
{
    printf '#include <err.h>\n#include <stdio.h>\n#include <tamis.h>\n\nint main(void)\n{\n'
    printf '    tamis_store *store;\n    tamis_filter *seen;\n\n'
    sed 's/^/    /' lines
    printf '    const int rc = tamis_filter_close(seen);\n    tamis_store_close(store);\n    return rc < 0;\n}\n'
} >seen.c
# shellcheck disable=SC2046 # a list of words
"$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror -o seen seen.c \
    $(pkg-config --cflags --libs tamis) || fail "the C lines do not compile"
says_new C ../seen
said+=("$(wc -l <lines) of C")
# The module is where the installation that README.md shows has put it.
module=$(sed -n 's/^redis-server --loadmodule //p' "$readme")
[ ! -e "${TAMIS_BUILD-/none}/redis/tamis.so" ] || [ -f "$TAMIS_PREFIX/${module#/usr/local/}" ] || fail "README.md's $module is not there after cmake --install"
(IFS=, && echo "${said[*]}")
