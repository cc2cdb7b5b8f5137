#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# without.sh TAMIS hiredis|libsodium|libidn2|signatures|curl|unpackers: a build that lacks the library refuses what needs it, with what mends that, and
# makes nothing.  It is in an empty directory, with a store that is not there yet.
set -euo pipefail

tamis=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export TAMIS_STORE=$scratch/store

# refused MEND COMMAND...: with exit status 2, words that MEND matches, and no result.
refused()
{
    local mend=$1 status=0
    shift
    "$@" >out 2>err || status=$?
    cat err
    [ "$status" -eq 2 ] && [ ! -s out ]
    grep -q -- "$mend" err
}

# A server.
without_hiredis()
{
    local install='libhiredis-dev.*TAMIS_WITH_HIREDIS=ON'
    refused "$install" "$tamis" import x --from redis://127.0.0.1:6379/0 key --hash-set php:js
    [ ! -e store ]
    "$tamis" create there -n 10 --hash-set guava
    refused "$install" "$tamis" export there --to redis://127.0.0.1:6379/0 key --force
    [ "$("$tamis" list -q)" = there ]
}

# Hash set sip.
without_libsodium()
{
    local install='libsodium-dev.*TAMIS_WITH_SIP=ON'
    refused "$install" "$tamis" create x -n 10 --hash-set sip
    [ ! -e store ]
    "$tamis" create there -n 10
    printf 'a\n' >keys
    refused "$install" "$tamis" build list --hash-set sip keys
    [ "$("$tamis" list -q)" = there ]
}

# Names in other scripts.
without_libidn2()
{
    local install='libidn2-dev.*TAMIS_WITH_IDN=ON'
    refused "$install" "$tamis" create x -n 10 --key-rule url:idn
    [ ! -e store ]
    "$tamis" create there -n 10 --key-rule url
    printf 'a.example\n' >names
    refused "$install" "$tamis" build list --key-rule name:idn=14.0 names
    refused "$install" "$tamis" uniq --key-rule name:idn names
    [ "$("$tamis" list -q)" = there ]
}

# A signed list, which is not taken unchecked.
without_signatures()
{
    local install='libsodium-dev.*TAMIS_WITH_SIGN=ON'
    "$tamis" create there -n 10
    "$tamis" export there --to tamis list
    touch list.minisig key
    refused "$install" "$tamis" import x --from tamis list --verify key
    refused "$install" "$tamis" import there --from tamis list --publish --verify key
    refused "$install" "$tamis" export there --to tamis other --sign key
    [ ! -e other ]
    [ "$("$tamis" list -q)" = there ]
}

# A list by URL.
without_curl()
{
    refused 'libcurl4-openssl-dev.*TAMIS_WITH_CURL=ON' "$tamis" pull list https://127.0.0.1:1/list
    [ ! -e store ]
}

# A packed list, whose bytes are not taken for keys: neither zlib nor libzstd is there.
without_unpackers()
{
    local packed
    echo old | "$tamis" build list
    echo new | gzip -c >list.gz
    printf '\050\265\057\375\044\004\041\000\000new\n' >list.zst
    for packed in 'zlib1g list.gz' 'libzstd list.zst'; do
        refused "install ${packed% *}-dev and configure it with -DTAMIS_WITH_" "$tamis" build list "${packed#* }"
        [ "$("$tamis" check list old new)" = old ]
    done
}

"without_$2"
