# SPDX-License-Identifier: BSD-2-Clause
# Each line once, in the order of the input, from standard input and from files, packed ones too.
# No store is made.
printf '%s\n' b a b '' c a '' | tamis uniq
printf 'no newline' | tamis uniq
tamis uniq </dev/null
printf '%s\n' one two one >first
printf '%s\n' two three | gzip >second.gz
tamis uniq first second.gz first
echo four | tamis uniq -n 10 first -
tamis uniq --seen first first
printf 'a b\0c\nd\0a b\0' | tamis uniq -z | od -An -c
[ ! -e "$TAMIS_STORE" ] || echo "a store was made"
tamis uniq --stats first 2>&1 >/dev/null | sed 's/[0-9.]* s$/TIME/'
