#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# examples.sh PAGE: what the section EXAMPLES of a manual page shows is what happens.  Its displays
# (.Bd -literal) are run in order, by one bash -e, in an empty directory:
#
#     $ command          a command, continued by
#     > more of it       such lines
#     anything else      all that the command prints, on standard output and standard error; a
#                        command that is followed by nothing prints nothing
#
# A display that begins with "/* NAME.c:" is put into that file instead.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/docs/lib.sh
. "$here/lib.sh"
page=$1

# The displays of EXAMPLES as they are read, each after a line "@display".
displays()
{
    awk '/^\.Sh / { inside = $2 == "EXAMPLES" }
    inside && /^\.Bd -literal/ { display = 1; print "@display"; next }
    /^\.Ed/ { display = 0 }
    inside && display' "$page" | unescape
}

# Quotes and the like must be written as escapes: groff sets the plain ones as typographic ones,
# which do not survive being copied into a shell.
unescape()
{
    local text
    text=$(cat)
    ! grep -nE "^[.']|['\`^~]" <<<"$text" >&2 ||
        die "${page##*/}: in these lines write \\(aq \\(ga \\(ha \\(ti instead"
    text=${text//'\(aq'/"'"} text=${text//'\(ga'/'`'} text=${text//'\(ha'/^}
    text=${text//'\(ti'/'~'} text=${text//'\&'/}
    ! grep -nE '\\([^e]|$)' <<<"$text" >&2 ||
        die "${page##*/}: this test does not know the escapes in these lines"
    printf '%s\n' "${text//'\e'/\\}"
}

# Into $scratch/steps: N.run, a command, and N.expected, its output.
take_apart()
{
    local line file='' step=0
    mkdir "$scratch/steps" "$scratch/work"
    while IFS= read -r line; do
        if [ "$line" = @display ]; then
            file=first
        elif [[ $file == first && $line =~ ^/\*\ ([a-z_]+\.c): ]]; then
            file=$scratch/work/${BASH_REMATCH[1]}
            printf '%s\n' "$line" >"$file"
        elif [[ $file == /* ]]; then
            printf '%s\n' "$line" >>"$file"
        elif [[ $line == '$ '* ]]; then
            file='' step=$((step + 1))
            printf '%s\n' "${line#??}" >"$scratch/steps/$step.run"
            : >"$scratch/steps/$step.expected"
        elif [[ $step -eq 0 ]]; then
            fail "${page##*/}: '$line' follows no command"
        elif [[ $line == '> '* && ! -s $scratch/steps/$step.expected ]]; then
            printf '%s\n' "${line#??}" >>"$scratch/steps/$step.run"
        else
            file=''
            printf '%s\n' "$line" >>"$scratch/steps/$step.expected"
        fi
    done
    steps=$step
}

# `cc` and `pkg-config tamis` as a reader of tamis(3) would have them after an installation.
offer_library()
{
    local sanitize=${TAMIS_SANITIZE:+-fsanitize=$TAMIS_SANITIZE}
    ln -s "$(command -v "${CC:?the C compiler}")" "$scratch/bin/cc"
    mkdir "$scratch/pkgconfig"
    cat >"$scratch/pkgconfig/tamis.pc" <<PC
Name: tamis
Description: the library as built
Version: 0
Libs: -L${TAMIS_LIBRARY_DIR:?} -Wl,-rpath,$TAMIS_LIBRARY_DIR -ltamis $sanitize
Cflags: -I${TAMIS_INCLUDE_DIR:?} $sanitize
PC
    export PKG_CONFIG_PATH=$scratch/pkgconfig
}

# All steps in one shell, each with its output in a file of its own; $scratch/at is the last begun.
run_steps()
{
    local step
    for ((step = 1; step <= steps; step++)); do
        printf 'echo %d >%q/at; exec >%q 2>&1\n' "$step" "$scratch" "$scratch/steps/$step.got"
        cat "$scratch/steps/$step.run"
    done >"$scratch/script"
    (cd "$scratch/work" && bash -e "$scratch/script" </dev/null)
}

displays >"$scratch/displays"
take_apart <"$scratch/displays"
[ "$steps" -gt 0 ] || die "${page##*/} has no examples"
[[ $page != *.3 ]] || offer_library
status=0
run_steps || status=$?
last=$(cat "$scratch/at")
[ "$status" -eq 0 ] ||
    fail "${page##*/}: status $status of: $(cat "$scratch/steps/$last.run")"
for ((step = 1; step <= last; step++)); do
    diff -u "$scratch/steps/$step.expected" "$scratch/steps/$step.got" >"$scratch/difference" ||
        fail "${page##*/}: expected (-) and got (+) of: $(cat "$scratch/steps/$step.run")
$(tail -n +3 "$scratch/difference")"
done
finish
