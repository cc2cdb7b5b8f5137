# SPDX-License-Identifier: BSD-2-Clause
# Directory only: a store on a server has no file to damage.
# With a third word --answer goes on without a filter, and finds it when it comes.
coproc helper { exec tamis check list --answer yes,no,unknown 2>told; }
exec 3<&"${helper[0]}" 4>&"${helper[1]}"
# ask KEY WORD: until the answer is WORD, as the filter is looked for once a second
ask() {
    local answer end=$((SECONDS + 30))
    while [ $SECONDS -lt $end ]; do
        echo "$1" >&4
        read -r answer <&3
        [ "$answer" != "$2" ] || break
    done
    echo "$1 $answer"
}
ask apple unknown
echo apple | tamis build list
ask apple yes
ask plum no
echo plum | tamis build list
ask plum yes
truncate -s 4000 store/segments/*
ask plum unknown
echo plum | tamis build list
ask plum yes
mv store away
ask plum unknown
mv away store
ask plum yes
tamis drop list </dev/null
ask plum unknown
tamis create list -n 100
tamis add list pear
ask pear yes
eval "exec 4>&- ${helper[1]}>&-"
# shellcheck disable=SC2154 # coproc sets it
wait "$helper_PID"
echo "status $?" # some questions had no answer
sed -E 's/ (is|was) .*/ .../; s/;.*//' told | sort -u
expect 2 tamis check none --answer yes,no,unknown apple
expect 0 tamis check list --answer yes,no,unknown pear apple
expect 2 tamis check list --answer yes,no,unknown --populate pear
