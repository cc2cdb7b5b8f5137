#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The library's variables of each thread are few bytes, so a process can load it beside the extensions of Python and PHP,
# each of which has a copy inside.  Seen to fail with 1,088 bytes in each: "cannot allocate memory in static TLS block".
# shellcheck source=tests/install/support.sh
. "$(dirname "$0")/support.sh"

library=$TAMIS_LIBDIR/libtamis.so
# thread_bytes FILE: what it takes of the room that glibc keeps for libraries that are loaded later.
thread_bytes()
{
    readelf -lW "$1" | awk '$1 == "TLS" { print $6 }'
}
extension=$TAMIS_BUILD/python/tamis/_tamis.abi3.so
php_extension=$TAMIS_BUILD/php/tamis.so
for file in "$library" "$extension" "$php_extension"; do
    [ -e "$file" ] || continue
    bytes=$(($(thread_bytes "$file")))
    [ "$bytes" -le 128 ] || fail "$file has $bytes bytes of each thread; base/thread.h says what for"
done

# The library copied ten times stands for plugins that have it inside.
for i in 1 2 3 4 5 6 7 8 9 10; do
    cp "$(readlink -f "$library")" "$PWD/copy.$i.so"
done
if [ -e "$extension" ]; then
    PYTHONPATH=$TAMIS_BUILD/python /usr/bin/python3 - "$library" "$PWD"/copy.*.so <<'END' || fail "libtamis.so beside import tamis"
import ctypes, sys, tamis
for path in sys.argv[1:]:
    library = ctypes.CDLL(path)
    library.tamis_version.restype = library.tamis_last_error.restype = ctypes.c_char_p
    assert library.tamis_version().decode() == tamis.version()
    assert library.tamis_filter_check(None, b"", None) < 0 and library.tamis_last_error()
END
fi
if [ -e "$php_extension" ] && php -r 'exit(extension_loaded("ffi") ? 0 : 1);' 2>/dev/null; then
    # shellcheck disable=SC2016 # variables of PHP
    php -d ffi.enable=1 -d extension="$php_extension" -r '
        new Tamis\Store($argv[1]);
        foreach (array_slice($argv, 2) as $path)
            $library[] = FFI::cdef("const char *tamis_version(void);", $path);
        exit($library[0]->tamis_version() === "" ? 1 : 0);' "$PWD/store" "$library" "$PWD"/copy.*.so ||
        fail "libtamis.so by FFI beside the extension of PHP"
fi
