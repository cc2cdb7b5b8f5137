# SPDX-License-Identifier: BSD-2-Clause
# A window of a second and a half: what is added again stays, the other key is forgotten.
tamis create recent -n 1000 --window 1500ms --slices 3
tamis add recent once again
# Checked within its time: on a busy machine a second and a half may go by between two commands, and that is no loss.
microseconds() {
    echo "${EPOCHREALTIME/./}"
}
in_time() {
    local begin
    while :; do
        begin=$(microseconds)
        tamis add recent again
        "$@" && return
        [ $(($(microseconds) - begin)) -gt 1400000 ] || return
    done
}
end=$((SECONDS + 4))
while [ "$SECONDS" -lt "$end" ]; do
    in_time tamis check -q recent again || echo lost
    sleep 0.1
done
in_time tamis check recent once again
tamis info recent window_seconds
