# SPDX-License-Identifier: BSD-2-Clause
# Directory only: modes of its files
# Of each right that a user lacks, the message says of which file or directory, and what gives it: what it says is run, as the owner,
# and the command works then, or lacks the next right.  (A user of the right group, with mode 0644, was told to "be of that group".)
[ "$(id -u)" -eq 0 ] || exit 77
chmod 755 "$SCRATCH" && cp "$(command -v tamis)" binary
member() { setpriv --reuid 65534 --regid 65534 --groups 12345 ./binary "$@"; }
stranger() { setpriv --reuid 65534 --regid 65534 --clear-groups ./binary "$@"; }
by_advice() { # COMMAND...
    for _ in 1 2 3 4 5 6; do
        "$@" >printed 2>said <keys && echo "works" && return
        sed -E 's/^tamis: //; s/user [0-9]+/user N/; s/staging\/[0-9a-f]+/staging\/NEW/' said | head -1
        advised=$(grep -o "'chmod [^']*'" said | head -1 | tr -d "'")
        [ -n "$advised" ] || return
        ${advised}
    done
}
seq 5000 >keys # the filter grows
make() {
    rm -rf store place
    tamis create seen -n 1000 --seed 1
    seq 200 | tamis add seen # so few that no segment is made ahead
    chgrp -R 12345 store
    chmod -R u=rwX,go=rX store
}
echo - a member of the group
make
by_advice member add seen
make
chmod 664 store/catalog.*
by_advice member add seen
make
chmod -R o= store
chmod g= store store/segments store/segments/* store/catalog.mdb
by_advice member check seen 1
make
mkdir -m 700 place && mv store place && chgrp 12345 place
by_advice member info seen items --store place/store
echo - the owner
make
chown -R 65534 store
chmod -R a-w store
by_advice stranger add seen
chmod 0 store/catalog.mdb
by_advice stranger check seen 1
echo - a stranger
make
stranger add seen 1
chmod -R o= store
stranger check seen 1
chmod -R g+w,o+x store
stranger check seen 1
