# SPDX-License-Identifier: BSD-2-Clause
# Who may only read a store gets what its owner gets.  Seen to fail with a look at a
# segment's header that opens its file for writing.
# Directory only: a server opens its files itself
tamis create --names - -n 100 --mode 0644 <<<$'one\ntwo\nthree'
tamis create large -n 10k
tamis create keeps -n 100
tamis except keeps add other
for name in one large keeps; do tamis add $name key >/dev/null; done
seq 2000 | tamis add two >/dev/null # it grows
tamis sync
# A killed process has counted nothing in the catalog, so only the headers say what it added.
for name in one large; do
    coproc adder { exec tamis add --new $name; }
    echo late >&"${adder[1]}"
    read -r _ <&"${adder[0]}"
    # shellcheck disable=SC2154 # coproc sets it
    kill -KILL "$adder_PID"
    wait "$adder_PID" 2>killed
done
# Commands that read: each on the whole store and on each filter.
look() {
    local name
    "$@" tamis list --live
    "$@" tamis list --json
    "$@" tamis verify
    "$@" tamis doctor
    for name in one two three large keeps; do
        "$@" tamis list --segments $name
        "$@" tamis info $name --all
        "$@" tamis info $name --json
        "$@" tamis verify $name
        "$@" tamis check $name key
        "$@" tamis check $name 1999
        "$@" tamis export $name --to tamis - | cksum
        "$@" tamis explain $name key
    done
}
look env >owner 2>&1
chmod -R a-w,a+rX "$TAMIS_STORE" # so also where all run as one user
denied true
look denied >reader 2>&1
cmp owner reader || diff owner reader
echo "$(grep -c 'segments/' owner) lines name a segment, $(grep -ci 'denied\|cannot' reader) a failure"
[ "$(tamis list --recorded one)" != "$(tamis list --live one)" ] || echo "the catalog knows it"
