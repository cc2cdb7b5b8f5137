# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000
refused tamis add seen --frobnicate
refused tamis add seen -x
refused tamis add seen --json=yes
refused tamis add seen --progress --no-progress a
# The nearest of the options that the command takes is offered.
refused tamis add seen --jsno
refused tamis add seen --sync-intervall=5s a
refused tamis --stroe x list
