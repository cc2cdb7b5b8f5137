# SPDX-License-Identifier: BSD-2-Clause
# --populate: the same answers.
# Directory only: --populate and --no-sync are for files
tamis create seen -n 1000
printf 'a\nb\na\n' | tamis add --populate --new seen
tamis add --populate --no-sync --seen seen b c
