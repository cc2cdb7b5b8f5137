# SPDX-License-Identifier: BSD-2-Clause
# A signal while keys are read: none of them is an exception.
# Seen to fail without the look for a signal behind the reading.
tamis create seen -n 1000
mkfifo input
for signal in INT TERM; do
    (trap - INT && exec tamis except seen add <input) 2>told &
    exec 3>input
    echo a >&3
    until waits_with_handlers $!; do sleep 0.01; done
    stop_by "$signal"
    exec 3>&-
done
tamis except seen list
