#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# complete_fish.sh COMPLETION-FILE: what the fish completion offers, by fish's own `complete -C`.
# shellcheck source=tests/docs/completions.sh
. "$(dirname "${BASH_SOURCE[0]}")/completions.sh"
need fish
file=$(realpath "$1")
fish -n "$file" || die "fish cannot read $file"

export HOME=$scratch
names=(seen seen.2026 'a:b c' "it's" -odd)
make_scene "${names[@]}"

# The session answers each line with what is offered, one a line, and "="; a line that begins with ? asks whether an option
# of a command takes a value.  A | ends each line, as `read` takes spaces away.
coproc fish --no-config -c '
    source $argv[1]
    while read -l line
        set line (string replace -r "[|]\$" "" -- $line)
        if string match -q -- "\?*" $line
            __fish_tamis_wants_value (string split " " -- (string sub -s 2 -- $line)); and echo yes
        else
            complete -C $line | string replace -r "\t.*" ""
        end
        echo =
    end' "$file"
answers=${COPROC[0]} questions=${COPROC[1]}

# The answer to a line, into $answer.  It asks in no pipe, where bash closes the session's descriptors.
ask()
{
    local line
    answer=''
    printf '%s|\n' "$1" >&"$questions"
    while IFS= read -r -t 60 line <&"$answers"; do
        [ "$line" != = ] || return 0
        answer+=$line$'\n'
    done
    die "fish did not answer to '$1'"
}

offered()
{
    ask "$1"
    printf '%s' "$answer" | sed 's|^stores/$|stores|' | sort # fish ends a directory
}

wants_value()
{
    ask "?$1 $2"
    [ "$answer" = $'yes\n' ]
}

# ---- Commands, options, values -----------------------------------------------------------------

offers_commands
offers 'tamis --store /tmp ch' check
offers 'tamis list extra -q' -q
offers 'tamis ls --rec' --recorded
offers 'tamis list --color=a' --color=always --color=auto
offers_values
offers 'tamis calc --kind=blo' --kind=blocked --kind=bloom
offers 'tamis explain --hash-set php-mt' php-mt php-mt-legacy
offers 'tamis import new --from re' redis-bitmap redisbloom redis:// rediss://
offers 'tamis create new -n10k --kind ' "${kinds[@]}"

# ---- Filters, fields, files --------------------------------------------------------------------

offers_filters "${names[@]}"
plain=(seen seen.2026 'a:b c' "it's") # what is not taken for an option
offers 'tamis check ' "${plain[@]}"
offers 'tamis check se' seen seen.2026
offers 'tamis check -v --hex seen.' seen.2026
offers 'tamis create new --like ' "${plain[@]}"
offers 'tamis drop -n seen se' seen.2026
offers 'tamis --store ~/other\ store check ' elsewhere
offers_fields_and_files
offers 'tamis info seen check' checkpointed_at
offers 'tamis list -o si' size size_bytes

exec {questions}>&- # ends the session
wait
finish
