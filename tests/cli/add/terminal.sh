# SPDX-License-Identifier: BSD-2-Clause
# On a terminal: standard input gets a hint and no progress line, standard error shows progress.
needs_terminal
tamis create seen -n 1000
printf 'one\ntwo\n\004' | script -qec 'tamis add seen' /dev/null >typed
grep -c 'tamis: reading keys from the terminal, one a line; end with Ctrl-D' typed
grep -c 'keys/s' typed
tamis check seen one two
mkfifo input
script -qec 'tamis add seen <input' /dev/null >shown </dev/null &
{ echo three; sleep 0.5; echo four; sleep 0.1; } >input
wait
grep -c 'keys, [0-9]* keys/s' shown
script -qec 'tamis add seen --no-progress <input' /dev/null >shown </dev/null &
{ echo five; sleep 0.5; echo six; } >input
wait
wc -c <shown
tamis info seen items
