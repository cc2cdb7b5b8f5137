#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What README.md shows is true: its C example compiles without a warning, and the shell sessions give
# exactly the output that stands under their commands.
# shellcheck source=tests/install/support.sh
. "$(dirname "$0")/support.sh"

readme=$here/../../README.md

# blocks LANGUAGE: the insides of all ```LANGUAGE blocks, one after the other
blocks()
{
    awk -v fence="\`\`\`$1" '/^```/ { inside = $0 == fence; next } inside' "$readme"
}

blocks c >seen.c
[ -s seen.c ] || fail "README.md has no \`\`\`c block"
# shellcheck disable=SC2046 # a list of words
"$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror -o seen seen.c \
    $(pkg-config --cflags --libs tamis) || fail "the C example does not compile"

# In a session commands stand after "$ ", continued after "> ", all else is output.  `bash -v`
# prints each command as it reads it, so without the prompts its output must be the session itself.
blocks console >session
grep -q '^\$ ' session || fail "README.md has no \`\`\`console block"
sed 's/^[$>] //' session >expected
sed -n 's/^[$>] //p' session >commands
mkdir home work
mv seen seen.c work
env -u TAMIS_STORE -u XDG_STATE_HOME HOME="$scratch/home" LD_LIBRARY_PATH="$TAMIS_LIBDIR" \
    sh -c 'cd work && exec bash -v ../commands' >printed 2>&1 || true
diff -u expected printed || fail "README.md (-) and what its commands print (+) differ"
echo "$(wc -l <work/seen.c) lines of C, $(wc -l <commands) lines of commands"
