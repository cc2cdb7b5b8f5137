#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# complete_zsh.sh COMPLETION-FILE: what the zsh completion offers, and what it inserts, in a real
# interactive zsh under compinit (zsh_session.zsh).
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/docs/lib.sh
. "$here/lib.sh"
need zsh
file=$(realpath "$1")
zsh -n "$file" || die "zsh cannot read $file"

export HOME=$scratch
names=(seen seen.2026 'a:b c' "it's" 'say "$x"' -odd)
for name in "${names[@]}"; do
    tamis create -n 100 -- "$name"
done
tamis --store "$scratch/other store" create elsewhere -n 100
mkdir "$scratch/files"
cd "$scratch/files"
mkdir stores
touch storeys

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

# offers LINE ANSWER...: these, no more and no fewer.
offers()
{
    local line=$1
    shift
    ask "$line"
    same "for '$line'" "$([ $# -eq 0 ] || printf '%s\n' "$@" | sort)" "${matches%$'\n'}"
}

# becomes LINE RESULT: that is what the line is after the completion.
becomes()
{
    ask "$1"
    same "after '$1'" "$2" "$inserted"
}

# ---- Commands and options ----------------------------------------------------------------------

mapfile -t commands < <(commands)
offers 'tamis ' "${commands[@]}" help version
offers 'tamis help ' "${commands[@]}" help version
offers 'tamis -' --store --help -V --version --wait --force-network-fs --timeout --cacert --cert --key --insecure
becomes 'tamis --store /tmp ch' 'tamis --store /tmp check '
for command in "${commands[@]}"; do
    mapfile -t options < <(help_options "$command" | tr -d =)
    offers "tamis $command -" "${options[@]}" --help
    # Behind an option that takes a value no option can follow; behind any other it can.
    for option in $(help_options "$command"); do
        ask "tamis $command ${option%=} -"
        [[ -z $matches ]] && got=yes || got=no
        [[ $option == *= ]] && expected=yes || expected=no
        same "does $command $option take a value" "$expected" "$got"
    done
done

# ---- Values ------------------------------------------------------------------------------------

mapfile -t kinds < <(tamis calc -n 1000 -p 0.01 --json | sed 's/.*"kind":"\([a-z]*\)".*/\1/')
[ "${#kinds[@]}" -ge 4 ] || fail "tamis calc --json names no kinds"
offers 'tamis calc --kind ' "${kinds[@]}"
mapfile -t kinds < <(printf '%s\n' "${kinds[@]}" | grep -vx fuse) # is built, not created
offers 'tamis create new --kind ' "${kinds[@]}"
offers 'tamis calc --kind=b' blocked bloom
becomes 'tamis calc --kind=blo' 'tamis calc --kind=blo'
becomes 'tamis calc --kind=bloo' 'tamis calc --kind=bloom '
sets=(xxh3 'php:bkdr,sdbm,js' php-mt php-mt-legacy md5 redisbloom guava sip spark-v1 spark-v2 parquet)
offers 'tamis explain --hash-set ' "${sets[@]}"
offers 'tamis create new --hash-set=' "${sets[@]}"
becomes 'tamis explain --hash-set xx' 'tamis explain --hash-set xxh3 '
becomes 'tamis explain --hash-set php:' 'tamis explain --hash-set php:bkdr,sdbm,js '
becomes 'tamis import new --from redisb' 'tamis import new --from redisbloom '
becomes 'tamis export seen --to=g' 'tamis export seen --to=guava '
offers 'tamis build new --kind ' fuse blocked bloom
offers 'tamis create new -n '
offers 'tamis create new -n 10k --kind ' "${kinds[@]}"

# ---- Filters -----------------------------------------------------------------------------------

for command in add check list info explain export rename drop sync verify doctor merge compare build except \
    generations rollback; do
    offers "tamis $command -- " "${names[@]}"
done
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
offers 'tamis add seen '
offers 'tamis create '
offers 'tamis rename seen '
offers 'tamis except seen ' add remove list
offers 'tamis except seen add '
for key in a b c; do
    echo "$key" | tamis build seen --kind fuse --keep 5
done
tamis rollback seen 2 2>/dev/null
offers 'tamis rollback seen ' 1 3 4
offers 'tamis explain --hash-set xxh3 '
offers "tamis drop seen 'a:b c' it\\'s s" seen.2026 'say "$x"'
offers 'tamis rm seen a' 'a:b c'
offers 'tamis list --sort s' size state
offers 'tamis top --sort n' name new
becomes 'tamis list --color=n' 'tamis list --color=never '

offers "tamis --store '$scratch/other store' add " elsewhere
offers "tamis add --store=${scratch}/other\\ store " elsewhere
offers 'tamis --store ~/other\ store check ' elsewhere
offers 'tamis --store /nowhere check '

# ---- Fields, files, directories ----------------------------------------------------------------

read -r -a fields < <(known_fields seen)
offers 'tamis info seen ' "${fields[@]}"
becomes 'tamis info seen check' 'tamis info seen checkpointed_at '
becomes 'tamis --store sto' 'tamis --store stores/'
becomes 'tamis add --store=sto' 'tamis add --store=stores/'
offers 'tamis add seen <sto' stores storeys
offers 'tamis build new sto' stores storeys
offers 'tamis build new --except=sto' stores storeys
offers 'tamis build new stores --against sto' stores storeys
becomes 'tamis backup sto' 'tamis backup stores/'
offers 'tamis import new --from guava sto' stores storeys
offers 'tamis export seen sto' stores storeys

exec {questions}>&- # ends the session
wait
finish
