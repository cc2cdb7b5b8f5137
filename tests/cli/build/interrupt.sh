# SPDX-License-Identifier: BSD-2-Clause
# A signal while keys are read: nothing is published or left behind, status 128 + 2 and 128 + 15.
# Seen to fail with a progress callback that does not look for a signal.
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
# While it is made: the library is told at its next step.
seq 4000000 >many
before=$(snapshot)
for _ in 1 2 3 4 5 6 7 8; do # until one is stopped in time
    : >told
    (trap - INT && exec tamis build list many --threads 1 --progress) 2>told &
    pid=$!
    until grep -qE '^(sorting|making|verifying):' told || ! kill -0 "$pid" 2>gone; do sleep 0.01; done
    kill -INT "$pid" 2>gone
    wait "$pid"
    status=$?
    [ "$status" -ne 130 ] || break
    echo old | tamis build list
    before=$(snapshot)
done
echo "exit $status"
tail -n 1 told
[ "$before" = "$(snapshot)" ] || echo "the store was changed"
tamis check list old
