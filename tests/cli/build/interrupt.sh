# SPDX-License-Identifier: BSD-2-Clause
# A signal while keys are read: nothing is published or left behind, status 128 + 2 and 128 + 15.
# Seen to fail with a progress callback that does not look for a signal.
echo old | tamis build list
mkfifo input
before=$(snapshot)
for signal in INT TERM; do
    begin tamis build list input --memory 1MiB
    exec 3>input
    seq 300000 >&3
    stop_by "$signal"
    exec 3>&-
    [ "$before" = "$(snapshot)" ] || echo "the store was changed"
done
# A pipe that nobody writes to: what waits is open().
begin tamis build list input
until waits_with_handlers $!; do sleep 0.01; done
stop_by INT
tamis check list old 1
# While it is made: the library is told at its next step.
seq 4000000 >many
before=$(snapshot)
for _ in 1 2 3 4 5 6 7 8; do # until one is stopped in time
    : >told
    begin tamis build list many --threads 1 --progress
    until grep -qE '^(sorting|making|verifying):' told || ! kill -0 $! 2>gone; do sleep 0.01; done
    kill -INT $! 2>gone
    wait $!
    status=$?
    [ "$status" -ne 130 ] || break
    echo old | tamis build list
    before=$(snapshot)
done
echo "exit $status"
tail -n 1 told
[ "$before" = "$(snapshot)" ] || echo "the store was changed"
tamis check list old
