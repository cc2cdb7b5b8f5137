# SPDX-License-Identifier: BSD-2-Clause
# Off a terminal progress is printed where asked for; of a file it ends at 100 %.
tamis create seen -n 10M
tamis export seen --to tamis whole --progress 2>told
tail -n 1 told | sed -E 's/[0-9.]+ [KMG]iB\/s/RATE/'
tamis import x --from tamis whole --progress 2>told
tail -n 1 told | sed -E 's/[0-9.]+ [KMG]iB\/s/RATE/'
tamis import y --from tamis - --progress <whole 2>told
tail -n 1 told | sed -E 's/[0-9.]+ [KMG]iB\/s/RATE/'
tamis import z --from tamis whole
tamis export z --to tamis again --no-progress
