# SPDX-License-Identifier: BSD-2-Clause
tamis create hits -n 1000 --kind counting
tamis add hits a b
expect 2 tamis remove hits --json a a b
expect 2 tamis remove hits --json --hex 61
