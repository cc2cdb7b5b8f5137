# SPDX-License-Identifier: BSD-2-Clause
# No such filter: an error, with the nearest name there is.
tamis create seen -n 1000
refused tamis add sene a
refused tamis add other a
