# SPDX-License-Identifier: BSD-2-Clause
"""A server whose store is on a slow disk, or on one that stands still.  The third argument of the test is slow_disk.c, built."""
import os
import shutil
import sys
import time

from harness import are_made, eventually, filters, follow, has_filters, refused, same, server, store_of

SLOW_DISK = os.path.abspath(sys.argv.pop(3))


class Disk:
    """A server whose store is on a disk of a given speed: a disk that stands still shows what comes first at any speed of
    the machine."""

    PATIENCE_S = 60  # of a client of a server that waits for its disk

    def __init__(self, *arguments, **settings):
        self.redis = server(*arguments, **settings)
        self.file = os.path.join(self.redis.directory, "speed")
        self.redis.environment = {"LD_PRELOAD": SLOW_DISK, "TAMIS_SLOW_DISK": self.file}
        self.takes(0)

    def takes(self, milliseconds):
        with open(self.file + ".new", "w", encoding="ascii") as file:
            file.write(f"{milliseconds}\n")
        os.replace(self.file + ".new", self.file)

    def stands_still(self):
        """Small filters that were answered before are made before, too."""
        are_made(self.redis.client())
        self.takes(-2)

    def children_stand_still(self):
        """Each child of the server, before it does anything."""
        self.takes(-3)

    def thread_stands_still(self, client):
        """That which drops and renames filters; new ones are made.  It stops behind one more thing, or before that: then it is
        to try again."""
        are_made(client)
        for turn in range(100):
            name = f"one more thing {turn}"
            client.good("BF.RESERVE", name, "0.01", 100_000)
            self.takes(-4)
            client.good("DEL", name)
            end = time.monotonic() + 1
            while name in filters(self.redis) and time.monotonic() < end:
                time.sleep(0.02)
            if name not in filters(self.redis):
                return
            self.takes(0)
            has_filters(self.redis, [one for one in filters(self.redis) if one != name])
        raise AssertionError("the thread does not stand still")

    def __enter__(self):
        self.redis.__enter__()
        client = self.redis.client()
        client.socket.settimeout(self.PATIENCE_S)
        return self, client

    def followed_by(self, other):
        """A client of a server that is its replica from now on."""
        follower = other.client()
        follow(follower, self.redis)
        return follower

    def __exit__(self, *what):
        self.redis.__exit__(*what)

    def ask(self, client, *commands):
        """Sends each command by a client of its own, and returns these clients when the server has taken all of them, of
        which none can be answered before the disk goes on."""
        waiting = waiting_clients(client)
        asking = [self.redis.client() for _ in commands]
        for one, command in zip(asking, commands):
            one.send(*command)
        eventually(lambda: waiting_clients(client) == waiting + len(commands), "all wait for the disk")
        return asking

    def at_once(self, client, *commands):
        """The answers to commands that wait for the disk together."""
        self.stands_still()
        asking = self.ask(client, *commands)
        self.takes(0)
        return [one.answer() for one in asking]


class DiskWithStore(Disk):
    """One whose server has a store with a filter, and drops no orphans."""

    def __init__(self, *arguments, **settings):
        super().__init__("drop-orphans", "no", *arguments, **settings)

    def __enter__(self):
        _, client = super().__enter__()
        client.good("BF.ADD", "first", "x")  # it makes the store
        has_filters(self.redis, ["first"], "the store")
        return self, client


def slices(client, key):
    told = client.good("TAMIS.INFO", key)
    return told[[str(word) for word in told].index("live slices") + 1]


def words_of(*commands):
    """Commands that a client sends in one piece."""
    return b"".join(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
                    for words in ([str(word).encode() for word in command] for command in commands))


def run_behind_the_thread(disk, *lines):
    """The disk goes on, the threads end their work, and before the server hears of it, it runs these commands, those of each client in
    one piece.  Returns the clients."""
    clients = [disk.redis.client() for _ in range(len(lines) + 1)]
    for one in clients:
        one.good("PING")
    clients[0].send("DEBUG", "SLEEP", "0.5")  # the others come in one turn of the event loop
    time.sleep(0.3)
    for one, commands in zip(clients[1:], lines):
        one.socket.sendall(words_of(*(([("DEBUG", "SLEEP", "1")] if one is clients[1] else []) + commands)))
    same(clients[0].answer(), "OK", "the first sleep")
    disk.takes(0)
    same(clients[1].answer(), "OK", "the second sleep")
    return clients[1:]


def restarted_without_store(disk):
    """The AOF is all that there is."""
    disk.redis.kill()
    shutil.rmtree(store_of(disk.redis))
    return disk.redis.start()


def waiting_clients(client):
    told = client.good("INFO", "clients").decode()
    return int(told.split("blocked_clients:")[1].split()[0])


def change_roles(how, disk, client, second, other, asking):
    """The master of `disk` becomes a replica of `second` while its disk stands still: nobody that asks is answered, and it wants a full
    sync.  `other` is a client of `second`."""
    if how == "REPLICAOF":
        other.good("REPLICAOF", "NO", "ONE")
    client.good(*(["FAILOVER"] if how == "FAILOVER" else ["REPLICAOF", "127.0.0.1", second.port]))
    eventually(lambda: b"role:master" in other.good("INFO", "replication") and b"role:slave" in client.good("INFO", "replication"), "roles")
    for one in asking:
        refused(one.answer(), "UNBLOCKED")
    disk.takes(0)
    eventually(lambda: "a full sync is asked for" in disk.redis.log(), "it is asked for")
