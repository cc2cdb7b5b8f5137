# SPDX-License-Identifier: BSD-2-Clause
# A page that is there is replaced by a whole one, or not at all; a new one has the mode of umask.
tamis create seen -n 100k
echo old >page.html
(ulimit -f 8 && expect 2 tamis report seen -o page.html)
cat page.html
tamis report seen -o page.html
head -c 15 page.html
tail -n 1 page.html
umask 027
tamis report seen -o new.html
stat -c %a new.html
ls
