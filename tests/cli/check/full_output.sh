# SPDX-License-Identifier: BSD-2-Clause
# Nothing matched (1), but the answer could not be written either: that is the error (2).
tamis create seen -n 1000
expect 2 tamis check --json seen absent >/dev/full
expect 2 tamis check -c seen absent >/dev/full
