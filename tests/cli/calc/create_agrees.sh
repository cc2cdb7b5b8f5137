# SPDX-License-Identifier: BSD-2-Clause
# What calc tells is what create makes.
for kind in blocked bloom counting; do
    tamis create "$kind" -n 123456 -p 1e-4 --kind "$kind" --on-full warn
    calc=$(tamis calc -n 123456 -p 1e-4 --kind "$kind" --json | grep -oE '"m_bits":[0-9]+,"k":[0-9]+')
    info=$(tamis info "$kind" --json | grep -oE '"m_bits":[0-9]+,"k":[0-9]+' | head -n 1)
    [ -n "$calc" ] && [ "$calc" = "$info" ] && echo same
    tamis calc -n 123456 -p 1e-4 --kind "$kind" --json | grep -oE '"file_bytes":[0-9]+'
    tamis info "$kind" size_bytes
done
