# SPDX-License-Identifier: BSD-2-Clause
# A filter that cannot be trusted is an error, never "absent"; the file is named.
# Directory only: damages files
segment=$TAMIS_STORE/segments/0000000000000001.seg
tamis create seen -n 1000
tamis add seen a
cp "$segment" intact
all() {
    for command in info check add; do
        key=a
        [ "$command" != info ] || key=items
        refused tamis "$command" seen "$key"
    done
    expect 2 tamis verify
    cp intact "$segment"
}
echo truncated >&2
head -c 5000 intact >"$segment"
all
echo empty >&2
: >"$segment"
all
echo foreign >&2
printf 'PNG\r\n\032\n\0' | cat - intact | head -c 8192 >"$segment"
all
echo newer >&2
poke "$segment" 8 '\143'
all
echo damaged >&2
poke "$segment" 64 '\001'
all
echo missing >&2
rm "$segment"
all
tamis verify
tamis check seen a
