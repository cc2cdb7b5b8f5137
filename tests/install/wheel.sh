#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# wheel.sh SUITE WHEEL PROGRAM: pip installs the wheel in a fresh Debian that has python3, pip and no compiler, and a user who is
# not root runs the program there.  Run by tests/python/wheels_test.py.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
suite=$1
# shellcheck source=tests/install/debian.sh
. "$here/debian.sh"

fresh base
quietly inside apt-get update
quietly inside apt-get install -y --no-install-recommends python3 python3-pip
for compiler in cc gcc clang tcc; do
    ! inside which "$compiler" >/dev/null || fail "the fresh $suite has a compiler, $compiler"
done
! inside dpkg -s liblmdb0 >/dev/null 2>&1 || fail "the fresh $suite has LMDB"
cp "$2" "$root/tmp/"
cp "$3" "$root/tmp/program.py"
# The mark "externally managed" is for a machine that is kept.
quietly inside env PIP_BREAK_SYSTEM_PACKAGES=1 PIP_ROOT_USER_ACTION=ignore pip install --no-index "/tmp/$(basename "$2")"
inside useradd --create-home newcomer
inside su newcomer -s /bin/sh -c 'cd && python3 /tmp/program.py'
step "$(basename "$2") works on Debian $(cat "$root/etc/debian_version")"
