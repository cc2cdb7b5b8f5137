# SPDX-License-Identifier: BSD-2-Clause
#
# zsh_session.zsh COMPLETION-DIRECTORY SCRATCH: completes lines in an interactive zsh.
#
# A zsh runs in a pseudo-terminal, under compinit.  At its first prompt it reads lines from standard
# input, completes each as if Tab was pressed at its end, and answers on standard output: the
# matches, sorted; "= " and the line as it is then; an empty line.  The matches are what reaches
# compadd, which the session wraps.
emulate -R zsh
zmodload zsh/zpty || exit
completions=$1 scratch=$2

cat >$scratch/rc.zsh <<'RC'
PS1= PS2= RPS1=
unsetopt beep autolist automenu
fpath=($completions $fpath)
autoload -Uz compinit
compinit -u -D
typeset -ga matches

# The calls that only sort matches into arrays (-O, -A, -D) add none.
compadd() {
    local -a found
    if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
        builtin compadd -O found "$@"
        matches+=("$found[@]")
    fi
    builtin compadd "$@"
}

zle-line-init() {
    local line in out
    exec {in}<$scratch/question {out}>$scratch/answer
    while IFS= read -r -u $in line; do
        matches=() BUFFER=$line CURSOR=$#line
        zle complete-word
        print -rl -u $out -- ${(ou)matches} "= $BUFFER" ''
    done
    exit
}
zle -N zle-line-init
RC

mkfifo $scratch/question $scratch/answer
zpty session "completions=${(q)completions} scratch=${(q)scratch} zsh -f -i"
zpty -w session "source ${(q)scratch}/rc.zsh"
exec {input}<&0 # a job in the background is given /dev/null for its standard input
cat <&$input >$scratch/question &
cat <$scratch/answer &
# A terminal that nobody reads from would stop the session.
while zpty -r session drained; do :; done
wait
