# SPDX-License-Identifier: BSD-2-Clause
# --keep is remembered; generations beyond it go.
for night in 1 2 3; do echo "$night" | tamis build list; done
tamis generations list | cut -c -28
for night in 4 5 6; do echo "$night" | tamis build list --keep 2; done
echo 7 | tamis build list
tamis generations list | cut -c -28
echo 8 | tamis build list --keep 0
tamis generations list | cut -c -28
ls "$TAMIS_STORE/segments" | wc -l
refused tamis rollback list
tamis verify
