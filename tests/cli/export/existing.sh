# SPDX-License-Identifier: BSD-2-Clause
# A file that is there is replaced with --force only, and then as a whole.
tamis create seen -n 100
echo old >file
expect 2 tamis export seen --to tamis file
cat file
tamis export seen --to tamis file --force
tamis import again --from tamis file
ln -s file link
expect 2 tamis export seen --to tamis link
umask 027
tamis export seen --to tamis new --json
stat -c %a new
here
