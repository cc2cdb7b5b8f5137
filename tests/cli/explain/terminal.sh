# SPDX-License-Identifier: BSD-2-Clause
# People are told of a weak hash set; what is read by a program gets results alone.
needs_terminal
for set in php-mt guava; do
    script -qec "tamis explain --hash-set $set -m 1000 -k 1 key" /dev/null >shown </dev/null
    echo "$set: $(grep -c '^tamis: note: ' shown) note, $(grep -c '^key' shown) key"
done
tamis create crc --hash-set php-mt -m 1000 -k 1 2>told
script -qec "tamis explain crc key" /dev/null </dev/null | grep -c '^tamis: note: '
tamis explain crc key
