#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# PHP's own way: phpize, configure and make build the extension on the installed library, and it answers.
# They are built of the files of PECL's package.xml alone, whose versions and those of PIE's composer.json are ours.
# Seen to fail with a package.xml without kept.c, with one of another version, and with a file that is not there.
# TAMIS_PHP is the folder of its sources, TAMIS_PHP_CONFIG the php-config whose PHP it is for.
# shellcheck source=tests/install/support.sh
. "$(dirname "$0")/support.sh"
: "${TAMIS_PHP:?}" "${TAMIS_PHP_CONFIG:?}"

phpize=$(dirname "$TAMIS_PHP_CONFIG")/phpize
for tool in "$phpize" autoconf make python3; do
    command -v "$tool" >/dev/null || {
        echo "skipped: $tool is not installed" >&2
        exit 77
    }
done
python3 - "$TAMIS_PHP" php "$(pkg-config --modversion tamis)" <<'END' || fail "the packages"
import json, os, shutil, sys
from xml.etree import ElementTree
source, to, version = sys.argv[1:]
package = ElementTree.parse(os.path.join(source, "package.xml")).getroot()
found = lambda path: package.findall(path, {"": "http://pear.php.net/dtd/package-2.0"})
assert [node.text for node in found("version/*")] == [version, version], "version"
assert [node.text for node in found("name") + found("providesextension")] == ["tamis", "tamis"], "name"
files = {node.get("name"): node.get("role") for node in found("contents/dir/file")}
assert set(files.values()) == {"src", "doc"}, files
sources = {name for name in os.listdir(source) if name.endswith((".c", ".h", ".m4"))}
unlisted = sources ^ {name for name in files if name.endswith((".c", ".h", ".m4"))}
assert not unlisted, unlisted
os.mkdir(to)
for name in files:
    shutil.copy2(os.path.join(source, name), to)
with open(os.path.join(source, "composer.json"), encoding="utf-8") as file:
    pie = json.load(file)
assert (pie["type"], pie["php-ext"]["extension-name"], "version" in pie) == ("php-ext", "tamis", False), pie # PIE takes that of the tag
minimum, = found("dependencies/required/php/min")
assert pie["require"]["php"] == ">=" + minimum.text.removesuffix(".0"), minimum.text
END
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
