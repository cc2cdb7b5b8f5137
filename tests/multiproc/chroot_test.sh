#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# chroot_test.sh PROGRAM: containers_test in a chroot, whose "/" is no mount, is skipped and says why.
#
# Seen to fail while the program took a mount that is refused for a failure.
set -euo pipefail

if [ "$(id -u)" != 0 ] || ! unshare -m true 2>/dev/null; then
    echo "skipped: a chroot with mounts of its own takes root" >&2
    exit 77
fi
program=$(readlink -f "$1")
root=$(mktemp -d)
trap 'rmdir "$root"/* "$root"' EXIT

# What the program needs of this machine, and the directory that it is in.
status=0
said=$(unshare -m --propagation private bash -c '
    root=$1 program=$2
    for part in usr lib lib64 dev proc; do
        if [ -e "/$part" ]; then
            mkdir "$root/$part"
            mount --rbind "/$part" "$root/$part"
        fi
    done
    mkdir "$root/work"
    mount --bind "$(dirname "$program")" "$root/work"
    TMPDIR=/dev/shm exec chroot "$root" "/work/$(basename "$program")"' bash "$root" "$program" 2>&1) || status=$?
echo "$said"
[ "$status" = 77 ] || {
    echo "FAILED: the status is $status, not 77" >&2
    exit 1
}
grep -q 'SKIPPED.*as in a chroot' <<<"$said" || {
    echo "FAILED: it does not say why" >&2
    exit 1
}
