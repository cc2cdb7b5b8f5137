# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# completions.sh: what complete_bash.sh and complete_zsh.sh ask alike.  Sourced.  Each of them has `offered LINE`, which
# prints what is offered there, one a line and sorted, and `wants_value COMMAND OPTION`.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/docs/lib.sh
. "$here/lib.sh"

# offers LINE ANSWER...: these, no more and no fewer.
offers()
{
    local line=$1
    shift
    same "for '$line'" "$([ $# -eq 0 ] || printf '%s\n' "$@" | sort)" "$(offered "$line")"
}

offers_commands()
{
    local command option expected got
    mapfile -t commands < <(commands)
    offers 'tamis ' "${commands[@]}" help version
    offers 'tamis help ' "${commands[@]}" help version
    offers 'tamis -' --store --help -V --version --wait --force-network-fs --timeout --cacert --cert --key --insecure
    offers 'tamis list --sort s' size state seed size_bytes slices
    offers 'tamis list --output it' items
    offers 'tamis top --sort n' name new
    for command in "${commands[@]}"; do
        mapfile -t options < <(help_options "$command" | tr -d =)
        offers "tamis $command -" "${options[@]}" --help
        # An option that takes a value must not be taken for one that does not, and the other way round.
        for option in $(help_options "$command"); do
            if wants_value "$command" "${option%=}"; then got=yes; else got=no; fi
            [[ $option == *= ]] && expected=yes || expected=no
            same "does $command $option take a value" "$expected" "$got"
        done
    done
}

# Leaves in $kinds those that can be created.
offers_values()
{
    mapfile -t kinds < <(tamis calc -n 1000 -p 0.01 --json | sed 's/.*"kind":"\([a-z]*\)".*/\1/')
    [ "${#kinds[@]}" -ge 4 ] || fail "tamis calc --json names no kinds"
    offers 'tamis calc --kind ' "${kinds[@]}"
    mapfile -t kinds < <(printf '%s\n' "${kinds[@]}" | grep -vx fuse) # is built, not created
    offers 'tamis create new --kind ' "${kinds[@]}"
    offers 'tamis build new --kind ' fuse blocked bloom
    offers 'tamis create new -n '
}

# make_scene NAME...: filters, one in another store, and a working directory with a directory and a file.
make_scene()
{
    local name
    for name; do
        tamis create -n 100 -- "$name"
    done
    tamis --store "$scratch/other store" create elsewhere -n 100
    mkdir -p "$scratch/files/stores"
    cd "$scratch/files"
    touch storeys
}

# offers_filters NAME...: all of the scene, as they are offered; seen is among them.
offers_filters()
{
    local command key
    for command in add check list info explain export rename drop sync verify doctor merge compare build except \
        generations rollback; do
        offers "tamis $command -- " "$@"
    done
    offers 'tamis add seen '
    offers 'tamis create '
    offers 'tamis rename seen '
    offers 'tamis except seen ' add remove list
    offers 'tamis except seen add '
    offers 'tamis explain --hash-set xxh3 '
    for key in a b c; do
        echo "$key" | tamis build seen --kind fuse --keep 5
    done
    offers 'tamis rollback seen ' 1 2 3
    offers 'tamis rollback seen 2' 2
    tamis rollback seen 2 2>/dev/null
    offers 'tamis rollback seen ' 1 3 4
    offers "tamis --store '$scratch/other store' add " elsewhere
    offers "tamis add --store=${scratch}/other\\ store " elsewhere
    offers 'tamis --store /nowhere check '
}

offers_fields_and_files()
{
    read -r -a fields < <(known_fields seen)
    offers 'tamis info seen ' "${fields[@]}"
    offers 'tamis add seen <sto' stores storeys
    offers 'tamis build new sto' stores storeys
    offers 'tamis import new --from guava sto' stores storeys
    offers 'tamis export seen sto' stores storeys
}
