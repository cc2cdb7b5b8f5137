#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# without_hiredis.sh TAMIS: a build without hiredis refuses a server with what mends it, and makes
# nothing.
# shellcheck source=tests/interop/without.sh
. "$(dirname "${BASH_SOURCE[0]}")/without.sh"

readonly install='libhiredis-dev.*TAMIS_WITH_HIREDIS=ON'
refused "$install" "$tamis" import x --from redis://127.0.0.1:6379/0 key --hash-set php:js
[ ! -e store ]
"$tamis" create there -n 10 --hash-set guava
refused "$install" "$tamis" export there --to redis://127.0.0.1:6379/0 key --force
[ "$("$tamis" list -q)" = there ]
