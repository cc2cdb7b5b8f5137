# SPDX-License-Identifier: BSD-2-Clause
# Keys that were refused are not counted as new.
tamis create small -n 2 --on-full refuse
tamis add small --stats a b c d 2>&1 | sed 's/[0-9.]* s$/some s/'
tamis info small items
