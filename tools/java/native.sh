#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# native.sh DIRECTORY: makes DIRECTORY/jar/natives/OS-PROCESSOR, the native part of the jar.  Maven calls it.
#
# Without more, the library is built from the sources two folders above and becomes part of libtamis_jni.so; a copy of
# this system's LMDB lies beside it, so that the jar needs the C library alone where it runs.  The hash sets md5 and sip
# are left out of it.  In the environment:
#
#   TAMIS_BUNDLE=0       links the libtamis that pkg-config knows, and puts nothing beside it
#   TAMIS_JNI=FILE       takes this libtamis_jni.so
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$1
natives=$out/jar/natives/linux-$(uname -m)

java_home()
{
    local javac
    javac=$(readlink -f "$(command -v javac)") || {
        echo "native.sh: no javac: install a JDK of Java 17 or later" >&2
        exit 1
    }
    echo "${javac%/bin/javac}"
}

need()
{
    local program
    for program; do
        command -v "$program" >/dev/null || {
            echo "native.sh: $program is missing; it takes a C compiler, cmake, make, pkg-config, liblmdb-dev and libxxhash-dev" >&2
            exit 1
        }
    done
}

installed()
{
    local flags home
    need cc pkg-config
    home=$(java_home)
    flags=$(pkg-config --cflags --libs tamis) || {
        echo "native.sh: TAMIS_BUNDLE=0, and pkg-config does not know libtamis" >&2
        exit 1
    }
    # shellcheck disable=SC2086 # words
    cc -std=c11 -D_GNU_SOURCE -O2 -fPIC -fvisibility=hidden -shared -isystem "$home/include" -isystem "$home/include/linux" \
        -o "$natives/libtamis_jni.so" "$here"/jni/*.c $flags
}

bundle()
{
    local top build=$out/library lmdb option options=()
    need cc cmake pkg-config
    top=$(cd "$here/../.." && pwd)
    for option in BUILD_TOOLS BUILD_REDIS BUILD_PYTHON BUILD_PHP BUILD_TESTS WITH_MD5 WITH_SIP WITH_IDN; do
        options+=("-DTAMIS_$option=OFF")
    done
    # A folder that was begun for sources elsewhere is refused by CMake.
    grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$top" "$build/CMakeCache.txt" 2>/dev/null || rm -rf "$build"
    cmake -S "$top" -B "$build" "${options[@]}" -DTAMIS_BUILD_JAVA=ON "-DCMAKE_BUILD_RPATH=\$ORIGIN" >"$out/configured"
    cmake --build "$build" --target tamis_jni -j "$(nproc)" >"$out/built" 2>&1 || {
        cat "$out/built" >&2
        exit 1
    }
    lmdb=$(ldd "$build/java/libtamis_jni.so" | sed -n 's/.*liblmdb\.so\.0 => \([^ ]*\).*/\1/p')
    cp "$build/java/libtamis_jni.so" "$natives/"
    cp -L "$lmdb" "$natives/liblmdb.so.0"
    # Its licence, where the system has it.
    cp /usr/share/doc/liblmdb0/copyright "$natives/liblmdb.copyright" 2>/dev/null || true
    strip --strip-unneeded "$natives/libtamis_jni.so"
}

rm -rf "$out/jar"
mkdir -p "$natives"
if [ -n "${TAMIS_JNI-}" ]; then
    cp "$TAMIS_JNI" "$natives/libtamis_jni.so"
elif [ "${TAMIS_BUNDLE-1}" = 0 ]; then
    installed
else
    bundle
fi
