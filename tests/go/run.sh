#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run.sh MODE: a test of the Go module.  TAMIS_GO is the go command, TAMIS_GO_FOLDER has pkgconfig/tamis.pc for the library as it was
# built; nothing is written beside the sources.  Status 77: what the test needs from the proxy of Go modules did not come.
#
#   runner      builds the runner for tests/bindings
#   tests       the tests of the module, under the race detector
#   style       gofmt, go vet, go mod tidy: not a word
#   crawler     the storage for colly, and the benchmark with few keys
#   built-in    the two commands of tools/go/README.md in a copy of the sources; what comes out needs no libtamis and no LMDB
#   tutorial PYTHON TAMIS    docs/go.md gives what stands there
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
module=$top/tools/go
export GOFLAGS='-buildvcs=false -mod=readonly' CGO_ENABLED=1 GOWORK=off GOTOOLCHAIN=local

installed()
{
    export PKG_CONFIG_PATH=$TAMIS_GO_FOLDER/pkgconfig GOFLAGS="$GOFLAGS -tags=tamis_installed" TAMIS_GO_INSTALLED=1
}

# The packages of a folder's go.mod are there, or the test is skipped.
needs_packages()
{
    "$TAMIS_GO" -C "$module/$1" mod download >"$TAMIS_GO_FOLDER/download-$1" 2>&1 || {
        cat "$TAMIS_GO_FOLDER/download-$1"
        echo "skipped: the packages that tools/go/$1 needs did not come"
        exit 77
    }
}

runner()
{
    installed
    "$TAMIS_GO" -C "$module" build -o "$TAMIS_GO_FOLDER/runner" ./runner
}

tests()
{
    installed
    "$TAMIS_GO" -C "$module" test -race -count=1 ./...
}

# Seen to fail for a blank too many, a Printf with an argument too few, and a package in go.mod that nothing imports.
style()
{
    installed
    local unformatted folder
    unformatted=$("$(dirname "$TAMIS_GO")/gofmt" -l "$module")
    [ -z "$unformatted" ] || {
        echo "not as gofmt writes it: $unformatted"
        exit 1
    }
    "$TAMIS_GO" -C "$module" vet ./...
    "$TAMIS_GO" -C "$module" mod tidy -diff
    for folder in collystorage bench; do
        needs_packages $folder
        "$TAMIS_GO" -C "$module/$folder" vet ./...
    done
}

crawler()
{
    installed
    needs_packages collystorage
    "$TAMIS_GO" -C "$module/collystorage" test -count=1 ./...
    needs_packages bench
    "$TAMIS_GO" -C "$module/bench" run . -keys 10000 -rounds 1
}

# A program of a user, in a module of its own.
write_user()
{
    cat >main.go <<'END'
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"tamis"
)

func main() {
	store, err := tamis.Open(context.Background(), os.Args[1], nil)
	if err != nil {
		log.Fatal(err)
	}
	seen, err := store.OpenOrCreate(context.Background(), "seen", &tamis.Spec{Capacity: 1000, KeyRule: os.Getenv("RULE")})
	if err != nil {
		log.Fatal(err)
	}
	isNew, err := seen.AddString(os.Args[2])
	fmt.Println(isNew, err, tamis.IsBuiltIn)
}
END
}

is()
{
    [ "$1" = "$2" ] || {
        echo "run.sh: '$1' came, not '$2'"
        exit 1
    }
}

# The command fails; $work/said has what it said.
fails()
{
    if "$@" >"$work/said" 2>&1; then
        cat "$work/said"
        echo "run.sh: went well: $*"
        exit 1
    fi
}

# Seen to fail with the library linked by -ltamis (ldd), without --keep-global-symbol (a program with mdb_* of its own), and
# without the constant in internal/library (the program was not linked again).
built_in()
{
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    # Without optimization the library compiles in a quarter of the time.
    export GOFLAGS='-buildvcs=false' CMAKE_BUILD_TYPE=Debug
    mkdir "$work/tamis"
    git -C "$top" ls-files -z CMakeLists.txt store docs tools/go | (cd "$top" && xargs -0 cp --parents -t "$work/tamis")
    cd "$work"
    PATH=$(dirname "$TAMIS_GO"):$(dirname "$TAMIS_CMAKE"):$PATH

    # Without the library the compiler says what to do.
    mkdir user && cd user && write_user
    go mod init user 2>/dev/null
    go mod edit -require tamis@v0.1.0 -replace "tamis=$work/tamis/tools/go"
    fails go build
    grep -q 'go generate' "$work/said"

    go -C "$work/tamis/tools/go" generate
    go build -o user .
    is "$(./user "$work/store" a)" 'true <nil> true'
    is "$(./user "$work/store" a)" 'false <nil> true'
    ldd user >"$work/needs"
    fails grep -E 'tamis|lmdb|xxhash|idn2' "$work/needs"
    RULE=name:idn fails ./user "$work/names" a
    grep -q 'libidn2-dev' "$work/said"

    # Another library, another program.
    cp user before
    sed -i 's/"[0-9a-f]*"/"another"/' "$work/tamis/tools/go/internal/library/digest.h"
    go build -o user .
    fails cmp user before

    # Not even the C library.
    go build -tags netgo,osusergo -ldflags '-linkmode external -extldflags -static' -o static . 2>"$work/said" || {
        cat "$work/said"
        exit 1
    }
    fails ldd static
    grep -q 'not a dynamic' "$work/said"
    is "$(env -i ./static "$work/store" a)" 'false <nil> true'

    # A library with the same names of LMDB in the program does not get into ours.
    cat >lmdb.go <<'END'
package main

// #include <stdlib.h>
// int mdb_env_create(void **env) { abort(); }
// int mdb_env_open(void *env, const char *path, unsigned flags, unsigned mode) { abort(); }
import "C"

func init() {
	if len(path) > 1000 {
		C.mdb_env_create(nil)
	}
}

var path = "user"
END
    go build -o user .
    is "$(./user "$work/store" b)" 'true <nil> true'
}

tutorial()
{
    installed
    CC=${CC:-cc} exec "$1" -B "$top/tests/go/tutorial.py" "$2" "$top"
}

case $1 in
runner | tests | style | crawler) "$1" ;;
built-in) built_in ;;
tutorial) tutorial "$2" "$3" ;;
*)
    echo "run.sh: no mode $1" >&2
    exit 2
    ;;
esac
