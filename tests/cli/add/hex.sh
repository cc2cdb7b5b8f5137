# SPDX-License-Identifier: BSD-2-Clause
# --hex: any byte can be named; output is hexadecimal too, in lower case.
tamis create seen -n 1000
printf '00\nFFfe0A\n\n' | tamis add --hex --new seen
tamis check --hex seen 00 fffe0a ''
printf '\377\376\n' | tamis check seen
printf '\377\376\n\0' | tamis check -z seen | od -An -c
