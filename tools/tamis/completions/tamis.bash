# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tamis.bash: completion of the `tamis` command for bash 4.4 and later.  Sourced; needs nothing of
# the bash-completion package, and does no harm beside it.
#
# bash cuts the line into words at = and : too (COMP_WORDBREAKS) and leaves the quotes in, but a
# filter may be called "a:b c".  So the line is taken apart here, by the rules of the shell itself.
# The functions share variables that _tamis declares (a function sees its caller's locals):
#
#   words       the words before the cursor, without quotes; words[0] is the command
#   word        the one that the cursor is at the end of
#   quote       the quote that is still open in it: ', " or nothing
#   lead        the front of `word` that readline leaves alone, so that no answer may repeat it
#   redirected  yes: that word is the file of a redirection
#   command     the subcommand, once it is there
#   given       its arguments before the cursor, options taken out
#   wanting     the option whose value is being typed
#   ended       yes: a -- was among the words, so that no options follow
#   store       the value of --store
#   access      the options of a connection to it, with their values
#   hash_set    the value of --hash-set

# What tamis answers to these arguments, as the line names tamis and the store.
_tamis_ask()
{
    local tamis=${words[0]/#\~\//"${HOME-}"/}
    type -P "$tamis" >/dev/null || tamis=tamis # an alias, say
    local -a call=("$tamis")
    [[ ! $store ]] || call+=(--store "${store/#\~\//"${HOME-}"/}")
    call+=("${access[@]}")
    "${call[@]}" "$@" 2>/dev/null </dev/null
}

# The options of a command, as its help lists them; without a command, those of tamis itself.
_tamis_options()
{
    [[ $1 ]] || printf '%s\n' -V --version --wait --force-network-fs --store \
        --timeout --cacert --cert --key --insecure
    [[ ! $1 ]] || _tamis_ask help "$1" | sed -nE 's/^ {2,6}((-[a-z]), )?(--[a-z-]+).*/\2 \3/p'
    printf '%s\n' --help
}

# Does $1 take a value that is the next word?  -n and -zn do; -n10 has it already.
_tamis_wants_value()
{
    case $1 in
    --store | --capacity | --rate | --bits | --hashes) return 0 ;;
    --kind | --counter-bits | --hash-set | --seed | --like | --memory | --from | --to) return 0 ;;
    --on-full | --pages | --window | --window-from | --key-rule | --slices | --mode | --except | --against | --keep | --threads | --shard) return 0 ;;
    --output | --interval | --sort | --format | --field | --separator | --sync-interval | --file | --in | --names | --wait | --shards | --replicas) return 0 ;;
    --timeout | --cacert | --cert | --key | --answer | --max-bytes | --retry | --where | --restore | --forget-lost) return 0 ;;
    --sign | --signature | --trusted-comment | --password-file | --verify | --expect-comment | --at-least | --max-shrink) return 0 ;;
    --*) return 1 ;;
    -*n) [[ ${1%?} != *[npmko]* && $command != @(drop|repair) ]] ;; # a dry run there
    -*[pmko]) [[ ${1%?} != *[npmko]* ]] ;;
    *) return 1 ;;
    esac
}

# ---- The line ----------------------------------------------------------------------------------

# A word ends: it joins `words`, unless it is the file of a redirection.
_tamis_end_word()
{
    if [[ $begun ]]; then
        [[ $redirected ]] || words+=("$word")
        redirected=''
    fi
    begun='' word='' lead=''
}

# One character that no quote protects.
_tamis_split_plain()
{
    case $1 in
    [\'\"]) begun=yes quote=$1 lead=$word ;;
    [[:space:]]) _tamis_end_word ;;
    [\<\>])
        [[ $word != +([0-9]) ]] || begun='' # the 2 of 2>errors is no word
        _tamis_end_word
        redirected=yes
        ;;
    *)
        begun=yes word+=$1
        [[ $1 != [=:] || $COMP_WORDBREAKS != *"$1"* ]] || lead=$word
        ;;
    esac
}

# COMP_LINE up to the cursor into words, word, quote, lead and redirected.
_tamis_split()
{
    local line=${COMP_LINE:0:${COMP_POINT:-${#COMP_LINE}}} i c
    local begun='' # a word has begun, perhaps an empty one: ''
    for ((i = 0; i < ${#line}; i++)); do
        c=${line:i:1}
        if [[ $quote && $c == "$quote" ]]; then
            quote=''
        elif [[ $quote == '"' && $c == \\ && ${line:i+1:1} == [\\\"\$\`] ]]; then
            word+=${line:i+1:1} i=$((i + 1))
        elif [[ $quote ]]; then
            word+=$c
        elif [[ $c == \\ ]]; then
            begun=yes word+=${line:i+1:1} i=$((i + 1))
        else
            _tamis_split_plain "$c"
        fi
    done
}

# Sort the words before the cursor into command, given, wanting, ended, store, access and hash_set.
_tamis_read_words()
{
    local w
    for w in "${words[@]:1}"; do
        if [[ $wanting ]]; then
            _tamis_note_value "$wanting" "$w"
            wanting=''
        elif [[ $ended || $w != -?* ]]; then
            if [[ $command ]]; then given+=("$w"); else command=$w; fi
        elif [[ $w == -- ]]; then
            ended=yes
        elif [[ $w == --*=* ]]; then
            _tamis_note_value "${w%%=*}" "${w#*=}"
        elif _tamis_wants_value "$w"; then
            wanting=$w
        elif [[ $w == --insecure ]]; then
            access+=("$w")
        fi
    done
}

_tamis_note_value()
{
    case $1 in
    --store) store=$2 ;;
    --cacert | --cert | --key) access+=("$1" "${2/#\~\//"${HOME-}"/}") ;;
    --hash-set) hash_set=$2 ;;
    esac
}

# ---- The answers -------------------------------------------------------------------------------

# Offer those of the answers $3... that continue $1.  $2 stands before each of them in the word, as
# --kind= does in --kind=bloom.  Each is quoted as the place where it is put needs it.
_tamis_offer()
{
    local current=$1 front=$2 answer
    shift 2
    for answer; do
        [[ $answer == "$current"* ]] || continue
        answer=$front$answer
        answer=${answer#"$lead"}
        case $quote in
        \') answer=${answer//\'/\'\\\'\'} ;;
        \")
            answer=${answer//\\/\\\\} answer=${answer//\"/\\\"}
            answer=${answer//\$/\\\$} answer=${answer//\`/\\\`}
            ;;
        *) printf -v answer %q "$answer" ;;
        esac
        COMPREPLY+=("$answer")
    done
}

# $1 is -d for directories, -f for all files; readline quotes them and ends a directory with /.
_tamis_offer_paths()
{
    local front=$3 path
    compopt -o filenames 2>/dev/null # fails where no completion is under way, as in tests
    while IFS= read -r path; do
        path=$front$path
        COMPREPLY+=("${path#"$lead"}")
    done < <(compgen "$1" -- "$2")
}

# The filters of the store that the line names, except those that are given already, and those that
# would be taken for options.
_tamis_offer_filters()
{
    local name
    local -a names=()
    local -A taken=()
    for name in "${given[@]}"; do
        [[ ! $name ]] || taken[$name]=yes
    done
    while IFS= read -r name; do
        [[ ${taken[$name]-} || ($name == -* && ! $ended) ]] || names+=("$name")
    done < <(_tamis_ask list -q -- "$1")
    _tamis_offer "$1" "$2" "${names[@]}"
}

# The generations of the filter that rollback is about, except the one in force.
_tamis_offer_generations()
{
    local number state rest
    local -a numbers=()
    while read -r number state rest; do
        [[ $state != kept ]] || numbers+=("$number")
    done < <(_tamis_ask generations -- "${given[0]}")
    _tamis_offer "$word" '' "${numbers[@]}"
}

_tamis_offer_commands()
{
    local -a commands
    read -r -d '' -a commands < <(_tamis_ask help | sed -nE 's/^  ([a-z]+) .*/\1/p')
    _tamis_offer "$word" '' "${commands[@]}" help version
}

_tamis_offer_fields()
{
    local -a fields
    read -r -d '' -a fields < <(_tamis_listed info fields)
    _tamis_offer "$word" '' "${fields[@]}"
}

_tamis_offer_options()
{
    local -a options
    read -r -d '' -a options < <(_tamis_options "$command")
    _tamis_offer "$word" '' "${options[@]}"
}

# What the help of the command $1 lists behind the word $2.
_tamis_listed()
{
    _tamis_ask help "$1" | sed -n "/^$2:/,/^\$/{s/^$2://;p}"
}

# php takes a list, of which this offers one.
_tamis_offer_hash_sets()
{
    local -a sets
    read -r -d '' -a sets < <(_tamis_listed create 'hash sets')
    sets=("${sets[@]/%php/php:bkdr,sdbm,js}")
    _tamis_offer "$1" "$2" "${sets[@]/%pybloomfilter/pybloomfilter:17,4,2903}"
}

# The value $2 of the option $1; $3 is what stands before it in the same word.
_tamis_offer_value()
{
    case $1 in
    -o | --output | --sort)
        if [[ $command == list ]]; then
            local -a columns
            read -r -d '' -a columns < <(_tamis_listed list columns)
            _tamis_offer "$2" "$3" "${columns[@]}"
        elif [[ $1 == --sort ]]; then
            _tamis_offer "$2" "$3" name kind capacity items used rate rate-now bits size state new full-in
        else
            _tamis_offer_paths -f "$2" "$3"
        fi
        ;;
    --store) _tamis_offer_paths -d "$2" "$3" ;;
    --format) _tamis_offer "$2" "$3" lines hosts adblock domains csv tsv jsonl cdx ;;
    --kind)
        local -a kinds
        read -r -d '' -a kinds < <(_tamis_listed "$command" kinds)
        _tamis_offer "$2" "$3" "${kinds[@]}"
        ;;
    --sign | --signature | --password-file | --verify) _tamis_offer_paths -f "$2" "$3" ;;
    --except | --against | --file | --names | --cacert | --cert | --key) _tamis_offer_paths -f "$2" "$3" ;;
    --color) _tamis_offer "$2" "$3" auto always never ;;
    --counter-bits) _tamis_offer "$2" "$3" 4 8 16 32 ;;
    --on-full) _tamis_offer "$2" "$3" grow refuse warn ;;
    --pages) _tamis_offer "$2" "$3" auto small huge ;;
    --window-from) _tamis_offer "$2" "$3" first last ;;
    --key-rule) _tamis_offer "$2" "$3" bytes name name:idn url url:idn ;;
    --hash-set)
        [[ $command != build ]] || { _tamis_offer "$2" "$3" xxh3 sip && return; }
        _tamis_offer_hash_sets "$2" "$3"
        ;;
    --from | --to)
        [[ $command != repair ]] || { _tamis_offer_paths -d "$2" "$3" && return; }
        _tamis_offer "$2" "$3" redis-bitmap redisbloom guava spark parquet dcso pybloomfilter tamis redis:// rediss:// unix:///
        ;;
    --like | --in) given=() && _tamis_offer_filters "$2" "$3" ;;
    esac
}

# An argument that is no option.  Keys and new names are the user's own.
_tamis_offer_argument()
{
    case $command,${#given[@]} in
    ,*) _tamis_offer_commands ;;
    help,0) _tamis_offer_commands ;;
    explain,0) [[ $hash_set ]] || _tamis_offer_filters "$word" '' ;;
    add,0 | check,0 | remove,0 | count,0 | list,0 | info,0 | rename,0 | export,0) _tamis_offer_filters "$word" '' ;;
    build,0 | except,0 | generations,0 | rollback,0 | pull,0) _tamis_offer_filters "$word" '' ;;
    except,1) _tamis_offer "$word" '' add remove list ;;
    rollback,1) _tamis_offer_generations ;;
    pull,1) _tamis_offer "$word" '' https:// file:/// ;;
    backup,0 | restore,0) _tamis_offer_paths -d "$word" '' ;;
    restore,*) _tamis_offer_filters "$word" '' ;;
    import,1 | export,1 | build,* | uniq,*) _tamis_offer_paths -f "$word" '' ;;
    repair,0) [[ ${store:-${TAMIS_STORE-}} != *://* ]] || _tamis_offer_filters "$word" '' ;; # lost shards
    compare,[01] | merge,* | sync,* | verify,* | doctor,* | drop,* | rotate,* | report,*) _tamis_offer_filters "$word" '' ;;
    info,1) _tamis_offer_fields ;;
    calc,0) _tamis_offer_options ;; # it takes nothing else
    esac
}

_tamis()
{
    local IFS=$' \t\n'
    local word='' quote='' lead='' redirected='' command='' wanting='' ended='' store='' hash_set=''
    local -a words=() given=() access=()
    COMPREPLY=()
    _tamis_split
    _tamis_read_words
    case $command in # its other names
    ls) command=list ;;
    mv) command=rename ;;
    esac
    if [[ $redirected ]]; then
        _tamis_offer_paths -f "$word" ''
    elif [[ $wanting ]]; then
        _tamis_offer_value "$wanting" "$word" ''
    elif [[ ! $ended && $word == --*=* ]]; then
        _tamis_offer_value "${word%%=*}" "${word#*=}" "${word%%=*}="
    elif [[ ! $ended && $word == -* ]]; then
        _tamis_offer_options
    else
        _tamis_offer_argument
    fi
}

complete -F _tamis tamis
