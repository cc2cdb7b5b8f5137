# SPDX-License-Identifier: BSD-2-Clause
# Directory only: damages files
# A filter that cannot be opened is told as the catalog has it; a store that cannot be written to will do.
tamis create seen -n 1000
seq 600 | tamis add seen
: >"$TAMIS_STORE/segments/0000000000000001.seg"
tamis drop --dry-run seen
tamis create b -n 1000
chmod -R a+rX,a-w "$TAMIS_STORE"
denied tamis drop --dry-run b
