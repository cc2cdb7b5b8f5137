# SPDX-License-Identifier: BSD-2-Clause
# Keys from the arguments; nothing is printed.
tamis create seen -n 1000
tamis add seen a b c
tamis info seen items
tamis check seen a b c d
