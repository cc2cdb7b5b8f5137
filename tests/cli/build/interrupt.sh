# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# A signal while keys are read: nothing is published or left behind, status 128 + 2 and 128 + 15.
echo old | tamis build list
mkfifo input
before=$(snapshot)
for signal in INT TERM; do
    # A shell has its background commands ignore SIGINT.
    (trap - INT && exec tamis build list input --memory 1MiB) 2>told &
    pid=$!
    exec 3>input
    seq 300000 >&3
    kill -"$signal" "$pid"
    wait "$pid"
    echo "exit $?"
    exec 3>&-
    cat told
    [ "$before" = "$(snapshot)" ] || echo "the store was changed"
done
# A pipe that nobody writes to: what waits is open().
(trap - INT && exec tamis build list input) 2>told &
pid=$!
until waits_with_handlers "$pid"; do sleep 0.01; done
kill -INT "$pid"
wait "$pid"
echo "exit $?"
cat told
tamis check list old 1
