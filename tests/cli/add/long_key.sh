# SPDX-License-Identifier: BSD-2-Clause
# A key longer than the read buffer is one key.
tamis create seen -n 1000
keys() { echo before; head -c 5000000 /dev/zero | tr '\0' x; echo; echo after; }
keys >input
keys | tamis add --new seen >new
cmp new input && echo same
tamis check seen <input >present
cmp present input && echo same
