# SPDX-License-Identifier: BSD-2-Clause
# What is a key and what is not, in files of every sort.
printf '# first\na\n\n  \t\nb#\r\n! x\n #c\nlast' >mixed
ask() {
    tamis build list mixed "$@" --json | grep -o '"keys":[0-9]*,"distinct":[0-9]*'
    printf '%s\0' '# first' a '' $'  \t' $'b#\r' 'b#' '! x' ' #c' last | tamis check -z list | tr '\0\n' '|$' | cat -A
    echo
}
ask
ask --comments
ask --comments='!' --skip-blank
ask --comments=' #' --crlf --skip-blank
ask --comments --comments='! x' # the last one counts
printf '#x\r\n\r\ny\r\n' | tamis build list --comments --skip-blank --crlf
tamis check list y '#x' ''
printf 'a\0# b\0\0c\nd\0' | tamis build list -z --comments --skip-blank
printf 'a\0# b\0\0c\nd\0' | tamis check -z list | tr '\0' '|'
echo
printf '# hex\n00ff\n\n61' | tamis build list --hex --comments --skip-blank
tamis check list --hex 00ff 61
# The files of the exceptions are read by the same rules.
printf '# no\na\r\n' >white
tamis build list mixed --crlf --comments --skip-blank --except white --against white
tamis check list a 'b#'
tamis except list list
