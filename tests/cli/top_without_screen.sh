#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# top_without_screen.sh TAMIS: on a terminal a build without ncurses says what it lacks, and prints each look below the last.
set -eu
tamis=$(realpath "$1")
script -qec true /dev/null >/dev/null 2>&1 || { echo "skipped: needs script, and a terminal by it" >&2; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TAMIS_STORE=$scratch/store TERM=xterm
"$tamis" create seen -n 1000
script -qec "$tamis top --interval 50ms" /dev/null >"$scratch/shown" </dev/null &
until [ "$(grep -c '^seen ' "$scratch/shown")" -ge 2 ]; do sleep 0.1; done
kill $!
wait $! || true
[ "$(grep -c 'tamis: this build of tamis has no live view.*libncurses-dev.*TAMIS_WITH_NCURSES=ON' "$scratch/shown")" = 1 ]
[ "$(grep -c '^NAME ' "$scratch/shown")" -ge 2 ]
