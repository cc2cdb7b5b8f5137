# SPDX-License-Identifier: BSD-2-Clause
# What calc tells is what create makes, whether the filter grows or not, and what --dry-run tells.
number=0
agree() # what calc and create are given
{
    local calc made dry name=f$((++number))
    calc=$(tamis calc "$@" --json | grep -oE '"m_bits":[0-9]+,"k":[0-9]+|"file_bytes":[0-9]+')
    dry=$(tamis create "$name" "$@" --dry-run --json | grep -oE '"m_bits":[0-9]+,"k":[0-9]+|"file_bytes":[0-9]+')
    tamis create "$name" "$@"
    made=$(tamis info "$name" --json | grep -oE '"m_bits":[0-9]+,"k":[0-9]+' | head -n 1
        echo "\"file_bytes\":$(tamis info "$name" size_bytes)")
    [ -n "$calc" ] && [ "$calc" = "$made" ] && [ "$calc" = "$dry" ] && echo "same: $*"
}
for kind in blocked bloom counting; do
    for size in '1 -p 1%' '1k -p 1%' '10k -p 1%' '65536 -p 1e-3' '123456 -p 1e-4' '1M'; do
        # shellcheck disable=SC2086
        agree -n $size --kind "$kind"
        # shellcheck disable=SC2086
        [ "$kind" = counting ] || agree -n $size --kind "$kind" --on-full refuse
    done
    agree -n 10k --kind "$kind" --on-full warn
done
# Growth costs what calc says.
tamis create grows -n 1000
seq 1001 | tamis add grows
tamis info grows size_bytes
tamis calc -n 1000 --kind blocked --json | grep -oE '"file_bytes":[0-9]+|"next_file_bytes":[0-9]+|"next_capacity":[0-9]+'
