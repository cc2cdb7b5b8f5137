# SPDX-License-Identifier: BSD-2-Clause
# --keep is part of what --if-changed compares: fewer generations too.
seq 10 >keys
tamis build list keys --keep 5 2>/dev/null
tamis build list keys --keep 5 --if-changed 2>/dev/null
tamis info list generation
tamis info list keep
tamis build list keys --keep 2 --if-changed 2>/dev/null
tamis info list generation
tamis info list keep
