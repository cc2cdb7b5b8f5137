# SPDX-License-Identifier: BSD-2-Clause
# One is not many: "1 key", "1 item".  It said "1 keys" wherever a number stood before a word.
# Directory only: builds, and makes exceptions, which is done where the files are
tamis create one -n 1 --on-full refuse
tamis add --stats one a 2>&1 | cut -d, -f1
expect 2 tamis add one b
tamis info one --all | grep -o '1 of 1 item'
expect 2 tamis add one b c
tamis create many -n 1k
printf 'a\n' | tamis build --stats list 2>&1 | cut -d, -f1
tamis verify
printf 'a\n' | tamis add --progress many 2>&1 | grep -c '1 keys'
expect 2 tamis export list --to guava file
tamis except many add a
expect 2 tamis export many --to guava file
