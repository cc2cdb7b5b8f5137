# SPDX-License-Identifier: BSD-2-Clause
#
# tamis.fish: completion of the `tamis` command for fish 3.1 and later.
#
# The subcommands and their options are what `tamis help` prints, so only values and arguments stand here.  fish asks
# for all of it anew at each completion: __fish_tamis_offer prints what can stand at the cursor.

# The words before the cursor, without quotes.
function __fish_tamis_words
    commandline -opc
end

# What tamis answers to these arguments, as the line names tamis and the store.
function __fish_tamis_ask
    set -l words (__fish_tamis_words 2>/dev/null)
    set -l access
    set -l previous
    for word in $words[2..]
        switch $previous
            case --store --cacert --cert --key
                set -a access $previous (string replace -r '^~/' "$HOME/" -- $word)
        end
        switch $word
            case '--store=*' '--cacert=*' '--cert=*' '--key=*' --insecure
                set -a access $word
        end
        set previous $word
    end
    set -l tamis $words[1]
    type -q $tamis; or set tamis tamis
    $tamis $access $argv 2>/dev/null </dev/null
end

# The options of a command, one a line: letter, name, "value" or nothing, text.
function __fish_tamis_options
    __fish_tamis_ask help $argv[1] | string replace -rf \
        '^  (?:-([a-z]), |    )--([a-z-]+)( [A-Z/]+)?(\[=[A-Z]+\])? +(.*)$' '$1\t$2\t$3\t$5'
end

# What the help of the command $argv[1] lists behind the word $argv[2].
function __fish_tamis_listed
    __fish_tamis_ask help $argv[1] | sed -n "/^$argv[2]:/,/^\$/{s/^$argv[2]://;p}" | string match -ra '\S+'
end

function __fish_tamis_commands
    __fish_tamis_ask help | string replace -rf '^  ([a-z]+) +(.*)$' '$1\t$2'
    printf '%s\t%s\n' help 'print the usage of a command' version 'print the version'
end

# Does the option take a value that is the next word?  $argv[1] is the subcommand.
function __fish_tamis_wants_value
    switch $argv[2]
        case --store --wait --timeout --cacert --cert --key
            return 0
        case '--*=*'
            return 1
        case '--*'
            __fish_tamis_options $argv[1] | string match -qr '^[a-z]?\t'(string sub -s 3 -- $argv[2])'\t ?[A-Z]'
        case '-*'
            # The last letter of -zn; a letter that takes a value has it already when others follow.
            set -l letters (string split '' -- (string sub -s 2 -- $argv[2]))
            for letter in $letters[1..-2]
                __fish_tamis_options $argv[1] | string match -qr "^$letter\t[a-z-]+\t [A-Z]"; and return 1
            end
            __fish_tamis_options $argv[1] | string match -qr "^$letters[-1]\t[a-z-]+\t [A-Z]"
        case '*'
            return 1
    end
end

# The filters of the store, but those that are given.
function __fish_tamis_filters
    for name in (__fish_tamis_ask list -q)
        contains -- $name $argv; and continue
        string match -q -- '-*' $name; and not set -q __fish_tamis_ended; and continue
        echo $name
    end
end

# Files and directories that continue the word at the cursor.
function __fish_tamis_paths
    __fish_complete_path (string replace -r '^--[a-z-]+=' '' -- (commandline -ct))
end

# The values of the option $argv[2] of the subcommand $argv[1].
function __fish_tamis_values
    switch $argv[1]/$argv[2]
        case 'list/--output' 'list/-o' 'list/--sort'
            __fish_tamis_listed list columns
        case 'top/--sort'
            printf '%s\n' name kind capacity items used rate rate-now bits size state new full-in
        case '*/--store'
            __fish_complete_directories (string replace -r '^--store=' '' -- (commandline -ct))
        case 'repair/--from'
            __fish_complete_directories (string replace -r '^--from=' '' -- (commandline -ct))
        case '*/--file' '*/--names' '*/--except' '*/--against' '*/--output' '*/-o' '*/--cacert' '*/--cert' '*/--key' \
                '*/--sign' '*/--signature' '*/--password-file' '*/--verify'
            __fish_tamis_paths
        case '*/--like' '*/--in'
            __fish_tamis_filters
        case '*/--kind'
            __fish_tamis_listed $argv[1] kinds
        case 'build/--hash-set'
            printf '%s\n' xxh3 sip
        case '*/--hash-set'
            __fish_tamis_listed create 'hash sets' |
                string replace -r '^php$' 'php:bkdr,sdbm,js' |
                string replace -r '^pybloomfilter$' 'pybloomfilter:17,4,2903'
        case '*/--color'
            printf '%s\n' auto always never
        case '*/--format'
            printf '%s\n' lines hosts adblock domains csv tsv jsonl cdx
        case '*/--counter-bits'
            printf '%s\n' 4 8 16 32
        case '*/--on-full'
            printf '%s\n' grow refuse warn
        case '*/--key-rule'
            printf '%s\n' bytes name name:idn url url:idn
        case '*/--pages'
            printf '%s\n' auto small huge
        case '*/--window-from'
            printf '%s\n' first last
        case '*/--from' '*/--to'
            printf '%s\n' redis-bitmap redisbloom guava spark parquet dcso pybloomfilter tamis redis:// rediss:// unix:///
    end
end

# The arguments that can stand behind those that are given: $argv[1] is the subcommand.
function __fish_tamis_arguments
    set -l count (math (count $argv) - 1)
    switch $argv[1]/$count
        case 'help/0'
            __fish_tamis_commands
        case 'explain/0'
            string match -q -- '--hash-set*' (__fish_tamis_words); or __fish_tamis_filters
        case 'add/0' 'check/0' 'remove/0' 'count/0' 'list/0' 'top/0' 'info/0' 'rename/0' 'export/0' 'build/0' \
                'except/0' 'generations/0' 'rollback/0' 'pull/0' 'pages/0' 'compare/0' 'compare/1'
            __fish_tamis_filters $argv[2..]
        case 'backup/0' 'restore/0'
            __fish_complete_directories (commandline -ct)
        case 'merge/*' 'sync/*' 'verify/*' 'doctor/*' 'drop/*' 'rotate/*' 'report/*' 'restore/*'
            __fish_tamis_filters $argv[2..]
        case 'except/1'
            printf '%s\n' add remove list
        case 'pages/1'
            printf '%s\n' auto small huge
        case 'pull/1'
            printf '%s\n' https:// file:///
        case 'info/1'
            __fish_tamis_listed info fields
        case 'rollback/1'
            __fish_tamis_ask generations -- $argv[2] | string replace -rf '^ *([0-9]+) +kept .*' '$1'
        case 'import/1' 'export/1' 'build/*' 'uniq/*'
            __fish_tamis_paths
        case 'repair/0'
            string match -qr '://' -- "$TAMIS_STORE $(__fish_tamis_words)"; and __fish_tamis_filters
    end
end

# Prints all that can stand at the cursor.
function __fish_tamis_offer
    set -l words (__fish_tamis_words)
    set -l command ''
    set -l given
    set -l wanting ''
    set -e -g __fish_tamis_ended
    for word in $words[2..]
        if test -n "$wanting"
            set wanting ''
        else if set -q __fish_tamis_ended; or not string match -q -- '-?*' $word
            if test -z "$command"
                set command (string replace -r '^ls$' list -- $word | string replace -r '^mv$' rename)
            else
                set -a given $word
            end
        else if test "$word" = --
            set -g __fish_tamis_ended yes
        else if __fish_tamis_wants_value "$command" $word
            set wanting $word
        end
    end
    set -l current (commandline -ct)
    if test -n "$wanting"
        __fish_tamis_values "$command" (__fish_tamis_long "$command" $wanting)
    else if not set -q __fish_tamis_ended; and string match -q -- '--*=*' $current
        set -l option (string replace -r '=.*' '' -- $current)
        for value in (__fish_tamis_values "$command" $option)
            echo $option=$value
        end
    else if not set -q __fish_tamis_ended; and string match -q -- '-*' $current
        __fish_tamis_offer_options $command
    else if test -z "$command"
        __fish_tamis_commands
    else
        __fish_tamis_arguments $command $given
    end
    set -e -g __fish_tamis_ended
end

# The long name of an option that may be a letter.
function __fish_tamis_long
    string match -q -- '--*' $argv[2]; and echo $argv[2]; and return
    set -l letter (string sub -s -1 -- $argv[2])
    echo --(__fish_tamis_options $argv[1] | string replace -rf "^$letter\t([a-z-]+)\t.*" '$1')
end

function __fish_tamis_offer_options
    if test -z "$argv[1]"
        printf '%s\n' --store --help -V --version --wait --force-network-fs --timeout --cacert --cert --key --insecure
        return
    end
    __fish_tamis_options $argv[1] | while read -l -d \t letter name value text
        test -z "$letter"; or printf '%s\t%s\n' -$letter $text
        printf '%s\t%s\n' --$name $text
    end
    printf '%s\t%s\n' --help 'print the help'
end

complete -c tamis -e
complete -c tamis -f -a '(__fish_tamis_offer)'
