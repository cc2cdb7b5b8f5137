# SPDX-License-Identifier: BSD-2-Clause
"""generated_changes.py MODULE TAMIS SLOW_DISK all_agree [RUNS [SEED]]: what threads change while other commands come: master, replica and AOF agree.

A round: the disk stands still, or is slow.  Clients send commands whose work is a thread's, and the server goes on.  Then others come: adds,
COPY, RENAME, DEL, transactions, scripts, a rewrite, a reload, a pause, a client that leaves.  In half of the rounds the server sleeps while
the threads end their work, and has got those before: it runs them before it hears of the threads.  Then each key is looked at, here and on a
replica.  A run ends with a kill; the AOF, with its store or alone, has the same.  At last all keys go, and their filters with them.

The model has three sentences.  A command on keys that no other command takes away has no error.  An item that was added to such a key is in
it.  A window has moved as often as the answers say.
"""
import collections
import random
import sys

from harness import filters, follow, has_filters, run, same, server, store_of, tamis
from redis_client import Error
from slow_disk import Disk, restarted_without_store, run_behind_the_thread, slices, words_of

RUNS = int(sys.argv[4]) if len(sys.argv) > 4 else 12
SEED = int(sys.argv[5]) if len(sys.argv) > 5 else random.randrange(1 << 30)
ROUNDS = 5
LARGE = 100_000  # it is made in the store
PLAIN, WINDOWS, MADE, THEIRS = ("f0", "f1", "f2"), ("w0", "w1"), ("m0", "m1"), ("t0", "t1")
SLICES = {"w0": 20, "w1": 2}
GO = ("RENAME", "DEL", "UNLINK", "SET", "MOVE", "SWAPDB", "FLUSHDB", "EXPIRE", "TAMIS.DETACH", "TAMIS.ATTACH")  # take keys away
BETWEEN = {words[0]: words for words in (("BGREWRITEAOF",), ("BGSAVE",), ("DEBUG", "RELOAD"), ("SAVE",))}
ADDS = ("BF.ADD", "BF.MADD", "BF.INSERT", "TAMIS.ADD", "EVAL")
AOF = {"appendonly": "yes", "appendfsync": "always", "repl_diskless_sync_delay": 0}


class Round:
    """The commands of a round, in their order, with their answers."""

    def __init__(self, seeded, number, alone, merges):
        self.seeded, self.number, self.alone, self.merges, self.items = seeded, number, alone, merges, 0
        self.taken = set()  # keys that some command may take away
        # No key goes.  Of a merge whose source has gone the AOF has nothing, but the store has it (tell_content()).
        self.calm = alone and merges or seeded.random() < (0.1 if merges else 0.5)
        self.busy = set()  # what threads are at

    def item(self):
        self.items += 1
        return f"{self.number}.{self.items}"

    def change(self):
        """A command whose work is a thread's."""
        key, other = self.seeded.sample(PLAIN, 2)
        window, made = self.seeded.choice(WINDOWS), self.seeded.choice(MADE)
        commands = [("TAMIS.ROTATE", window)] * 3 + [("TAMIS.EXCEPT", key, "ADD", self.item()), ("TAMIS.EXCEPT", key, "ADD", "x", "y"),
                    ("TAMIS.EXCEPT", key, "REMOVE", "x"), ("TAMIS.SYNC", key)]
        commands += [("TAMIS.MERGE", key, other), ("TAMIS.COMBINE", made, "UNION", key, other)] * 2 * self.merges
        if not self.calm:
            commands += [("TAMIS.DETACH", key), ("BF.RESERVE", made, "0.01", LARGE), ("TAMIS.DETACH", window)]
            commands += [] if self.alone else [("TAMIS.ATTACH", self.seeded.choice(THEIRS)), ("TAMIS.ATTACH", made, self.seeded.choice(THEIRS))]
        command = self.seeded.choice(commands)
        self.busy |= set(command)
        return self.noted(command)

    def other(self):
        """One that the server does by itself."""
        key, to = self.seeded.sample(self.seeded.choice((PLAIN, PLAIN, WINDOWS, PLAIN if self.calm else MADE)), 2)
        if key not in self.busy and to in self.busy:
            key, to = to, key
        commands = [("BF.ADD", key, self.item()), ("BF.MADD", key, self.item(), "x"), ("BF.INSERT", key, "ITEMS", self.item()),
                    ("TAMIS.ADD", key, self.item()), ("COPY", key, "copy of " + key, "REPLACE"), ("BF.ADD", key, self.item()),
                    ("EVAL", "return redis.call('BF.MADD', KEYS[1], ARGV[1])", 1, key, self.item())]
        if not self.calm:
            commands = commands if self.seeded.random() < 0.5 else []
            commands += [("RENAME", key, to), ("DEL", key), ("UNLINK", key), ("SET", key, "x"), ("MOVE", key, 1), ("EXPIRE", key, -1)]
            commands += [("SET", self.seeded.choice(THEIRS), "x"), ("DEL", self.seeded.choice(THEIRS))]
            commands += [("SWAPDB", 0, 1), ("FLUSHDB", "ASYNC")] if self.seeded.random() < 0.2 else []
        return self.noted(self.seeded.choice(commands))

    def line(self):
        """What a client sends in one piece."""
        if self.seeded.random() < 0.3:
            return [("MULTI",)] + [self.seeded.choice((self.change, self.other))() for _ in range(4)] + [("EXEC",)]
        return [self.other()]

    def between(self):
        """What the server does besides."""
        return self.seeded.choice([[], []] + [[command] for command in BETWEEN.values()])

    def noted(self, command):
        if command[0] in GO:
            keys = command[1:3] if command[0] == "RENAME" else command[1:2]
            self.taken |= set(PLAIN + WINDOWS + MADE + THEIRS if command[0] in ("SWAPDB", "FLUSHDB") else keys)
        if command[0] in ("TAMIS.COMBINE", "BF.RESERVE"):
            self.taken.add(command[1])
        return command


def picture(client, items):
    """What the keys have: the type; and slices, exceptions and items of a filter."""
    told = {}
    for db in (0, 1):
        client.good("SELECT", db)
        for key in sorted(client.good("KEYS", "*")):
            told[db, key.decode()] = "string" if client.good("TYPE", key) == "string" else (
                slices(client, key), sorted(client.good("TAMIS.EXCEPTIONS", key)), client.good("BF.MEXISTS", key, *items))
    client.good("SELECT", 0)
    return told


class Run:
    def __init__(self, seed):
        self.seeded = random.Random(seed)
        self.alone = self.seeded.random() < 0.4  # the AOF is all that there is in the end
        self.preamble = self.seeded.choice(("yes", "no"))
        self.merges = self.seeded.random() < 0.5
        self.taken, self.detached, self.killed = set(), set(), False
        self.items, self.said = ["x", "y", "z"], collections.deque(maxlen=80)

    def prepare(self):
        """Each key has a filter of its shape: one that was taken away may be called otherwise, or made by an add."""
        for name in self.detached:  # they are of others now, and their names are wanted
            for redis in (self.disk.redis, self.second)[:1 if name.startswith("redis:") else 2]:  # that: of two with one name
                same(name in filters(redis), True, f"{name}, which was detached, is there")
                tamis("drop", "--store", store_of(redis), name)
        self.detached = set()
        self.client.good("DEL", *MADE, *self.taken)
        for key in PLAIN + WINDOWS:
            if self.client.good("EXISTS", key):
                continue
            words = ("WINDOWITEMS", 1000, "SLICES", SLICES[key]) if key in SLICES else ()
            self.client.good("TAMIS.RESERVE", key, "0.0001", LARGE, *words)
            self.client.good("BF.MADD", key, "x", f"of {key}")
            self.items.append(f"of {key}")
        for name in [] if self.alone else THEIRS:
            for redis in (self.disk.redis, self.second):
                if name not in filters(redis):
                    tamis("create", "--store", store_of(redis), name, "-n", 1000)

    def sent(self, commands):
        client = self.disk.redis.client()
        client.socket.sendall(words_of(*commands))
        return client

    def one(self, number):
        self.prepare()
        one, before = Round(self.seeded, number, self.alone, self.merges), {key: slices(self.client, key) for key in WINDOWS}
        self.disk.stands_still()
        lines, clients = [[one.change()] for _ in range(self.seeded.randint(1, 6))], []
        for line in lines:
            clients.append(self.sent(line))
            self.client.good("PING")  # the commands come one by one
        left = lines.pop()[0] if self.seeded.random() < 0.2 else ()
        if left:
            one.taken |= set(left)
            clients.pop().close()
        same(self.client("BF.EXISTS", "f0", "of f0"), 1, "the server goes on")
        later = [line for line in [one.between(), *[one.line() for _ in range(self.seeded.randint(1, 6))]] if line]
        self.said += [f"-- round {number}"] + [str(command) for line in [*lines, ("then:",), *later] for command in line]
        if self.seeded.random() < 0.5:
            clients += run_behind_the_thread(self.disk, *later)
        else:
            clients += [self.sent(line) for line in later]
            self.client.send(*self.seeded.choice((("PING",), ("CLIENT", "PAUSE", 300, "WRITE"))))
            self.disk.takes(self.seeded.choice((0, 20)))
            self.client.answer()
        done = [pair for client, line in zip(clients, lines + later) for pair in answered(client, line)]
        self.disk.takes(0)
        for key in set(left) & {*PLAIN, *WINDOWS}:
            self.client("TAMIS.EXCEPT", key, "REMOVE", "none")  # comes behind what the client left behind
        self.items += [word for command, _ in done for word in command[2:] if f"{number}." in str(word)]
        self.judge(one, before, done)
        self.taken = one.taken
        self.detached = {answer.decode() for command, answer in done if command[0] == "TAMIS.DETACH" and isinstance(answer, bytes)}

    def judge(self, one, before, done):
        """The three sentences, and the replica."""
        self.said += [f"{command} -> {answer}" for command, answer in done]
        for command, answer in done:
            may_fail = one.taken & set(map(str, command[1:])) or command[0] in BETWEEN
            same(isinstance(answer, Error) and not may_fail, False, f"{command}: {answer}")
        now = picture(self.client, self.items)
        for key in {key for key in PLAIN + WINDOWS if key not in one.taken}:
            slices_, exceptions, there = now[0, key]
            lacks = [word for command, _ in done if command[0] in ADDS and key in command for word in command[2:]
                     if word in self.items and not there[self.items.index(word)] and word.encode() not in exceptions]
            same(lacks, [], f"{key} lacks") if key != "w1" else None
            if key in before:
                moved = before[key] + sum(command[:2] == ("TAMIS.ROTATE", key) for command, _ in done)
                same(slices_, min(moved, SLICES[key] + 1), f"slices of {key}")
        same(self.client.good("WAIT", 1, 60_000), 1, "a replica")
        self.agrees(now, self.other, "the replica")

    def agrees(self, now, client, what):
        """What is merged has on a replica, too, what its source got meanwhile: there it may have more.  So may a window whose filter the
        store had at a start: the AOF repeats adds whose slices have gone."""
        found = picture(client, self.items)
        same(sorted(found), sorted(now), f"keys, {what}")
        for place, mine in now.items():
            other = found[place]
            has_more = self.merges or self.killed and not self.alone and mine[0] != 0
            if has_more and "string" not in (mine, other):
                other = (*other[:2], [int(a and b) for a, b in zip(mine[2], other[2])])
            same(other, mine, f"{what}: {place}, items {self.items}")

    def end(self):
        """A kill, and then all keys go."""
        self.prepare()
        for _ in range(2):  # each slice has the same
            self.client.good("TAMIS.ROTATE", "w1")
            same(self.client.good("WAIT", 1, 60_000), 1, "a replica")
            now = picture(self.client, self.items)
            self.agrees(now, self.other, "a slice")
        self.killed = True
        self.said.append("killed; the AOF alone" if self.alone else "killed")
        self.client = restarted_without_store(self.disk) if self.alone else self.disk.redis.restart(kill=True)
        self.agrees(now, self.client, "the AOF")
        follow(self.other, self.disk.redis)
        self.agrees(now, self.other, "the replica of another sync")
        self.client.good("FLUSHALL")
        has_filters(self.disk.redis, [] if self.alone else sorted(THEIRS), "filters go with their keys")

    def run(self):
        with Disk(aof_use_rdb_preamble=self.preamble, **AOF) as (self.disk, self.client), server(**AOF) as self.second:
            self.other = self.disk.followed_by(self.second)
            for number in range(ROUNDS):
                self.one(number)
            self.end()


def answered(client, line):
    """Each command with its answer."""
    answers = [client.answer() for _ in line]
    client.close()
    return list(zip(line[1:-1], answers[-1])) if line[0] == ("MULTI",) else list(zip(line, answers))


def all_agree():
    print(f"seed {SEED}: {RUNS} runs of {ROUNDS} rounds", flush=True)
    for seed in range(SEED, SEED + RUNS):
        one = Run(seed)
        try:
            one.run()
        except BaseException:
            print("\n".join([*one.said, f"again: generated_changes.py MODULE TAMIS SLOW_DISK all_agree 1 {seed}"]), flush=True)
            raise


run(all_agree)
