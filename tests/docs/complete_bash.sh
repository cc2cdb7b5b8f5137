#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# complete_bash.sh COMPLETION-FILE: what the bash completion offers for many beginnings of a line.
# The function is called as bash calls it, without a terminal; nothing of bash-completion is loaded.
# shellcheck source=tests/docs/completions.sh
. "$(dirname "${BASH_SOURCE[0]}")/completions.sh"
# shellcheck source=tools/tamis/completions/tamis.bash
. "$1"
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:' # as an interactive bash sets it
function=$(complete -p tamis | sed -n 's/.* -F \([^ ]*\) .*/\1/p')
[ -n "$function" ] || die "the file does not say how tamis is completed"

# What is offered for a line whose cursor is at the end, or at $2; one a line, sorted.
offered()
{
    COMP_LINE=$1 COMP_POINT=${2:-${#1}}
    read -r -a COMP_WORDS <<<"${COMP_LINE:0:COMP_POINT}x"
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMP_WORDS[COMP_CWORD]=${COMP_WORDS[COMP_CWORD]%x}
    COMPREPLY=()
    "$function" tamis "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]-}"
    [ "${#COMPREPLY[@]}" -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}" | sort
}

wants_value()
{
    _tamis_wants_value "$2"
}

# ---- Commands and options ----------------------------------------------------------------------

offers_commands
offers 'tamis --store /tmp ch' check
offers 'tamis list extra -q' -q
offers 'tamis ls --rec' --recorded
offers 'tamis list --color=a' always auto

# ---- Values ------------------------------------------------------------------------------------

offers_values
offers 'tamis calc --kind blo' blocked bloom
offers 'tamis calc --kind=blo' blocked bloom # readline leaves --kind= alone
COMP_WORDBREAKS=${COMP_WORDBREAKS//=/} offers 'tamis calc --kind=blo' --kind=blocked --kind=bloom
sets=(xxh3 'php:bkdr\,sdbm\,js' php-mt php-mt-legacy md5 redisbloom guava sip spark-v1 spark-v2 parquet dcso 'pybloomfilter:17\,4\,2903')
offers 'tamis create new --hash-set ' "${sets[@]}"
offers 'tamis create new --hash-set php:b' 'bkdr\,sdbm\,js' # readline leaves php: alone
offers 'tamis explain --hash-set=php-mt' php-mt php-mt-legacy
for set in $(offered 'tamis explain --hash-set '); do
    [ "$set" != md5 ] || ! without_md5 || continue
    [ "$set" != sip ] || continue # of a filter only
    hashes=3 && [ "$set" != parquet ] || hashes=8
    tamis explain --hash-set "${set//\\/}" -m 1024 -k "$hashes" key >"$scratch/out" ||
        fail "--hash-set $set is offered and not accepted"
done
offers 'tamis import new --from re' redis-bitmap redisbloom redis:// rediss://
offers 'tamis export seen --to=g' guava
offers 'tamis create new -n10k --kind ' "${kinds[@]}"

# ---- Filters -----------------------------------------------------------------------------------

offers 'tamis add ' # no store yet, and no noise
names=(seen seen.2026 'a:b c' "it's" 'say "$x"' -odd été)
make_scene "${names[@]}"

quoted=()
for name in "${names[@]}"; do
    quoted+=("$(printf %q "$name")")
done
offers_filters "${quoted[@]}"
mapfile -t quoted < <(printf '%s\n' "${quoted[@]}" | grep -v '^-')
offers 'tamis check ' "${quoted[@]}"
offers 'tamis create new --like ' "${quoted[@]}"
offers 'tamis check se' seen seen.2026
offers 'tamis check seen.' seen.2026
offers 'tamis check -v --hex seen.' seen.2026
offers 'tamis check a:' 'b\ c' # readline leaves a: alone
offers 'tamis check a:b\ ' 'b\ c'
offers 'tamis check "a:b' 'a:b c'
offers "tamis check 'a:b" 'a:b c'
offers "tamis check 'it" "it'\\''s"
offers 'tamis check "say' 'say \"\$x\"'
offers 'tamis check ét' été
offers 'tamis check -- -' -odd
offers 'tamis create new --like=seen.' seen.2026
offers 'tamis generations seen '
offers 'tamis drop seen se' seen.2026
offers 'tamis drop --dry-run seen se' seen.2026
offers 'tamis drop -n seen se' seen.2026
offers "tamis drop seen seen.2026 \"a:b c\" it\\'s -- " -odd "$(printf %q 'say "$x"')" été
offers 'tamis check "say \"\$' 'say \"\$x\"'
same "with the cursor after 'che'" check "$(offered 'tamis che seen' 9)"

HOME=$scratch offers 'tamis --store ~/other\ store check ' elsewhere
same "without HOME" check "$(unset HOME && offered 'tamis che')"

# ---- Fields, files, directories ----------------------------------------------------------------

offers_fields_and_files
offers 'tamis info seen check' checkpointed_at
offers 'tamis --store sto' stores
offers 'tamis add --store=sto' stores
offers 'tamis add seen 2> sto' stores storeys
offers 'tamis check <storeys se' seen seen.2026
offers 'tamis build new --except sto' stores storeys
offers 'tamis build new stores --against=sto' stores storeys
offers 'tamis backup sto' stores
offers 'tamis import '
finish
