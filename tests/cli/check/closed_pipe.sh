# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000
{ seq 1 300000 | tamis check -v seen; echo "exit $?" >status; } | head -n 1
cat status
