#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# complete_zsh.sh COMPLETION-FILE: what the zsh completion offers, and what it inserts, in a real
# interactive zsh under compinit (zsh_session.zsh).
# shellcheck source=tests/docs/completions.sh
. "$(dirname "${BASH_SOURCE[0]}")/completions.sh"
need zsh
file=$(realpath "$1")
zsh -n "$file" || die "zsh cannot read $file"

export HOME=$scratch
names=(seen seen.2026 'a:b c' "it's" 'say "$x"' -odd)
make_scene "${names[@]}"

# The session answers each line with the matches, one a line and sorted, and a line "= " with the
# line as it stands after the completion; an empty line ends the answer.
coproc zsh -f "$here/zsh_session.zsh" "${file%/*}" "$scratch"
answers=${COPROC[0]} questions=${COPROC[1]}

# The answer to a line, into $matches and $inserted.
ask()
{
    local line
    matches='' inserted=''
    printf '%s\n' "$1" >&"$questions"
    while IFS= read -r -t 60 line <&"$answers"; do
        case $line in
        '') return ;;
        '= '*) inserted=${line#= } ;;
        *) matches+=$line$'\n' ;;
        esac
    done
    die "zsh did not answer to '$1'"
}

offered()
{
    ask "$1"
    printf '%s' "$matches"
}

# Behind an option that takes a value no option can follow; behind any other it can.
wants_value()
{
    [ -z "$(offered "tamis $1 $2 -")" ]
}

# becomes LINE RESULT: that is what the line is after the completion.
becomes()
{
    ask "$1"
    same "after '$1'" "$2" "$inserted"
}

# ---- Commands and options ----------------------------------------------------------------------

offers_commands
becomes 'tamis --store /tmp ch' 'tamis --store /tmp check '

# ---- Values ------------------------------------------------------------------------------------

offers_values
offers 'tamis calc --kind=b' blocked bloom
becomes 'tamis calc --kind=blo' 'tamis calc --kind=blo'
becomes 'tamis calc --kind=bloo' 'tamis calc --kind=bloom '
sets=(xxh3 'php:bkdr,sdbm,js' php-mt php-mt-legacy md5 redisbloom guava sip spark-v1 spark-v2 parquet dcso 'pybloomfilter:17,4,2903')
offers 'tamis explain --hash-set ' "${sets[@]}"
offers 'tamis create new --hash-set=' "${sets[@]}"
becomes 'tamis explain --hash-set xx' 'tamis explain --hash-set xxh3 '
becomes 'tamis explain --hash-set php:' 'tamis explain --hash-set php:bkdr,sdbm,js '
becomes 'tamis import new --from redisb' 'tamis import new --from redisbloom '
becomes 'tamis export seen --to=g' 'tamis export seen --to=guava '
offers 'tamis create new -n 10k --kind ' "${kinds[@]}"

# ---- Filters -----------------------------------------------------------------------------------

offers_filters "${names[@]}"
plain=(seen seen.2026 'a:b c' "it's" 'say "$x"') # what is not taken for an option
offers 'tamis check ' "${plain[@]}"
offers 'tamis create new --like ' "${plain[@]}"
offers 'tamis create new --like=see' seen seen.2026
becomes 'tamis check -v --hex seen.' 'tamis check -v --hex seen.2026 '
becomes 'tamis check a' 'tamis check a:b\ c '
becomes 'tamis check a:b\ ' 'tamis check a:b\ c '
becomes 'tamis check "a:b' 'tamis check "a:b c" '
becomes 'tamis check it' "tamis check it\\'s "
becomes 'tamis check say' 'tamis check say\ \"\$x\" '
offers "tamis drop seen 'a:b c' it\\'s s" seen.2026 'say "$x"'
offers 'tamis drop -n seen a' 'a:b c'
becomes 'tamis list --color=n' 'tamis list --color=never '
offers 'tamis --store ~/other\ store check ' elsewhere

# ---- Fields, files, directories ----------------------------------------------------------------

offers_fields_and_files
becomes 'tamis info seen check' 'tamis info seen checkpointed_at '
becomes 'tamis --store sto' 'tamis --store stores/'
becomes 'tamis add --store=sto' 'tamis add --store=stores/'
offers 'tamis build new --except=sto' stores storeys
offers 'tamis build new stores --against sto' stores storeys
becomes 'tamis backup sto' 'tamis backup stores/'

exec {questions}>&- # ends the session
wait
finish
