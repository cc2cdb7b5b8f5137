# SPDX-License-Identifier: BSD-2-Clause
# The bits of a filter are not for a terminal.  Seen to fail before: they were written to it.
[ -n "$(type -P script)" ] || skip "needs script"
tamis create seen -n 100
on_terminal() {
    script -qec "$*" /dev/null </dev/null | tr -d '\r'
    echo "exit ${PIPESTATUS[0]}"
}
on_terminal tamis export seen --to tamis -
on_terminal tamis export seen --to tamis /dev/tty
on_terminal "tamis export seen --to tamis - --no-progress >file"
on_terminal "tamis export seen --to tamis - --no-progress | wc -c"
tamis import again --from tamis file
here
