# SPDX-License-Identifier: BSD-2-Clause
# A signal in the middle of a stream: nothing is imported, status 128 + 2 and 128 + 15.
# Directory only: waits for the files of the directory to come
tamis create seen -n 2M # more than a mebibyte: room is made once that much has come
tamis export seen --to tamis whole
tamis drop seen
mkfifo input
for signal in INT TERM; do
    # A shell has its background commands ignore SIGINT.
    (trap - INT && exec tamis import x --from tamis input) 2>told &
    pid=$!
    exec 3>input
    head -c 1200000 whole >&3
    while [ ! -e "$TAMIS_STORE/staging" ] || [ -z "$(ls "$TAMIS_STORE/staging")" ]; do sleep 0.01; done
    kill -"$signal" "$pid"
    wait "$pid"
    echo "exit $?"
    exec 3>&-
    cat told
    ls "$TAMIS_STORE/staging" "$TAMIS_STORE/segments"
done

# A pipe that nobody writes to: what waits is open(), before anything was read.
for signal in INT TERM; do
    (trap - INT && exec tamis import x --from tamis input) 2>told &
    pid=$!
    until waits_with_handlers "$pid"; do sleep 0.01; done
    kill -"$signal" "$pid"
    wait "$pid"
    echo "exit $?"
    cat told
done
