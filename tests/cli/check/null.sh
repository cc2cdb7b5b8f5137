# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000
printf 'a\nb\0' | tamis add -z seen
printf 'a\nb\0c\0' | tamis check -z seen | od -An -c
printf 'a\nb\0c\0' | tamis check -zv seen | od -An -c
