# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# A window of a second and a half: what is added again stays, the other key is forgotten.
tamis create recent -n 1000 --window 1500ms --slices 3
tamis add recent once again
end=$((SECONDS + 4))
while [ "$SECONDS" -lt "$end" ]; do
    tamis add recent again
    tamis check -q recent again || echo lost
    sleep 0.1
done
tamis check recent once again
tamis info recent window_seconds
