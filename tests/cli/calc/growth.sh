# SPDX-License-Identifier: BSD-2-Clause
# -n alone is for 1 %, and what growth costs is told; --on-full goes with -n and -p.
tamis calc -n 1000
tamis calc -n 1000 --on-full refuse
tamis calc -n 1M --kind bloom --json
refused tamis calc --on-full warn -m 1000 -k 3
refused tamis calc --on-full warn --memory 1M
refused tamis calc -p 1%
