#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# generate.sh tamis_ffi.h [BINDGEN]: prints the declarations of the header as bindgen makes them; src/bindings.rs is its output.
set -eu
{
    echo '// SPDX-License-Identifier: BSD-2-Clause'
    echo '// Made of tamis_ffi.h by generate.sh.'
    "${2:-bindgen}" "$1" --allowlist-item '(tamis|TAMIS)_.*' --default-enum-style consts --no-prepend-enum-name \
        --use-core --no-doc-comments --disable-header-comment --merge-extern-blocks --rust-edition 2021 --rust-target 1.77 -- -include stddef.h -include stdint.h
}
