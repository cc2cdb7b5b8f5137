# SPDX-License-Identifier: BSD-2-Clause
# Directory only: a server has no lock that is waited for; tests/cli/create/server_options.sh has its --timeout
# --wait takes seconds, before the command or after it; it changes nothing where nobody is waited for.
tamis create seen -n 1000
for wait in 0 5 0.5 500ms 2m 86400; do
    tamis --wait $wait add --new seen "a$wait"
    tamis add --wait $wait --new seen "b$wait"
done
for wait in 86401 -1 '' x 1.2345 2d; do
    expect 2 tamis --wait "$wait" add seen c
done
tamis --wait 1 list -q
