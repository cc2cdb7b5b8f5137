#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# gen_arginfo.sh [DIRECTORY]: make *_arginfo.h from those *.stub.php that ask for it, by PHP's own gen_stub.php (php-dev) and
# the parser that it would load from the net (Debian's php-parser).  With a directory, there and not beside the stubs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
to=${1:-$here}
generator=$(php-config --extension-dir)/build/gen_stub.php
parser=/usr/share/php/PhpParser
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$generator" "$here"/*.stub.php "$work"
version=$(sed -n 's/^ *\$version = "\([0-9.]*\)";/\1/p' "$generator" | head -1)
mkdir -p "$work/PHP-Parser-$version/lib"
ln -s "$parser" "$work/PHP-Parser-$version/lib/PhpParser"
grep -l generate-class-entries "$work"/*.stub.php | while IFS= read -r stub; do
    php -d error_reporting=8191 -d display_errors=0 "$work/gen_stub.php" "$stub" >/dev/null
done
cp "$work"/*_arginfo.h "$to"
