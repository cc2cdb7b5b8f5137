# SPDX-License-Identifier: BSD-2-Clause
seq 10 | tamis build list
refused tamis generations
refused tamis generations list seen
refused tamis generations lits
refused tamis --store none generations list
