# SPDX-License-Identifier: BSD-2-Clause
# Who needs the catalog while a stranger holds its lock waits for as long as --wait says, and says for whom it waited.
# Directory only: another process holds a lock of the directory; a server has none
tamis create seen -n 1000
lock_catalog -x
busy() {
    expect 2 timeout 30 tamis --wait 1 "$@" 2>told
    sed 's/process [0-9]*/process N/; s/for [1-9][0-9.]* s;/for 1 s;/' told
}
busy list
busy check seen a
busy create other -n 10
busy info seen
busy verify
busy sync seen
unlock_catalog
tamis list -q
