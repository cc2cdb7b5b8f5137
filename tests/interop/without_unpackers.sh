#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# without_unpackers.sh TAMIS: a build without zlib and libzstd knows a packed list for what it is, says
# what mends it, and publishes nothing: its bytes are not taken for keys.
# shellcheck source=tests/interop/without.sh
. "$(dirname "${BASH_SOURCE[0]}")/without.sh"

# refused_list LIBRARY FILE
refused_list()
{
    refused "install $1-dev and configure it with -DTAMIS_WITH_" "$tamis" build list "$2"
    [ "$("$tamis" check list old new)" = old ]
}

echo old | "$tamis" build list
echo new | gzip -c >list.gz
printf '\050\265\057\375\044\004\041\000\000new\n' >list.zst
refused_list zlib1g list.gz
refused_list libzstd list.zst
