#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# tamis_ffi.h as it is installed has nothing that a foreign-function interface cannot read, and Python's cffi,
# PHP's FFI and LuaJIT make, fill and ask a filter by it.
# shellcheck source=tests/install/support.sh
. "$(dirname "$0")/support.sh"

here=$(cd "$(dirname "$0")" && pwd)
header=$TAMIS_PREFIX/include/tamis_ffi.h
library=$TAMIS_LIBDIR/libtamis.so
if grep -nE '^[ \t]*#|__attribute__|static|inline|extern' "$header"; then
    fail "tamis_ffi.h has what is no plain declaration"
fi
# Every call of the library is in it.
for call in $(nm -D --defined-only "$library" | sed -n 's/.* T \(tamis_[a-z_]*\)$/\1/p'); do
    grep -q "\\b$call(" "$header" || fail "tamis_ffi.h lacks $call()"
done
tried=0
if python3 -c 'import cffi' 2>/dev/null; then
    python3 "$here/ffi.py" "$header" "$library" "$PWD/store.python" || fail "Python's cffi"
    tried=$((tried + 1))
fi
if php -r 'exit(extension_loaded("ffi") ? 0 : 1);' 2>/dev/null; then
    php -d ffi.enable=1 -d zend.assertions=1 "$here/ffi.php" "$header" "$library" "$PWD/store.php" ||
        fail "PHP's FFI"
    tried=$((tried + 1))
fi
if command -v luajit >/dev/null; then
    luajit "$here/ffi.lua" "$header" "$library" "$PWD/store.lua" || fail "LuaJIT"
    tried=$((tried + 1))
fi
[ "$tried" -gt 0 ] || exit 77
