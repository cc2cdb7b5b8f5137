#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# huge_pages.sh COMMAND...: run a test with filters that are set to have huge pages (pages.h), on an ext4 that is in memory:
# a file of a tmpfs itself would not leave memory when its pages come anew.  Where that cannot be mounted, which takes root
# and a loop device, the test runs where it would run without this.
set -u

export TAMIS_TEST_PAGES=huge
where=$(mktemp -d "$([ -w /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}")/tamis-huge-XXXXXX") || exit 2
mkdir "$where/disk"
truncate -s 2G "$where/image"
PATH=$PATH:/usr/sbin:/sbin
if mkfs.ext4 -q -m 0 "$where/image" >"$where/said" 2>&1 && mount -o loop "$where/image" "$where/disk" 2>>"$where/said"; then
    trap 'umount "$where/disk"; rm -rf "$where"' EXIT
    export TMPDIR=$where/disk
else
    echo "no ext4 in memory here: $(tail -n 1 "$where/said")"
    rm -rf "$where"
fi
"$@"
