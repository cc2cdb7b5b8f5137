#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run.sh [--all | PRESET] [-- CTEST-ARGUMENT...]: install what the tests need, build, run them once.  ctest's summary comes last,
# followed by the list of tests that are known to fail by chance (tests/flakes.txt); its exit status is the script's.
#
#   tests/run.sh                       the core: what somebody who changes something runs; some minutes
#   tests/run.sh --all                 all tests, with the programs of other systems that they need
#   tests/run.sh asan                  a preset of CMakePresets.json, in .build/asan: all tests
#   tests/run.sh aarch64               for another processor, emulated by qemu-user: the tests of that label
#   tests/run.sh -- -L unit            of the core, only the tests of label unit (docs/testing.md lists the labels)
#   tests/run.sh --all -- -R chroot    of all tests, those of that name
#   tests/run.sh tsan -- -R race -V    presets and ctest's arguments together
#
# The core and --all build as installed (-O3) but with assertions kept, both in .build/test: the second adds what the first left
# out.  docs/testing.md says what is in the core.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top"

usage()
{
    sed -n '4,16s/^# \{0,1\}//p' "$top/tests/run.sh"
}

preset='' all=''
while [ $# -gt 0 ]; do
    case $1 in
    --all)
        all=yes
        shift
        ;;
    -h | --help)
        usage
        exit 0
        ;;
    --)
        shift
        break
        ;;
    -*)
        echo "run.sh: unknown option '$1'; arguments for ctest go after --" >&2
        exit 2
        ;;
    *)
        [ -z "$preset" ] || {
            echo "run.sh: one preset at a time, not '$preset' and '$1'" >&2
            exit 2
        }
        preset=$1
        shift
        ;;
    esac
done

# What the core needs.  It takes less than a minute to come.
packages=(
    gcc libc6-dev cmake ninja-build pkg-config # the build
    make                                       # what cmake builds with where nothing else is said
    liblmdb-dev libxxhash-dev libjansson-dev   # the library and the command
    libcmocka-dev g++                          # unit tests; the header as C++
    libmd-dev libsodium-dev libhiredis-dev libssl-dev # hash sets md5 and sip; import and export live
    libidn2-dev libunistring-dev               # names in other scripts as keys; linked statically, libidn2 needs the second
    libcurl4-openssl-dev                        # tamis pull
    zlib1g-dev libzstd-dev zstd                # packed input of tamis build
    libncurses-dev procps                      # tamis top
    mandoc zsh fish                            # manual pages, completions of zsh and fish
    python3 python3-lmdb python3-xxhash        # the independent reader of tests/golden
    python3-dev python3-pytest                 # the Python package: its headers, its tests
    php-cli php-dev                            # the PHP extension
    redis-server                               # for the module
)
# What the other tests need.
others=(
    tmux                                       # tamis top's live view under a test's eyes
    webext-ublock-origin-firefox curl          # the list of docs/nightly.md, and how it comes
    minisign                                   # signed lists
    php-redis php-predis python3-redis         # clients of the Redis module, tests/redis
    python3-pip python3-venv                   # packages of PyPI
    iproute2                                   # hosts that are network namespaces, tests/redis/hosts.py
    prometheus-redis-exporter openssl          # its figures, and TLS
    python3-cffi luajit                        # tamis_ffi.h, with the FFI of php-cli
    python3-setuptools python3-wheel           # how the Python package is built
    python3-numpy                              # arrays of keys
    default-jdk-headless maven                 # the Java library; Apache Spark, which comes from PyPI
    php-parser                                 # the arginfo of the PHP extension
    php-fpm                                    # its workers, tests/php/fpm.py
    python3-scrapy                             # Debian's, beside the one of PyPI
    libbloom-dev                               # the other library of bench
    rsync                                      # copies of a store in use
    debootstrap lintian dpkg-dev file          # the Debian packages, in a fresh Debian
    e2fsprogs btrfs-progs                      # file systems that are filled up
    xfsprogs squashfs-tools                    # and others, for the pages that they give
    chromium                                   # `tamis report` in a browser: 122 MB, half a minute
)
# node may come from elsewhere, with an npm that Debian's would replace.
command -v node >/dev/null || others+=(nodejs)
command -v npm >/dev/null || others+=(npm)
# They are services that start by themselves where they are installed; only a machine of CI is there for that.  The test
# of docs/consumers.md takes those that are there.
[ -z "${CI-}" ] || others+=(systemd squid postfix unbound python3-unbound dnsdist rspamd nginx-light)
target=all
[ -z "$all$preset" ] || packages+=("${others[@]}")
case $preset in
"") [ -n "$all" ] || target=core_tests ;;
clang) packages+=(clang) ;;
fuzz) packages+=(clang libclang-rt-dev) ;; # the second has what the sanitizers and libFuzzer link
aarch64)
    # The processor is emulated by qemu-user, at a tenth of the speed or less: only these tests run.
    packages=(
        cmake ninja-build pkg-config
        gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user libc6:arm64
        liblmdb-dev:arm64 libxxhash-dev:arm64 libcmocka-dev:arm64
    )
    target=aarch64_tests
    set -- -L '^aarch64$' "$@"
    ;;
minimal) # the tests that have to do with the libraries that it lacks
    target=minimal_tests
    set -- -L '^optional-libraries$' "$@"
    ;;
esac
# Who cannot install packages goes on with what is there: the build names what it leaves out, or cannot do without.
tools/need-packages.sh "${packages[@]}" >&2 || {
    [ "$target" = core_tests ] || exit 2
    echo "run.sh: goes on without what could not be installed" >&2
}

build=.build/${preset:-test}
configure()
{
    if [ -n "$preset" ]; then
        cmake --preset "$preset" -G Ninja
    else
        # Release without -DNDEBUG: an assertion that fails is a bug that the tests must show.  -g1 names functions
        # and lines; all of -g takes a sixth longer.
        cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=-O3 -g1" \
            -DTAMIS_WERROR=ON
    fi </dev/null
}
mkdir -p "$build"
configure | tee "$build/configured"
cmake --build "$build" --target "$target" -j "$(nproc)" </dev/null
sed -n 's/^-- Left out/run.sh: left out/p' "$build/configured" # once more, below all that was compiled
# A child of a process with threads ends without having joined its parent's: no leak.
export TSAN_OPTIONS=report_thread_leaks=0${TSAN_OPTIONS:+:$TSAN_OPTIONS}
# LMDB clears 2 MiB each time that a store is opened to write.  With a fixed limit malloc() goes on taking these from
# the kernel, which hands out zeros when they are touched: tests that open by the thousand take a third less.
export MALLOC_MMAP_THRESHOLD_=131072
core=()
if [ "$target" = core_tests ]; then
    # ctest leaves out what two of them both mean.
    [[ " $* " != *" -LE "* ]] || {
        echo "run.sh: -LE goes with --all or a preset: it is what chooses the core" >&2
        exit 2
    }
    core=(-LE "$(<"$build/not-core")" --no-tests=error)
fi
# A test that hangs must not hold up the rest; the long ones set a limit of their own.  One more than there are
# processors, as some tests always wait for a server, a disk or a registry.
status=0
ctest --test-dir "$build" --output-on-failure --timeout 300 "${core[@]}" -j "$(($(nproc) + 1))" "$@" </dev/null || status=$?

# The tests that are known to fail by chance.  None is run again: who is in the list fails the run all the same.
flakes=$(grep -v -e '^#' -e '^$' tests/flakes.txt) || true
[ -z "$flakes" ] || echo "run.sh: known to fail by chance (tests/flakes.txt):"$'\n'"$flakes"
[ "$(grep -c . <<<"$flakes")" -le 5 ] || {
    echo "run.sh: tests/flakes.txt has more than five tests; mend some"
    status=1
}
exit "$status"
