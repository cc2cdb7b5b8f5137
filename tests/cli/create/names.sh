# SPDX-License-Identifier: BSD-2-Clause
# Names from files and standard input, many at once.  Seen to fail: with a look at the first name only, for one that is
# there; with names that are checked batch by batch, for the last one.
# Directory only: --names is not for a server
{
    seq -f 'host%03g' 600
    echo 'ä b'
} >list
tamis create --names list -n 100
tamis list --total | tail -n 1 | tr -s ' '
tamis list host600
tamis info 'ä b' segments
tamis add host007 key && tamis check host007 key
refused tamis create --names list -n 100
echo more | refused tamis create --names list --names - -n 100
echo more | tamis create --names list --names - -n 100 --if-missing
tamis check host007 key
tamis list more
printf 'a\0b c\0' | tamis create --names - -z --like host007
tamis info 'b c' segments
refused tamis create --names nowhere -n 100
tamis create --names - -n 100 </dev/null
printf 'x\ny\nx\n' | refused tamis create --names - -n 100
{
    seq -f 'new%03g' 600
    printf 'tab\there\n'
} | refused tamis create --names - -n 100
printf 'x\0y\n' | refused tamis create --names - -n 100
printf 'x\nhost007\n' | expect 2 tamis create --names - -n 101 --if-missing
tamis list 'x*'
refused tamis create --names list name -n 100
refused tamis create -z name -n 100
refused tamis create --names list -n 100 --json
sound
