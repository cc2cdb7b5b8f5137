# SPDX-License-Identifier: BSD-2-Clause
# verify, repair and doctor tell how much they have read, off a terminal where asked for.
# Directory only: reads files
tamis create large -n 10M
tamis create small -n 1000
rate() {
    tail -n 2 told | sed -E 's|[0-9.]+ [KMG]iB/s|RATE|'
}
tamis verify --progress 2>told
rate
tamis verify small large --progress 2>told
rate
tamis doctor --progress 2>told
rate
tamis repair --progress 2>told
rate
tamis verify --no-progress
