#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# overlay_test.sh TAMIS: a store that came with a container image.
#
# On overlayfs a file of a lower layer is copied into the upper one when it is first opened for writing, and who had
# opened it to read keeps the old one: bits that are added later never reach it.  So each reader has the files copied
# before it reads them.  A store of one filter that grows and one that is built is put into a lower layer; a process
# opens it to read, then another adds and builds; the reader must find all of it.
#
# Seen to fail with tamis__overlay_copy_up() of store/os/overlay.c doing nothing.
set -uo pipefail
export LC_ALL=C.UTF-8
unset TAMIS_STORE XDG_STATE_HOME
skip()
{
    echo "skipped: $1"
    exit 77
}
[ "$(id -u)" -eq 0 ] || skip "root alone may mount"
command -v setpriv >/dev/null || skip "setpriv is not installed"
if [ "${TAMIS_OVERLAY_NAMESPACE:-}" != 1 ]; then
    unshare -m true 2>/dev/null || skip "a mount namespace is not permitted here"
    TAMIS_OVERLAY_NAMESPACE=1 exec unshare -m "$0" "$@"
fi

binary=$(realpath "$1") scratch=$(mktemp -d)
mount -t tmpfs -o mode=755 tmpfs "$scratch" 2>/dev/null || skip "mounting is not permitted here"
trap 'cd /; exec 4>&- 5>&-; wait; umount -R "$scratch"; rmdir "$scratch"' EXIT
cd "$scratch" || exit 1
mkdir lower upper work merged fresh
cp "$binary" tamis
tamis=$scratch/tamis store=$scratch/merged/store
failures=0
failed()
{
    failures=$((failures + 1))
    echo "FAILED: $*"
}

seq 100 | "$tamis" --store lower/store create grows -n 100 >/dev/null
"$tamis" --store lower/store add grows first
seq 1000 | "$tamis" --store lower/store build list 2>/dev/null
mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged 2>/dev/null ||
    skip "overlayfs is not there, or not permitted here"

# A reader that is asked a line at a time.
reader() # FILTER FD NAME
{
    mkfifo "$3.in"
    "$tamis" --store "$store" check "$1" <"$3.in" >"$3.out" 2>"$3.err" &
    eval "exec $2>$3.in"
}
# It has it open when it has answered.
asked() # FD NAME KEY
{
    echo "$3" >&"$1"
    for _ in {1..1200}; do # a minute, where the machine is busy
        grep -qx "$3" "$2.out" && return
        sleep 0.05
    done
    failed "$2: $3 is not there: $(cat "$2.err")"
}

reader grows 4 grows
reader list 5 list
asked 4 grows first
asked 5 list 7
[ -z "$(cat grows.err list.err)" ] || failed "$(cat grows.err list.err)"
"$tamis" --store "$store" add grows second
"$tamis" --store "$store" sync
asked 4 grows second
seq 1001 2000 | "$tamis" --store "$store" add grows # into further segments
asked 4 grows 2000
seq 500 1500 | "$tamis" --store "$store" build list 2>/dev/null
asked 5 list 1500
"$tamis" --store "$store" except list add 600
echo 600 >&5
asked 5 list 601
grep -qx 600 list.out && failed "a reader does not see an exception"
exec 4>&- 5>&-
wait

# The lock holds between who reads only and who writes.
exec 6<"$store/catalog.lock"
flock -s 6
"$tamis" --store "$store" --wait 100ms create other -n 10 2>err && failed "a lock to read does not keep a writer out"
exec 6<&-
"$tamis" --store "$store" verify >/dev/null || failed "verify"

# Who may not write cannot have the files copied: told, with the mend, and not answered from files that may be old.
umount merged && rm -rf upper work && mkdir upper work
mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged
stranger() { setpriv --reuid 54321 --regid 54321 --clear-groups "$tamis" "$@"; }
stranger --store "$store" check grows first 2>err && failed "a reader without permission was answered"
grep -q 'is on overlayfs.*user 54321 may not write.*have the store on a volume' err || failed "not said: $(cat err)"
stranger --store "$store" --force-network-fs check -q grows first || failed "it does not take the risk"

# Where nobody may write nothing is ever copied.
mount -o remount,ro merged
stranger --store "$store" check -q grows first || failed "a store that is mounted read-only: reader"
"$tamis" --store "$store" check -q grows first || failed "a store that is mounted read-only: root"
[ -z "$(find upper -type f)" ] || failed "a read-only mount was written to"

# On a volume there is nothing to it, and what a container makes itself is in the upper layer: anybody reads it who may.
mount -o remount,rw merged
"$tamis" --store "$scratch/merged/own" create own -n 10 && "$tamis" --store "$scratch/merged/own" add own key
"$tamis" --store "$scratch/merged/own" check -q own key || failed "a store of the upper layer"
if [ "$(printf '%s\n' 6.6 "$(uname -r)" | sort -V | head -1)" = 6.6 ]; then # the kernel tells since then
    stranger --store "$scratch/merged/own" check -q own key || failed "a store of the upper layer: a reader"
fi
cp -a lower/store fresh/store
mkdir "$scratch/merged/volume" && mount --bind fresh "$scratch/merged/volume"
stranger --store "$scratch/merged/volume/store" check -q grows first || failed "a store on a volume"

echo "overlay: $failures failures, ${SECONDS} s"
[ $failures -eq 0 ]
