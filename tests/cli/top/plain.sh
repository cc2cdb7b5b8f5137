# SPDX-License-Identifier: BSD-2-Clause
# Directory only: reads the headers of files
# Without a terminal, and on one that has lines only, each look is printed below the last, whatever TERM is, until
# somebody ends it.
tamis create seen -n 1000
# looks COMMAND...: run it until two looks are there; what it printed is in `shown`.
looks() {
    : >shown
    "$@" >shown 2>told &
    until [ "$(grep -c '^seen' shown)" -ge 2 ]; do sleep 0.05; done
    kill $!
    wait $! 2>ended
}
for TERM in dumb no-such-terminal '' xterm; do
    looks env TERM="$TERM" tamis top --interval 50ms
    echo "exit $?"
    sed 7q shown | no_times
    cat told
done
looks env -u TERM tamis top --interval 50ms
sed 7q shown | no_times
needs_terminal
for TERM in dumb no-such-terminal ''; do
    looks env TERM="$TERM" script -qec 'tamis top --color=never --interval 50ms' /dev/null
    ! grep -q $'\033' shown || echo "TERM=$TERM: there are escapes"
done
