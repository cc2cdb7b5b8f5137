# SPDX-License-Identifier: BSD-2-Clause
# Directory only: builds and exceptions, which are made where the files are
# UTF-16 has no keys that anybody asks for, and a byte order mark spoils the first one: both are told, and what to do.
tamis create seen -n 1000
printf '\xef\xbb\xbfads1.example\nads2.example\n' >mark
tamis add --new seen <mark | od -An -c | head -1
tamis check seen ads1.example ads2.example
tamis add --new --crlf seen <mark
tamis check seen ads1.example
printf 'a\nb\n' >letters
for name in UTF-16 UTF-16LE UTF-16BE UTF-32; do
    iconv -t "$name" letters | sed 's/^/&/' >text
    expect 2 tamis add seen <text
    expect 2 tamis check seen --file text
    expect 2 tamis uniq text
    expect 2 tamis build list text
done
tamis info seen items
iconv -t UTF-16LE letters | tamis add --raw seen # these are the keys
iconv -t UTF-16LE letters | tamis add -z --new seen | od -An -c
