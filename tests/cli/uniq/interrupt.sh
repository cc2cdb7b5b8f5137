# SPDX-License-Identifier: BSD-2-Clause
# However the command ends, its memory is given back. With remove_tree() taken out of
# wait_for_worker(), the filter of the killed worker stayed.
start() {
    rm -f input answers
    mkfifo input answers
    (trap - INT && exec tamis uniq) <input >answers 2>told &
    exec 3>input 4<answers
    printf 'one\none\ntwo\n' >&3
    read -r -t 60 first <&4
    read -r -t 60 second <&4
    echo "$first $second"
    worker=$(pgrep -P $!)
    directory=$(ls -l /proc/"$worker"/fd | sed -n 's|.* -> \(/dev/shm/tamis-private\.[^/]*\).*|\1|p' | head -n 1)
    [ -d "$directory" ] || echo "no directory: $directory"
}
stop() { # COMMAND...: what ends it, and the worker
    start
    { "$@" && wait $!; } 2>/dev/null # bash tells of a killed process whenever it learns of it
    echo "exit $?"
    exec 3>&- 4<&-
    # The worker may outlive the first process by its last batch, and by what it tells then; one that is killed, by what the
    # kernel does to end it.
    while kill -0 "$worker" 2>/dev/null; do read -r -t 0.05 <> <(:) || true; done
    cat told
}
stop_cleanly() { # COMMAND...: nothing is left
    stop "$@"
    [ ! -e "$directory" ] || echo "left: $directory"
}
one() { kill -"$1" $!; }
worker() { kill -"$1" "$worker"; }
# The worker is stopped meanwhile: it would hear of the death of the first process, and tell of it.
both() {
    kill -STOP "$worker"
    until grep -q '^State:.T' /proc/"$worker"/status; do :; done
    kill -"$1" $! "$worker"
}
stop_cleanly one TERM
stop_cleanly one INT
stop_cleanly one HUP
stop_cleanly one KILL
stop_cleanly worker KILL
# Both at once, as when memory runs out: the next command removes it.
stop both KILL
echo next | tamis uniq
[ ! -e "$directory" ] || echo "left: $directory"
