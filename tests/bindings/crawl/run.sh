#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run.sh OUT: builds the crawlers whose tools are there in OUT, and runs crawl.py with all of them.  Of the environment: TAMIS_PYTHON and
# PYTHONPATH for the driver, and
#
#   TAMIS_SCRAPY               an interpreter that has Scrapy
#   TAMIS_GO, TAMIS_GO_FOLDER  the go command, and the folder whose pkgconfig/ leads to the library
#   TAMIS_CARGO, TAMIS_LIBRARY_DIR, TAMIS_INCLUDE_DIR  cargo, and the library for its crate
#   TAMIS_NODE, TAMIS_NPM, TAMIS_NODE_PACKAGE  the package of Tamis, with its addon
#   TAMIS_MVN, TAMIS_JAR       the jar of Tamis, with its native part
#
# An empty one leaves its crawler out, and so does a registry that cannot be reached; both are told.  Status 77: fewer than two are left.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../../.." && pwd)
out=$1
mkdir -p "$out"
commands=() count=0

add()
{
    [ "$count" -eq 0 ] || commands+=(--)
    commands+=("$@")
    count=$((count + 1))
}

left_out()
{
    echo "run.sh: $1 is left out: $2" >&2
}

# get WHAT COMMAND...: false if the packages did not come.
get()
{
    local what=$1
    shift
    "$@" >"$out/get-$what" 2>&1 </dev/null && return
    tail -n 20 "$out/get-$what" >&2
    left_out "$what" "its packages did not come"
    return 1
}

if [ -n "${TAMIS_SCRAPY-}" ] && "$TAMIS_SCRAPY" -c 'import scrapy' 2>/dev/null; then
    add scrapy "$TAMIS_SCRAPY" -B "$here/scrapy_crawler.py"
else
    left_out scrapy "there is no Scrapy"
fi

if [ -z "${TAMIS_GO-}" ]; then
    left_out colly "there is no go"
elif export GOFLAGS='-buildvcs=false -mod=readonly -tags=tamis_installed' GOTOOLCHAIN=local GOWORK=off &&
    get colly "$TAMIS_GO" -C "$here/go" mod download; then
    PKG_CONFIG_PATH=$TAMIS_GO_FOLDER/pkgconfig "$TAMIS_GO" -C "$here/go" build -o "$out/colly" .
    add colly "$out/colly"
fi

if [ -z "${TAMIS_CARGO-}" ]; then
    left_out ureq "there is no cargo"
else
    # Cargo writes its lock file beside what it builds.
    mkdir -p "$out/rust"
    cp -r "$here/rust/." "$out/rust/"
    sed -i "s#\.\./\.\./\.\./\.\.#$top#" "$out/rust/Cargo.toml"
    mkdir -p "$out/rust/pkgconfig"
    printf 'Name: tamis\nDescription: as it was built\nVersion: 0.1.0\nLibs: -L%s -ltamis\nCflags: -I%s\n' \
        "$TAMIS_LIBRARY_DIR" "$TAMIS_INCLUDE_DIR" >"$out/rust/pkgconfig/tamis.pc"
    if get ureq "$TAMIS_CARGO" fetch --manifest-path "$out/rust/Cargo.toml"; then
        PKG_CONFIG_PATH=$out/rust/pkgconfig CARGO_INCREMENTAL=0 CARGO_TARGET_DIR=$out/rust/target "$TAMIS_CARGO" build --offline --quiet --manifest-path "$out/rust/Cargo.toml"
        add ureq env LD_LIBRARY_PATH="$TAMIS_LIBRARY_DIR" "$out/rust/target/debug/crawl"
    fi
fi

if [ -z "${TAMIS_NODE-}" ] || [ ! -e "${TAMIS_NODE_PACKAGE-}/build/Release/tamis.node" ]; then
    left_out crawlee "there is no node, or no addon for it"
else
    mkdir -p "$out/node"
    cp "$here"/node/* "$out/node/"
    if get crawlee "$TAMIS_NPM" --prefix "$out/node" ci --ignore-scripts --no-audit --no-fund; then
        add crawlee env TAMIS_NODE="$TAMIS_NODE_PACKAGE" "$TAMIS_NODE" "$out/node/crawler.js"
    fi
fi

if [ -z "${TAMIS_MVN-}" ] || [ ! -e "${TAMIS_JAR-}" ]; then
    left_out httpclient "there is no Maven, or no jar of Tamis"
elif get httpclient "$TAMIS_MVN" -q -B -f "$here/java/pom.xml" "-Dtamis.jar=$TAMIS_JAR" "-Dcrawl.build=$out/java" package; then
    add httpclient java -XX:+UseSerialGC -cp "$out/java/classes:$out/java/dependency/*:$TAMIS_JAR" crawl.Crawl
fi

[ "$count" -ge 2 ] || {
    echo "skipped: a crawl of several crawlers needs two of them"
    exit 77
}
exec "$TAMIS_PYTHON" -B "$here/crawl.py" "${commands[@]}"
