# SPDX-License-Identifier: BSD-2-Clause
refused tamis chek
refused tamis frobnicate
refused tamis erase seen a
refused tamis help chek
refused tamis help add check
refused tamis
refused tamis --frobnicate
refused tamis --store
refused tamis --store '' list
refused tamis --store "$SCRATCH/absent" list
refused tamis $'\033[31mred'
