# SPDX-License-Identifier: BSD-2-Clause
# Queues of tamis.Frontier are not copied, and that is told.  Nothing takes them for stray files.
tamis create seen -n 1000
mkdir -p store/queues
touch store/queues/crawl.sqlite
expect 0 tamis backup copy
ls copy
tamis verify
tamis repair
ls store/queues
