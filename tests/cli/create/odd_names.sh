# SPDX-License-Identifier: BSD-2-Clause
# Names that are allowed, however odd: none of them becomes a path.
# Directory only: looks at the files of the directory
longest=$(printf 'x%.0s' {1..255})
for name in ../up /etc/x . 'two words' '*' $'caf\xc3\xa9' "$longest" 'a"b'; do
    tamis create -n 10 -- "$name"
    tamis add "$name" key
    tamis check "$name" key
done
tamis create -n 10 -- -dash
tamis list -q
ls "$TAMIS_STORE"
ls "$SCRATCH"
