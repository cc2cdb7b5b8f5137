# SPDX-License-Identifier: BSD-2-Clause
# -- ends the options; before it they may stand anywhere.
tamis create seen -n 1000
tamis add seen a --new b
tamis add --new -- seen --new -z
tamis check seen -- --new -z -q
