# SPDX-License-Identifier: BSD-2-Clause
# A directory with other files is no place for a store, whichever command would make it; a new or an
# empty one is, and so is one in which a maker was killed.
# Directory only: makes directories
mkdir etc empty begun
echo root > etc/passwd
mkdir begun/segments
touch begun/catalog.lock empty/.gitkeep
refused tamis create f -n 1000 --store etc
refused tamis build f etc/passwd --store etc
ls etc
for store in empty begun new/deep; do
    tamis create f -n 1000 --store "$store"
    tamis list -q --store "$store"
done
echo note > new/deep/note    # what comes later disturbs nobody
tamis create g -n 1000 --store new/deep
