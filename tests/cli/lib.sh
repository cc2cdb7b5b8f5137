# SPDX-License-Identifier: BSD-2-Clause
# lib.sh: what the cases share; read by run.sh before the case.

# expect STATUS COMMAND...: run it; say so if its exit status is another.
expect() {
    local want=$1 got
    shift
    "$@"
    got=$?
    [ "$got" -eq "$want" ] || echo "expected exit $want, got $got: $*"
}

# needs_terminal: the case is skipped where `script` gives no terminal: it is missing, or a chroot has no /dev/pts.
needs_terminal() {
    script -qec true /dev/null >/dev/null 2>&1 || skip "needs script, and a terminal by it"
}

# snapshot: names, sizes and contents of all files of the store.
snapshot() {
    if on_server; then # what a server's filters tell of themselves
        tamis list --json
    elif [ -e "$TAMIS_STORE" ]; then
        (cd "$TAMIS_STORE" && find . -type f -exec cksum {} + | sort -k 3)
    else
        echo "no store"
    fi
}

# on_server: the store is a server; $TAMIS_SERVER_STORES are the directories of its nodes, and
# $TAMIS_SERVER_PORTS their ports.
on_server() {
    [[ $TAMIS_STORE == *://* ]]
}

# on_directory COMMAND...: run it if the store is a directory.
on_directory() {
    on_server || "$@"
}

# dropped: waits until the nodes of the server have dropped the filters whose keys are gone.
dropped() {
    local port
    for port in $TAMIS_SERVER_PORTS; do
        until grep -q "filters_to_drop:0" <(exec 3<>"/dev/tcp/127.0.0.1/$port" && printf 'INFO tamis\r\nQUIT\r\n' >&3 && cat <&3); do
            sleep 0.02 # cron looks ten times a second
        done
    done
}

# sound: `tamis verify` of the store; of a server where its files are, with what all nodes say as one sentence.
sound() {
    local store said count=0
    if ! on_server; then
        tamis verify
        return
    fi
    dropped
    for store in $TAMIS_SERVER_STORES; do
        if said=$(tamis --store "$store" verify 2>&1); then
            said=${said#tamis: checked }
            count=$((count + ${said%% *}))
        else
            echo "$said"
        fi
    done
    [ "$count" -eq 1 ] && said=filter || said=filters
    echo "tamis: checked $count $said: no problem found" >&2
}

# lock_catalog -s|-x: another process takes the catalog's lock, shared or exclusive, and has it until unlock_catalog.  It lives
# meanwhile: in a container, which has PIDs of its own, the kernel does not name a holder that has ended.
lock_catalog() {
    coproc locker { exec flock "$1" "$TAMIS_STORE/catalog.lock" sh -c 'echo locked; read -r _'; }
    read -r _ <&"${locker[0]}"
}
unlock_catalog() {
    # shellcheck disable=SC2154 # coproc sets it
    local pid=$locker_PID
    eval "exec ${locker[1]}>&-"
    wait "$pid" || true # its read has found the end
}

# nothing_left: no filter and no file of one.
nothing_left() {
    local left
    if on_server; then left=$(tamis list -q); else left=$(find "$TAMIS_STORE/segments" "$TAMIS_STORE/staging" -type f); fi
    echo "${left:-nothing is left}"
}

# here: the files of the scratch directory, without the store.
here() {
    local name
    for name in *; do [ "$name" = store ] || echo "$name"; done
}

# refused COMMAND...: it must exit with 2 and leave the store as it was, or not there.
refused() {
    local before after
    before=$(snapshot)
    expect 2 "$@"
    after=$(snapshot)
    [ "$before" = "$after" ] || printf 'the store was changed by: %s\n%s\n' "$*" "$after"
}

# skip REASON: the case cannot be run here.
skip() {
    echo "skipped: $1" >&2
    exit 77
}

# need_root: some cases mount file systems.
need_root() {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
}

# small_disk SIZE: the store is on a file system of that size, in the directory `disk`.
small_disk() {
    need_root
    mkdir disk
    mount -t tmpfs -o size="$1" tmpfs disk || skip "cannot mount"
    export TAMIS_STORE=$SCRATCH/disk/store
}

# denied COMMAND...: run it as a user that file permissions apply to.
denied() {
    if [ "$(id -u)" -ne 0 ]; then
        "$@"
        return
    fi
    [ -n "$(type -P setpriv)" ] || skip "needs setpriv"
    # The binary may be where only root can go.
    [ -e "$SCRATCH/public/tamis" ] || { mkdir -p "$SCRATCH/public" && cp -L "$SCRATCH/bin/tamis" "$SCRATCH/public/tamis"; }
    chmod 755 "$SCRATCH" "$SCRATCH/public"
    PATH="$SCRATCH/public:$PATH" setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
}

# poke FILE OFFSET BYTES: overwrite bytes of a file; BYTES as printf takes them.
poke() {
    # shellcheck disable=SC2059
    printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# no_sizes FILE: hide sizes, which differ from one file system to another.
no_sizes() {
    sed -E 's/[0-9.]+ [KMGTPE]?i?B( \([0-9]+ bytes\))?/SIZE/g' "$1"
}

# no_times: hide times, which differ from run to run.
no_times() {
    sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{9})?Z/TIME/g'
}

# begin COMMAND...: in the background, its errors in `told`.  A shell has its background commands ignore SIGINT.
begin() {
    (trap - INT && exec "$@") 2>told &
}

# stop_by SIGNAL: send it to what was begun last; how that ends, and what it has told.
stop_by() {
    kill -"$1" $!
    wait $!
    echo "exit $?"
    cat told
}

# waits_with_handlers PID: it heeds SIGINT and SIGTERM, and waits for something.
waits_with_handlers() {
    local caught
    caught=$(awk '$1 == "SigCgt:" { print $2 }' "/proc/$1/status")
    (((0x$caught & 0x4002) == 0x4002)) && grep -q '^State:.S' "/proc/$1/status"
}
