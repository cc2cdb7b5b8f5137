# SPDX-License-Identifier: BSD-2-Clause
# Lines that differ in their ends only are one line; -z and --raw count each byte.
printf 'a\r\na\nb\nb\r\n' | tamis uniq | od -An -c
printf 'a\r\0a\0' | tamis uniq -z | tr '\0' '|'
echo
printf 'a\r\na\n' | tamis uniq --raw | wc -l
printf '# c\na\n\n \na\n' | tamis uniq --comments --skip-blank
printf '\xef\xbb\xbfa\r\na\r\n' | tamis uniq | od -An -c
