# SPDX-License-Identifier: BSD-2-Clause
tamis create a -n 1000
cp "$TAMIS_STORE/segments/0000000000000001.seg" "$TAMIS_STORE/segments/0000000000000099.seg"
: >"$TAMIS_STORE/segments/"$'odd\nname'
refused tamis verify
