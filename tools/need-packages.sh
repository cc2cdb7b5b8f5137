#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# need-packages.sh [--update] PACKAGE...: install those of the Debian packages that are missing, and
# say which.  Where none is missing it does nothing, so it needs neither root nor a network then.
# A package of another architecture is called NAME:ARCHITECTURE.
# --update: fetch apt's package index in any case, as a download from it may need a fresh one.
set -eu

update=
if [ "${1-}" = --update ]; then
    update=yes
    shift
fi
# A package may be there for several architectures.
is_installed()
{
    case $1 in
    *:*) architecture=${1##*:} ;;
    *) architecture=$(dpkg --print-architecture) ;;
    esac
    dpkg-query -W -f '${Architecture} ${db:Status-Status}\n' "${1%%:*}" 2>/dev/null |
        grep -Eqx "($architecture|all) installed"
}

missing=
for package in "$@"; do
    is_installed "$package" || missing="$missing $package"
done
[ -n "$missing$update" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    as_root=sudo
    command -v sudo >/dev/null || {
        echo "need-packages.sh: this needs root or sudo; as root, run:" \
            "apt-get update; apt-get install$missing" >&2
        exit 2
    }
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# $as_root and $missing are lists of words on purpose.
# shellcheck disable=SC2086
{
    # A third party's source that is down must not stop an installation that does without it, so
    # only the outcome counts.
    for package in $missing; do
        case $package in
        *:*) $as_root dpkg --add-architecture "${package##*:}" ;;
        esac
    done
    echo "apt: fetching the package index"
    $as_root apt-get update -q >"$log" 2>&1 </dev/null || true
    [ -n "$missing" ] || exit 0
    echo "apt: installing$missing"
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends \
        $missing >>"$log" 2>&1 </dev/null || {
        cat "$log" >&2
        echo "need-packages.sh: apt could not install$missing; what it said is above" >&2
        exit 2
    }
}
