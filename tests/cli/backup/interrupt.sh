# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# A signal in the middle: nothing is left.
# Seen to fail with a progress callback that does not look for a signal.
tamis create seen -n 200M
for signal in INT TERM; do
    : >told
    # A shell has its background commands ignore SIGINT.
    (trap - INT && exec tamis backup copy --progress) 2>told &
    pid=$!
    until [ -s told ] || ! kill -0 "$pid"; do sleep 0.01; done
    kill -"$signal" "$pid"
    wait "$pid"
    echo "exit $?"
    tail -n 1 told
    [ ! -e copy ] || ls copy
done
tamis verify
