# SPDX-License-Identifier: BSD-2-Clause
# The two exclude one another.
tamis create seen -n 1000
refused tamis add --new --seen seen a
