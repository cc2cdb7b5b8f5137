#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# arginfo.sh TOOLS-PHP: the headers beside the stubs are what PHP's generator makes of them.
set -euo pipefail
[ -d /usr/share/php/PhpParser ] || {
    echo "skipped: install php-parser" >&2
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1/gen_arginfo.sh" "$work"
for header in "$1"/*_arginfo.h; do
    diff -u "$header" "$work/${header##*/}" || {
        echo "run tools/php/gen_arginfo.sh" >&2
        exit 1
    }
done
