# SPDX-License-Identifier: BSD-2-Clause
# What one kind cannot do is said below the table, and the other answers.
tamis calc -m 1000003 -k 7
refused tamis calc -m 1000003 -k 7 --kind blocked
