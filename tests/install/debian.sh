# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# debian.sh: a Debian that has nothing but its base, for the scripts that source this: `fresh NAME` makes one, and `inside
# COMMAND...` runs a command in it.
#
# Such a script is run once more, in a mount namespace and a tmpfs of its own, $TAMIS_CHROOT, so nothing is left.  It takes root,
# debootstrap, the programs that the caller names in $tools, and the mirror that the machine's own apt uses; status 77 where
# one of them is missing.  $suite is the Debian; without it, that of this machine.  $packages, with commas, are in the base.

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

skip()
{
    echo "skipped: $*" >&2
    exit 77
}

if [ -z "${TAMIS_CHROOT:-}" ]; then
    [ "$(id -u)" = 0 ] || skip "only root can make a chroot"
    for tool in debootstrap unshare ${tools:-}; do
        command -v "$tool" >/dev/null || skip "$tool is not installed"
    done
    unshare -m true 2>/dev/null || skip "this machine gives no mount namespaces"
    TAMIS_CHROOT=$(mktemp -d)
    export TAMIS_CHROOT
    trap 'rmdir "$TAMIS_CHROOT"' EXIT
    unshare -m --propagation private "$0" "$@" && exit 0 || exit "$?"
fi

began=$SECONDS
step()
{
    echo "$((SECONDS - began)) s: $*"
}

# quietly COMMAND...: what it prints is shown only if it fails.
quietly()
{
    "$@" >"$TAMIS_CHROOT/said" 2>&1 || {
        tail -n 50 "$TAMIS_CHROOT/said" >&2
        fail "$*"
    }
}

mount -t tmpfs -o size=8g,mode=755,dev tmpfs "$TAMIS_CHROOT" || skip "this machine lets nobody mount a tmpfs"
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
suite=${suite:-$codename}
# shellcheck disable=SC2016 # apt puts these values in
apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
    sort -u | sed "s/ $codename\\([ -]\\)/ $suite\\1/" >"$TAMIS_CHROOT/targets"
mirror=$(awk -v suite="$suite" '$2 == suite && $3 == "main" { print $1; exit }' "$TAMIS_CHROOT/targets")
[ -n "$mirror" ] || skip "apt knows no mirror of $suite"
eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
if [ -n "${http_proxy:-}" ]; then export http_proxy; fi

timeout 100 /usr/lib/apt/apt-helper download-file "${mirror%/}/dists/$suite/Release" "$TAMIS_CHROOT/release" \
    >"$TAMIS_CHROOT/said" 2>&1 || skip "the mirror $mirror cannot be reached: $(tail -n 1 "$TAMIS_CHROOT/said")"

# fresh NAME: a Debian of the base packages alone, with the sources and proxies of this machine's apt.
fresh()
{
    root=$TAMIS_CHROOT/$1
    if [ -d "$TAMIS_CHROOT/base" ]; then
        cp -a "$TAMIS_CHROOT/base" "$root"
    else
        quietly debootstrap --variant=minbase ${packages:+--include="$packages"} "$suite" "$root" "$mirror"
        echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/fast"
        awk '{ print "deb", $1, $2, $3 }' "$TAMIS_CHROOT/targets" >"$root/etc/apt/sources.list"
        apt-config dump Acquire >"$root/etc/apt/apt.conf.d/90machine"
        echo 'Acquire::Languages "none";' >"$root/etc/apt/apt.conf.d/91untranslated"
        if [ -d /etc/apt/auth.conf.d ]; then cp -r /etc/apt/auth.conf.d "$root/etc/apt/"; fi
        printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # services are not started
        chmod +x "$root/usr/sbin/policy-rc.d"
        cp /etc/resolv.conf /etc/hosts "$root/etc/"
    fi
    mount -t proc proc "$root/proc"
}

# inside COMMAND...: in the chroot, as root.
inside()
{
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
