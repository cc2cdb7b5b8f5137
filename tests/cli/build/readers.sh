# SPDX-License-Identifier: BSD-2-Clause
# A process that reads all the time goes over to each new generation by itself.
seq 1000 >keys
tamis build list keys
mkfifo questions answers
tamis check list <questions >answers &
exec 3>questions 4<answers
ask() {
    local line
    printf '%s\n' "$1" 1 >&3 # 1 is in each of them: it says that the answer to the other is over
    while read -r line <&4 && [ "$line" != 1 ]; do echo "$line"; done
}
ask new
(cat keys && echo new) | tamis build list
ask new
tamis except list add new
ask new
tamis except list remove new
ask new
tamis rollback list
ask new
exec 3>&- 4<&-
wait
