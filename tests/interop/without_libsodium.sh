#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# without_libsodium.sh TAMIS: a build without libsodium refuses hash set sip with what mends it, and makes
# nothing.
# shellcheck source=tests/interop/without.sh
. "$(dirname "${BASH_SOURCE[0]}")/without.sh"

readonly install='libsodium-dev.*TAMIS_WITH_SIP=ON'
refused "$install" "$tamis" create x -n 10 --hash-set sip
[ ! -e store ]
"$tamis" create there -n 10
printf 'a\n' >keys
refused "$install" "$tamis" build list --hash-set sip keys
[ "$("$tamis" list -q)" = there ]
