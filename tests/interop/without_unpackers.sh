#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# without_unpackers.sh TAMIS: a build without zlib and libzstd knows a packed list for what it is, says
# what mends it, and publishes nothing: its bytes are not taken for keys.
set -euo pipefail

tamis=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export TAMIS_STORE=$scratch/store

# refused LIBRARY FILE: with exit status 2, the library and the option that mend it.
refused()
{
    local status=0
    "$tamis" build list "$2" >out 2>err || status=$?
    cat err
    [ "$status" -eq 2 ] && [ ! -s out ]
    grep -q "install $1-dev and configure it with -DTAMIS_WITH_" err
    [ "$("$tamis" check list old new)" = old ]
}

echo old | "$tamis" build list
echo new | gzip -c >list.gz
printf '\050\265\057\375\044\004\041\000\000new\n' >list.zst
refused zlib1g list.gz
refused libzstd list.zst
