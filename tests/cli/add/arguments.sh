# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Keys from the arguments; nothing is printed.
tamis create seen -n 1000
tamis add seen a b c
tamis info seen items
tamis check seen a b c d
