# SPDX-License-Identifier: BSD-2-Clause
# check, count, remove, explain and except read keys from --file as add does.
# Directory only: makes exceptions, which is done where the files are
tamis create hits -n 1000 --kind counting
printf 'a\nb\n' >keys
printf 'a\nx\n' >"more"
tamis add hits --file keys --file more
tamis check hits --file keys --file more
tamis check -v hits --file keys
tamis count hits --file keys
tamis remove --json hits --file keys
tamis count hits --file keys
tamis create plain -n 1000
tamis add plain --file keys
tamis explain plain --file keys | cut -f1
tamis explain --hash-set xxh3 -m 1000003 -k 2 --file keys | cut -f1
tamis except plain add --file more
tamis except plain list
expect 2 tamis except plain list --file more
tamis check plain --file keys
tamis except plain remove --file more
tamis check plain --file keys
# The hint of add is theirs too.
tamis count hits keys
tamis except plain add keys
