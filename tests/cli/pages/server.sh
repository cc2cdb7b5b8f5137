# SPDX-License-Identifier: BSD-2-Clause
# create has the setting on a server too, and so has a filter that is made like another.
tamis create f -n 1000 --pages huge
tamis create g -n 1000
tamis create h --like f
for name in f g h; do tamis info "$name" pages; done
tamis create f -n 1000 --pages huge --if-missing
refused tamis create i -n 1000 --pages large
