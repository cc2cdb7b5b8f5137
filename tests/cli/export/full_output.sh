# SPDX-License-Identifier: BSD-2-Clause
# A disk that is full, a pipe that is closed, a device: said, and no half file is left.
tamis create seen -n 100k
expect 2 tamis export seen --to tamis /dev/full
expect 2 tamis export seen --to tamis - >/dev/full
tamis export seen --to tamis - | true
echo "${PIPESTATUS[0]}"
tamis export seen --to tamis /dev/null
(ulimit -f 10 && expect 2 tamis export seen --to tamis file)
here
