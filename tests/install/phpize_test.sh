#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# PHP's own way: phpize, configure and make build the extension on the installed library, and it answers.
# TAMIS_PHP is the folder of its sources, TAMIS_PHP_CONFIG the php-config whose PHP it is for.
# shellcheck source=tests/install/support.sh
. "$(dirname "$0")/support.sh"
: "${TAMIS_PHP:?}" "${TAMIS_PHP_CONFIG:?}"

phpize=$(dirname "$TAMIS_PHP_CONFIG")/phpize
for tool in "$phpize" autoconf make; do
    command -v "$tool" >/dev/null || {
        echo "skipped: $tool is not installed" >&2
        exit 77
    }
done
cp -R "$TAMIS_PHP" php
cd php
{
    "$phpize"
    ./configure --with-php-config="$TAMIS_PHP_CONFIG" CC="$CC" CFLAGS="-O1 -Wall -Werror"
    make
} >../log 2>&1 || {
    cat ../log
    fail "phpize, configure and make"
}
readelf -d modules/tamis.so | grep -q 'NEEDED.*libtamis\.so\.0' || fail "not linked to libtamis.so.0"
readelf -d modules/tamis.so | grep -q NODELETE || fail "PHP would unload the library"
php=$("$TAMIS_PHP_CONFIG" --php-binary)
export LD_LIBRARY_PATH=$TAMIS_LIBDIR
# shellcheck disable=SC2016
answers=$("$php" -n -d "extension=$PWD/modules/tamis.so" -r '
    $f = (new Tamis\Store($argv[1]))->create("f", 100);
    echo phpversion("tamis"), json_encode([$f->add("a"), $f->add("a"), $f->hasMany(["x" => "a", "y" => "b"])]);' "$scratch/store")
expect "$(pkg-config --modversion tamis)[true,false,{\"x\":true,\"y\":false}]" "$answers" "the extension by phpize"

# Without the library, configure says what is missing.
PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=/nowhere ./configure --with-php-config="$TAMIS_PHP_CONFIG" >../log 2>&1 &&
    fail "configure goes on without libtamis"
grep -q 'tamis' ../log || fail "configure does not name what it lacks: $(cat ../log)"
