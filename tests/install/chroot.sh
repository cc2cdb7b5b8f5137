#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# chroot.sh [--dockerfile]: the Debian packages of a build, in a Debian that has nothing but its base.
#
# The target `package` makes them; lintian reads them; the line of docs/install.md brings the command into a fresh debootstrap,
# and no server; `apt-get install ./*.deb` brings the others, and
# a user who is not root runs the commands of README.md, imports the module of Python, and finds the extension of PHP and
# the module of redis-server loaded.  A purge leaves no file of the packages, and the store as it was.
#
# With --dockerfile the steps of the Dockerfile are run in place of that, as far as they are commands: each of its three
# stages in such a Debian.  That compiles Tamis, and is no part of the suite.
#
# All of it is in a mount namespace and a tmpfs of its own, so nothing is left.  It takes root, debootstrap, lintian, and the
# mirror that the machine's own apt uses; status 77 where one of them is missing.
#
# Seen to fail with a warning of lintian that is not argued; and with python3-tamis without its prerm, as the purge left
# __pycache__.  A module that redis-server would not load, as it was not
# executable, and a note that PHP's helper kept after a purge were found while this was written.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
tools=lintian
# shellcheck source=tests/install/debian.sh
. "$here/debian.sh"

as_user()
{
    inside su newcomer -s /bin/bash -c "$1"
}

# ---- The Dockerfile ---------------------------------------------------------------------------------------------------

# stage_of NUMBER: the lines of a stage.
stage_of()
{
    awk -v stage="$1" '/^FROM/ { seen++ } seen == stage' "$source/tools/package/Dockerfile"
}

# The commands of a stage, one a line: what stands behind RUN, continued lines joined.
commands_of()
{
    stage_of "$1" |
        sed -e :a -e '/\\$/N; s/\\\n//; ta' | sed -n 's/^RUN //p'
}

# run_stage NUMBER: runs them in $root/src, or wherever the stage works.
run_stage()
{
    local directory command
    directory=$(stage_of "$1" | awk '$1 == "WORKDIR" && $2 ~ /src/ { print $2 }')
    while IFS= read -r command; do
        step "RUN ${command:0:100}"
        quietly inside sh -ec "cd ${directory:-/}; $command" </dev/null
    done < <(commands_of "$1")
}

# words_of STAGE INSTRUCTION: the words of ENTRYPOINT or CMD, one a line.
words_of()
{
    stage_of "$1" | sed -n "s/^$2 \[\(.*\)\]$/\1/p" | tr -d '" ' | tr , '\n'
}

# copy_packages STAGE DIRECTORY: what COPY --from=build names, from DIRECTORY.
copy_packages()
{
    local pattern
    mkdir -p "$root/packages"
    for pattern in $(stage_of "$1" | sed -n 's|^COPY --from=build ||p' | tr ' ' '\n' | sed -n 's|^/src/build/||p'); do
        # shellcheck disable=SC2086 # a pattern
        cp "$2"/$pattern "$root/packages/"
    done
}

if [ "${1:-}" = --dockerfile ]; then
    fresh build
    inside mkdir -p /src
    git -C "$source" archive HEAD | tar -x -C "$root/src"
    run_stage 1
    built=$root/src/build
    fresh server
    copy_packages 2 "$built"
    run_stage 2
    # Its ENTRYPOINT and CMD, as docker runs them.
    mapfile -t entry < <(words_of 2 ENTRYPOINT; words_of 2 CMD)
    inside su tamis -s /bin/sh -c "cd /var/lib/tamis && exec ${entry[*]} --port 7399 --daemonize yes" >>"$TAMIS_CHROOT/log"
    inside su tamis -s /bin/sh -c 'timeout 60 sh -c "until redis-cli -p 7399 ping; do sleep 0.1; done" >/dev/null 2>&1
        redis-cli -p 7399 BF.ADD seen a; redis-cli -p 7399 TAMIS.SHARE seen
        echo a | TAMIS_STORE=/var/lib/tamis/tamis tamis check seen
        redis-cli -p 7399 SHUTDOWN' >"$TAMIS_CHROOT/said"
    [ "$(cat "$TAMIS_CHROOT/said")" = $'1\nOK\na' ] || fail "the image's server: $(cat "$TAMIS_CHROOT/said")"
    step "the image of the server would have $(du -sm --exclude=proc "$root" | cut -f 1) MB"
    fresh run
    copy_packages 3 "$built"
    run_stage 3
    inside su tamis -s /bin/sh -c 'TAMIS_STORE=/var/lib/tamis tamis create seen -n 1000 && printf "a\na\n" |
        TAMIS_STORE=/var/lib/tamis tamis add --new seen' >"$TAMIS_CHROOT/said"
    [ "$(cat "$TAMIS_CHROOT/said")" = a ] || fail "the image's command: $(cat "$TAMIS_CHROOT/said")"
    inside test -d /var/lib/tamis/segments || fail "the image's store is elsewhere"
    step "the steps of the Dockerfile run; the image of the command would have $(du -sm --exclude=proc "$root" | cut -f 1) MB"
    exit 0
fi

# ---- The packages -----------------------------------------------------------------------------------------------------

: "${TAMIS_BUILD:?run by ctest, see tests/install/CMakeLists.txt}" "${CMAKE:?}"
quietly "$CMAKE" --build "$TAMIS_BUILD" --target package
mkdir "$TAMIS_CHROOT/packages"
cp "$TAMIS_BUILD"/*.deb "$TAMIS_CHROOT/packages/"
names=$(for file in "$TAMIS_CHROOT"/packages/*.deb; do dpkg-deb -f "$file" Package; done)
step "packages: ${names//$'\n'/ }"
for file in "$TAMIS_CHROOT"/packages/*.deb; do
    dpkg-deb -c "$file" | awk '{ print $6 }' | grep -v '/$' | grep -Ev '^\./(usr/(bin|include|lib|share)|etc/php)/' &&
        fail "$file has files where a package has none"
done
# Warnings are errors here: those that stay are argued in tools/package/lintian.
quietly lintian --allow-root --fail-on error,warning "$TAMIS_CHROOT"/packages/*.deb
step "lintian has no error and no warning"

fresh base
step "a fresh $codename"
cp -r "$TAMIS_CHROOT/packages" "$root/packages"
quietly inside apt-get update
line=$(sed -n 's|^sudo \(apt-get install \./build/.*\)|\1|p' "$source/docs/install.md")
[ -n "$line" ] || fail "docs/install.md does not say how packages are installed"
ln -s /packages "$root/build"
quietly inside sh -ec "cd /; ${line/install/install -y}"
! inside dpkg -s redis-server >/dev/null 2>&1 || fail "the line of docs/install.md brings a server" # as ./build/*.deb did
quietly inside sh -ec 'cd /; apt-get install -y ./build/*.deb'
step "installed: $(inside sh -c 'ls /var/lib/dpkg/info/*.list | wc -l') packages are in it now"
quietly inside apt-get install -y --no-install-recommends gcc pkg-config redis-server

inside useradd --create-home newcomer
mkdir -p "$root/home/newcomer/tests"
cp -r "$here" "$root/home/newcomer/tests/install"
cp "$source/README.md" "$root/home/newcomer/"
libdir=$(inside sh -c 'dirname "$(dpkg -L libtamis0 | grep "libtamis.so.0$")"')
quietly as_user "TAMIS_PREFIX=/usr TAMIS_LIBDIR=$libdir CC=gcc bash ~/tests/install/readme_test.sh"
step "the README's commands print what stands there"

inside install -d -o newcomer /var/lib/tamis
as_user 'tamis --store /var/lib/tamis create seen -n 1000 && tamis --store /var/lib/tamis add seen kept'
if grep -q python3-tamis <<<"$names"; then
    said=$(as_user 'python3 -c "import tamis; s = tamis.Store(\"/var/lib/tamis\"); print(b\"kept\" in s[\"seen\"], \"x\" in s[\"seen\"])"')
    [ "$said" = "True False" ] || fail "python3-tamis: $said"
    inside python3 -c 'import tamis, tamis.compat' # as root: Python keeps what it makes of the modules beside them
    inside sh -c 'ls /usr/lib/python3/dist-packages/tamis/__pycache__' >"$TAMIS_CHROOT/said" ||
        fail "Python has made no __pycache__ that a purge could leave"
    step "python3-tamis"
fi
if grep -q php-tamis <<<"$names"; then
    grep -qx tamis <<<"$(as_user 'php -m')" || fail "php -m does not name tamis"
    as_user 'php -r "exit((new Tamis\\Store(\"/var/lib/tamis\"))->filter(\"seen\")->has(\"kept\") ? 0 : 1);"' ||
        fail "php-tamis does not find a key"
    step "php-tamis"
fi
if grep -q tamis-redis <<<"$names"; then
    module=$(inside sh -c 'dpkg -L tamis-redis | grep "/tamis.so$"')
    as_user "redis-server --port 0 --unixsocket ~/socket --daemonize yes --save '' --dir ~ --loadmodule $module store ~/store" >"$TAMIS_CHROOT/said"
    for _ in $(seq 100); do
        [ "$(as_user 'redis-cli -s ~/socket ping 2>&1' || true)" = PONG ] && break
        sleep 0.1
    done
    grep -qx tamis <<<"$(as_user 'redis-cli -s ~/socket module list')" || fail "redis-server has no module tamis"
    [ "$(as_user 'redis-cli -s ~/socket bf.add seen a')" = 1 ] || fail "BF.ADD"
    as_user 'redis-cli -s ~/socket shutdown nosave' >"$TAMIS_CHROOT/said"
    step "tamis-redis"
fi

# What is there before is there afterwards, and of the packages nothing.
inside sh -ec 'cd /var/lib/tamis; find . -type f | sort | xargs sha256sum' >"$TAMIS_CHROOT/before"
# shellcheck disable=SC2086 # a list of words
inside dpkg -L $names | sort -u >"$TAMIS_CHROOT/files"
# shellcheck disable=SC2086
quietly inside apt-get purge -y $names
while IFS= read -r file; do
    if [ -L "$root$file" ] || [ -f "$root$file" ]; then fail "$file is left by the purge"; fi
done <"$TAMIS_CHROOT/files"
left=$(find "$root/etc" "$root/usr" "$root/var/lib" -path "$root/var/lib/tamis" -prune -o -name '*tamis*' -print)
[ -z "$left" ] || fail "the purge leaves $left"
inside sh -ec 'cd /var/lib/tamis; find . -type f | sort | xargs sha256sum' | diff "$TAMIS_CHROOT/before" - ||
    fail "the purge has changed the store"
quietly inside sh -ec 'cd /packages; apt-get install -y --no-install-recommends ./tamis_*.deb'
[ "$(as_user 'tamis --store /var/lib/tamis check seen kept other')" = kept ] || fail "the store is not what it was"
step "a purge left the store alone, and nothing else"
