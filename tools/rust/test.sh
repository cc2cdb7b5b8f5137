#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# test.sh TEST SOURCES BUILD WORK: a test of the crates, in a copy of them below WORK, as cargo writes beside its sources.
# Ends with 77, and says why, if what it needs is not there.
set -eu

test=$1 sources=$2 build=$3 work=$4
cargo=${CARGO:-cargo}
crates=$work/tools/rust
mkdir -p "$crates"
rm -rf "$crates/sys" "$crates/tamis" "$crates/runner"
ln -sfn "$sources/store" "$work/store" # what the feature vendored compiles
cp -Rp "$sources/tools/rust/." "$crates"
cd "$crates"
export CARGO_TARGET_DIR="$work/target" CARGO_TERM_COLOR=never
# One profile for all, so that each crate is compiled once, and that without what debuggers want.
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0
[ -z "${LAUNCHER-}" ] || export CC="$LAUNCHER cc"

skip()
{
    echo "skipped: $*" >&2
    exit 77
}

# cargo WORDS...: 77 if a registry is out of reach.
run()
{
    status=0
    "$cargo" "$@" >"$work/output" 2>&1 || status=$?
    cat "$work/output"
    [ $status -eq 0 ] && return
    if grep -Eq 'Could not resolve host|failed to download|Failed to connect|Timeout was reached|network failure' "$work/output"; then
        skip "the registry of crates is out of reach"
    fi
    exit $status
}

# The library of this build, as an installed one.
installed()
{
    for component in library development; do
        cmake --install "$build" --prefix "$work/prefix" --component $component >/dev/null
    done
    folder=$(dirname "$(find "$work/prefix" -name libtamis.so)")
    [ "$folder" = "$work/prefix/lib" ] || ln -sf "$folder"/libtamis.so* "$work/prefix/lib/"
    export PKG_CONFIG_PATH="$folder/pkgconfig" LD_LIBRARY_PATH="$folder"
}

case $test in
rust_runner)
    installed
    run build -p tamis-runner
    ;;
rust_tests)
    installed
    run test --workspace --features tamis/serde
    ;;
rust_document_shows_what_happens)
    # One program of all examples of docs/rust.md, each inside of the one before, so that it has what that has made.  Seen to fail
    # for an assertion that does not hold, and for a call that is not there.
    installed
    awk 'BEGIN { print "fn main() -> Result<(), Box<dyn std::error::Error>> {" }
        /^```rust/ { is = 1; depth++; print "{"; next }
        /^```/ { is = 0 }
        is { print }
        END { if (!depth) exit 1; while (depth--) print "}"; print "Ok(())\n}" }' "$sources/docs/rust.md" >tamis/examples/document.rs
    run build -p tamis --example document
    rm -rf "$work/document"
    mkdir "$work/document"
    cd "$work/document"
    "$CARGO_TARGET_DIR/debug/examples/document"
    ;;
rust_style)
    installed
    "$cargo" fmt --version >/dev/null 2>&1 || skip "rustfmt is not installed"
    "$cargo" clippy --version >/dev/null 2>&1 || skip "clippy is not installed"
    run fmt --all --check
    run clippy --workspace --all-targets --features tamis/serde -- -D warnings
    RUSTDOCFLAGS="-D warnings" run doc -p tamis --no-deps
    ;;
rust_declares_what_the_header_has)
    # Seen to fail for a field of another name in the header, and for a type that was changed in bindings.rs by hand.
    sys/generate.sh --check "$build/store/tamis_ffi.h"
    [ -n "${TAMIS_TEST_LONG-}" ] || exit 0
    bindgen=$work/bindgen/bin/bindgen
    [ -x "$bindgen" ] || run install bindgen-cli --version 0.73.2 --locked --root "$work/bindgen"
    sys/generate.sh "$build/store/tamis_ffi.h" "$bindgen" | diff sys/src/bindings.rs - || {
        echo "sys/src/bindings.rs is not that of tamis_ffi.h: sys/generate.sh makes it anew" >&2
        exit 1
    }
    ;;
rust_builds_the_library_in)
    # The -dev packages are on this machine; pkg-config must not find an installed libtamis.  Without optimization the library
    # compiles in a quarter of the time.
    export CFLAGS='-O0'
    run build -p tamis --examples --features vendored,sip
    program=$work/target/debug/examples/new_lines
    ldd "$program"
    ! ldd "$program" | grep -E 'libtamis|liblmdb|libsodium|libidn2'
    rm -rf "$work/try"
    [ "$(printf 'a\nb\na\n' | "$program" "$work/try" seen)" = "$(printf 'a\nb')" ]
    [ -z "$(printf 'b\n' | "$program" "$work/try" seen)" ]
    ;;
rust_tests_under_asan)
    # Rust code and the library, both by LLVM's AddressSanitizer.
    "$cargo" +nightly --version >/dev/null 2>&1 || skip "a nightly Rust is not installed"
    command -v clang >/dev/null || skip "clang is not installed"
    target=$(rustc -vV | sed -n 's/^host: //p')
    export RUSTFLAGS=-Zsanitizer=address CC="${LAUNCHER:+$LAUNCHER }clang" TAMIS_SANITIZE=address CARGO_TARGET_DIR="$work/asan"
    export ASAN_OPTIONS=handle_sigbus=0:allocator_may_return_null=1
    run +nightly test -p tamis --features vendored,serde --target "$target" --lib --tests
    ;;
*)
    echo "test.sh: no test is called $test" >&2
    exit 2
    ;;
esac
