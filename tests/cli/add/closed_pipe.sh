# SPDX-License-Identifier: BSD-2-Clause
# Whoever reads the answers has gone: a sentence and exit 2.
tamis create seen -n 100k
{ seq 1 100000 | tamis add --new seen; echo "exit $?" >status; } | head -n 1
cat status
