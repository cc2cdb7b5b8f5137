#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# generate.sh tamis_ffi.h [BINDGEN]: prints the declarations of the header as bindgen makes them; src/bindings.rs is its output.
#
# generate.sh --check tamis_ffi.h: is src/bindings.rs what this has printed for that header?  It compares what the file's head says with
# the header and the file, and needs no bindgen, which takes a minute and a half to be compiled.
set -eu

# digests HEADER, with the declarations as input
digests()
{
    echo "// SHA-256 of the header $(sha256sum <"$1" | cut -d ' ' -f 1),"
    echo "// of what follows $(sha256sum | cut -d ' ' -f 1)"
}

if [ "$1" = --check ]; then
    file=$(dirname "$0")/src/bindings.rs
    said=$(sed -n 3,4p "$file")
    is=$(tail -n +5 "$file" | digests "$2")
    [ "$said" = "$is" ] || {
        echo "$file is not that of this header, or was changed by hand; 'generate.sh tamis_ffi.h' makes it anew" >&2
        printf '%s\n---- is\n%s\n' "$said" "$is" >&2
        exit 1
    }
    exit
fi
work=$(mktemp)
trap 'rm -f "$work"' EXIT
"${2:-bindgen}" "$1" --allowlist-item '(tamis|TAMIS)_.*' --default-enum-style consts --no-prepend-enum-name \
    --use-core --no-doc-comments --disable-header-comment --merge-extern-blocks --rust-edition 2021 --rust-target 1.77 \
    -- -include stddef.h -include stdint.h >"$work"
echo '// SPDX-License-Identifier: BSD-2-Clause'
echo '// Made of tamis_ffi.h by generate.sh.'
digests "$1" <"$work"
cat "$work"
