# SPDX-License-Identifier: BSD-2-Clause
# A signal in the middle of a stream: nothing is imported, status 128 + 2 and 128 + 15.
# Directory only: waits for the files of the directory to come
tamis create seen -n 2M # more than a mebibyte: room is made once that much has come
tamis export seen --to tamis whole
tamis drop -q seen
mkfifo input
for signal in INT TERM; do
    begin tamis import x --from tamis input
    exec 3>input
    head -c 1200000 whole >&3
    while [ ! -e "$TAMIS_STORE/staging" ] || [ -z "$(ls "$TAMIS_STORE/staging")" ]; do sleep 0.01; done
    stop_by "$signal"
    exec 3>&-
    ls "$TAMIS_STORE/staging" "$TAMIS_STORE/segments"
done

# A pipe that nobody writes to: what waits is open(), before anything was read.
for signal in INT TERM; do
    begin tamis import x --from tamis input
    until waits_with_handlers $!; do sleep 0.01; done
    stop_by "$signal"
done
