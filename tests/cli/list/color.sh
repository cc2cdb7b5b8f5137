# SPDX-License-Identifier: BSD-2-Clause
# Colors are for a terminal, unless NO_COLOR is set; --color says it for certain.
needs_terminal
tamis create full -n 100 --on-full refuse
tamis create ok -n 1000
seq 200 | tamis add full >told 2>&1
tamis list ok
tamis list --color | cat -v
NO_COLOR=1 tamis list --color=always ok | cat -v
on_terminal() {
    script -qec "$*" /dev/null | tr -d '\r' | cat -v
}
TERM=xterm on_terminal tamis list ok
TERM=xterm NO_COLOR='' on_terminal tamis list ok
TERM=xterm NO_COLOR=1 on_terminal tamis list ok
TERM=xterm on_terminal tamis list ok --color=never
TERM=dumb on_terminal tamis list ok
on_terminal env -u TERM tamis list ok
on_terminal env -u TERM tamis list ok --color=always
refused tamis list --color=green
