# SPDX-License-Identifier: BSD-2-Clause
# -z: keys end with NUL, in and out; a newline is a byte like any other.
tamis create seen -n 1000
printf 'a\nb\0c\0a\nb\0last' | tamis add -z --new seen | od -An -c
tamis check -z seen $'a\nb' | od -An -c
