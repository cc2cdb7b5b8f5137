# SPDX-License-Identifier: BSD-2-Clause
# Nothing to say of what is well, of all filters, of one, of none; and of what is not there.
tamis create a -n 1000
seq 500 | tamis add a
tamis create b -n 100 --on-full grow
seq 5000 | tamis add b
expect 0 tamis doctor
expect 0 tamis doctor a
expect 0 tamis doctor --json
refused tamis doctor absent
tamis drop -q a b
expect 0 tamis doctor
