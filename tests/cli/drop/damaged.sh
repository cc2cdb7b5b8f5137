# SPDX-License-Identifier: BSD-2-Clause
# A filter whose file is damaged or gone can be dropped.
# Directory only: damages files
tamis create a -n 1000
tamis create b -n 1000
: >"$TAMIS_STORE/segments/0000000000000001.seg"
rm "$TAMIS_STORE/segments/0000000000000002.seg"
tamis drop a b
tamis list -q
ls -A "$TAMIS_STORE/segments"
tamis verify
