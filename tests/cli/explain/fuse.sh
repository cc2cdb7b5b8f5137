# SPDX-License-Identifier: BSD-2-Clause
# Of a static filter: digest and fingerprint, and the three slots whose XOR is the fingerprint of a key
# that is in.
# Directory only: builds, which is done where the files are
seq 1000 | tamis build list -p 1e-3
tamis explain list 1 1000 stranger
tamis explain --json list 7
