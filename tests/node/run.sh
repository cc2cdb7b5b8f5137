#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run.sh build | tests | style | crawler | benchmark | document | install: tests of the Node package, in copies below the
# build directory.
#
#   build      get the packages that it needs by npm, and build the addon with the library of this build
#   tests      tools/node/test, by node:test
#   style      prettier, eslint, and tsc on what users of the types write
#   crawler    several Crawlees on one store, one of which is killed: tools/node/examples/crawlee
#   benchmark  tools/node/bench with few keys
#   document   the examples of docs/node.md, one after the other
#   install    the two commands of tools/node/README.md, with the library built in, in a project of its own
#
# TAMIS_NODE, TAMIS_NPM, TAMIS_NODE_DIR, TAMIS_NODE_FOLDER, TAMIS_BUILD: CMakeLists.txt sets them.  Where npm cannot reach its
# registry the test is skipped (77), and says so.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
package=$TAMIS_NODE_FOLDER/package
mkdir -p "$TAMIS_NODE_FOLDER"
# Scripts that npm runs find the node that was found.
PATH=$(dirname "$TAMIS_NODE"):$PATH
export PATH npm_config_update_notifier=false npm_config_audit=false npm_config_fund=false npm_config_nodedir=$TAMIS_NODE_DIR

skip()
{
    echo "skipped: $1"
    exit 77
}

# npm_or_skip DIRECTORY WORD...: what npm says goes to a log; the test is skipped if it has not reached its registry.
npm_or_skip()
{
    local log=$TAMIS_NODE_FOLDER/npm.log where=$1
    shift
    (cd "$where" && "$TAMIS_NPM" "$@" </dev/null >"$log" 2>&1) && return
    cat "$log"
    if grep -qE 'ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|E50[0-9]|ERR_SOCKET_TIMEOUT' "$log"; then
        skip "npm cannot reach its registry"
    fi
    exit 1
}

# packages_of DIRECTORY: those of its lock file, if they are not there already.
packages_of()
{
    cmp -s "$1/package-lock.json" "$1/node_modules/.of-lock" && return
    npm_or_skip "$1" ci --ignore-scripts
    cp "$1/package-lock.json" "$1/node_modules/.of-lock"
}

needs_addon()
{
    [ -e "$package/build/Release/tamis.node" ] || skip "the addon was not built; see the test node_addon_is_built"
}

# copy_package: this checkout's files over those of before; what npm and node-gyp have made there stays.
copy_package()
{
    mkdir -p "$package"
    find "$package" -mindepth 1 -maxdepth 1 -not -name node_modules -not -name build -not -name examples -exec rm -rf {} +
    find "$package/examples" -mindepth 2 -maxdepth 2 -not -name node_modules -exec rm -rf {} + 2>/dev/null || true
    cp -a "$top/tools/node/." "$package/"
    cp "$top/LICENSE" "$package/"
}

build()
{
    copy_package
    packages_of "$package"
    local npm_root
    npm_root=$(cd "$(dirname "$(readlink -f "$TAMIS_NPM")")/.." && pwd)
    # npm brings its node-gyp; Debian has it beside.
    local gyp=$npm_root/node_modules/node-gyp/bin/node-gyp.js
    [ -e "$gyp" ] || gyp=$(command -v node-gyp) || skip "there is no node-gyp"
    local launch=
    ! command -v ccache >/dev/null || launch="ccache "
    (cd "$package" && CC="${CC:-${launch}gcc}" CXX="${CXX:-${launch}g++}" \
        "$TAMIS_NODE" "$gyp" rebuild -j 2 --nodedir="$TAMIS_NODE_DIR") >"$TAMIS_NODE_FOLDER/gyp.log" 2>&1 || {
        cat "$TAMIS_NODE_FOLDER/gyp.log"
        exit 1
    }
    if grep -n 'warning:' "$TAMIS_NODE_FOLDER/gyp.log"; then exit 1; fi
    printf '#!/bin/sh\nexec "%s" "%s/suite/runner.js" "$@"\n' "$TAMIS_NODE" "$package" >"$TAMIS_NODE_FOLDER/runner"
    chmod +x "$TAMIS_NODE_FOLDER/runner"
}

tests()
{
    needs_addon
    cd "$package"
    "$TAMIS_NODE" --test test/*.test.js
}

style()
{
    needs_addon
    cd "$package"
    node_modules/.bin/prettier --check .
    # eslint's own node may be later than Debian's.
    if "$TAMIS_NODE" -e 'process.exit(parseInt(process.versions.node) >= 18 ? 0 : 1)'; then node_modules/.bin/eslint .; fi
    node_modules/.bin/tsc -p test/types
    # A name of a registry's host in a lock file would bind it to that.
    if grep -l '"resolved": "http' package-lock.json examples/*/package-lock.json; then exit 1; fi
}

crawler()
{
    needs_addon
    packages_of "$package/examples/crawlee"
    cd "$package/examples/crawlee"
    "$TAMIS_NODE" --test crawl.test.mjs
}

benchmark()
{
    needs_addon
    cd "$package"
    "$TAMIS_NODE" bench/bench.js --keys 20000 --rounds 1
}

document()
{
    needs_addon
    cd "$package"
    "$TAMIS_NODE" test/document.js "$top/docs/node.md"
}

install()
{
    local project=$TAMIS_NODE_FOLDER/project clone=$TAMIS_NODE_FOLDER/clone
    rm -rf "$project" "$clone"
    mkdir -p "$project" "$clone/docs" "$clone/tools"
    cp -a "$top/CMakeLists.txt" "$top/LICENSE" "$top/store" "$clone/"
    cp -a "$top/docs/CMakeLists.txt" "$top/docs/man" "$clone/docs/"
    cp -a "$top/tools/node" "$clone/tools/"
    cd "$project"
    echo '{"private": true}' >package.json
    unset TAMIS_BUILD
    # Without optimization the library compiles in a quarter of the time, and the addon in half of it.
    export TAMIS_BUNDLE=1 CMAKE_BUILD_TYPE=None CFLAGS='-O0 -g0' CXXFLAGS='-O0 -g0'
    if command -v ccache >/dev/null; then
        export CMAKE_C_COMPILER_LAUNCHER=ccache CXX="${CXX:-ccache g++}"
    fi
    npm_or_skip "$project" pack "$clone/tools/node"
    npm_or_skip "$project" install ./tamis-*.tgz
    [ ! -e "$clone/tools/node/library" ] || { echo "npm pack has left the folder library"; exit 1; }
    cat >uses.mjs <<'END'
import tamis, { Store } from 'tamis';
const seen = new Store('store').createSync('seen', { capacity: 100 });
console.log(seen.add('a'), seen.add('a'), (await seen.addMany(['a', 'b'])).join());
if (tamis.Store !== Store) throw new Error('two classes');
try {
  new Store('names').createSync('names', { capacity: 100, keyRule: 'name:idn' });
} catch (error) {
  console.log(error.code, /libidn2-dev/.test(error.message));
}
END
    [ "$("$TAMIS_NODE" uses.mjs | paste -sd ' ')" = "true false 0,1 TAMIS_EUNSUPPORTED true" ]
    # The addon alone, where prebuildify puts it, serves too.
    cd node_modules/tamis
    "$TAMIS_NODE" scripts/prebuild.js
    rm -rf build
    cd "$project"
    rm -rf store names
    [ "$("$TAMIS_NODE" uses.mjs | paste -sd ' ')" = "true false 0,1 TAMIS_EUNSUPPORTED true" ]
}

case ${1-} in
build | tests | style | crawler | benchmark | document | install) "$1" ;;
*)
    echo "run.sh: which test?" >&2
    exit 2
    ;;
esac
