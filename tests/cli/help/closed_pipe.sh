# SPDX-License-Identifier: BSD-2-Clause
# A reader that goes, such as head, ends a command in silence, as the signal of a closed pipe does.
# Seen to fail before: "cannot write to standard output: Broken pipe", and status 2.
# The reader has gone before the command begins: `exec` closes the pipe, and says so by its end.
tamis create seen -n 100k
seq 1 1000 | tamis add seen
mkfifo pipe
gone() {
    local status
    exec 3<>pipe 4>pipe # a writer whose reader goes
    exec 3>&-
    "$@" >&4
    status=$?
    exec 4>&-
    echo "$status: $*"
}
seq 1 1000 >keys
for command in help 'help list' version 'list -h' list 'list --json' 'list --csv' 'list -q' 'info seen' 'info seen --json' \
    'check seen --file keys' 'calc -n 1000 -p 1%' 'generations seen' 'explain seen a' 'uniq keys' \
    'report seen -o -' 'export seen --to tamis -' 'compare seen seen' 'drop seen'; do
    # shellcheck disable=SC2086
    gone tamis $command
done
expect 1 tamis list # it was dropped all the same
