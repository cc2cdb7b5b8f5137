#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# without_libsodium.sh TAMIS: a build without libsodium refuses hash set sip with what mends it, and makes
# nothing.
set -euo pipefail

tamis=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export TAMIS_STORE=$scratch/store

# refused COMMAND...: with exit status 2, the package and the option that mend it, and nothing done.
refused()
{
    local status=0
    "$@" >out 2>err || status=$?
    cat err
    [ "$status" -eq 2 ] && [ ! -s out ]
    grep -q 'libsodium-dev.*TAMIS_WITH_SIP=ON' err
}

refused "$tamis" create x -n 10 --hash-set sip
[ ! -e store ]
"$tamis" create there -n 10
printf 'a\n' >keys
refused "$tamis" build list --hash-set sip keys
[ "$("$tamis" list -q)" = there ]
