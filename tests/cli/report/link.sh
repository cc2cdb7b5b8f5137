# SPDX-License-Identifier: BSD-2-Clause
# A symbolic link stays one, and the file that it leads to is replaced, also where that is not there yet.
# Seen to fail before: the link itself was replaced by the page.
tamis create seen -n 100
mkdir www
echo old >www/page.html
ln -s www/page.html link
ln -s link second
ln -s ../www/new.html www/dangling
ln -s loop loop
tamis report seen -o second
tamis report seen -o www/dangling
readlink second link www/dangling
head -c 15 www/page.html
head -c 15 www/new.html
expect 2 tamis export seen --to tamis link
tamis export seen --to tamis link --force
readlink link
tamis import again --from tamis www/page.html
tamis list -q
ls www
expect 2 tamis report seen -o loop
