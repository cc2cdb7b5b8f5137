# SPDX-License-Identifier: BSD-2-Clause
# A signal in the middle: nothing is left.  The backup is held up by the catalog's lock until it has come.
# Seen to fail with a progress callback that does not look for a signal.
tamis create seen -n 1M
for signal in INT TERM; do
    exec 9<store/catalog.lock
    flock -x 9
    begin tamis backup copy --progress 9<&-
    until waits_with_handlers $!; do sleep 0.01; done
    kill -"$signal" $!
    exec 9<&-
    wait $!
    echo "exit $?"
    tail -n 1 told
    [ ! -e copy ] || ls copy
done
tamis verify
