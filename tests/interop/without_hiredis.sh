#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# without_hiredis.sh TAMIS: a build without hiredis refuses a server with what mends it, and makes
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
    grep -q 'libhiredis-dev.*TAMIS_WITH_HIREDIS=ON' err
}

refused "$tamis" import x --from redis://127.0.0.1:6379/0 key --hash-set php:js
[ ! -e store ]
"$tamis" create there -n 10 --hash-set guava
refused "$tamis" export there --to redis://127.0.0.1:6379/0 key --force
[ "$("$tamis" list -q)" = there ]
