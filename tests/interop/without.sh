# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# without.sh: read by the without_*.sh, each given the command of a build that lacks a library: an empty
# directory to be in, a store that is not there yet, and what a refusal must be.
set -euo pipefail

# shellcheck disable=SC2034 # for who reads this
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
