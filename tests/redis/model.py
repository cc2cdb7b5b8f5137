# SPDX-License-Identifier: BSD-2-Clause
"""model.py MODULE TAMIS [SECONDS [SEED]]: random sequences of commands, and a model that says what each must answer.

The model knows keys and items, and nothing of how the module keeps them: what a key is, which items it was given, which strangers it has
called present (it must go on doing so), and that strangers are called present at the rate asked for.  Each sequence has a
server of its own, with one sort of persistence, one protocol, `tamis.exact` or not, filters in memory or in the store, and few or many that
may be open.  Commands are sent one by one, many at a time, in MULTI, or by a script.  Sometimes the server loads its dump anew, rewrites
its AOF, or is ended and started: then every key has the bits and figures that it had, and so has a copy, whichever way it was made.  After
the last command every key is asked for every item, and the store has a filter under its name; then FLUSHALL must leave no filter, no
descriptor and no thread.
A sequence that fails prints its seed and its last commands; the seed alone makes it again."""
import collections
import contextlib
import copy
import math
import os
import random
import sys
import time

from harness import Error, MODULE, TAMIS, eventually, filters, follow, is_rewritten, orphans, same, server

assert MODULE and TAMIS
ITEMS = [f"item:{n}" for n in range(300)]
STRANGERS = [f"stranger:{n}" for n in range(200)]
KEYS = [f"k{n}" for n in range(6)]
WRONG = "WRONGTYPE"
BF, CF, STRING = "MBbloom--", "MBbloomCF", "string"
PERSISTENCE = {  # settings of the server, arguments of the module
    "none": ({}, ()),
    "dump with content": ({"save": "3600 1"}, ("rdb", "content")),
    "dump with references": ({"save": "3600 1"}, ("rdb", "reference")),
    "AOF": ({"appendonly": "yes", "aof-use-rdb-preamble": "no"}, ()),
    "AOF with a preamble": ({"appendonly": "yes", "aof-use-rdb-preamble": "yes"}, ()),
}


class Value:
    """What a key has.  counts: how often each item was added and not taken off; called: strangers that were called present."""

    def __init__(self, type_, capacity=100, rate=0.01, fixed=False):
        self.type, self.capacity, self.rate, self.fixed = type_, capacity, rate, fixed
        self.counts, self.called, self.exceptions = collections.Counter(), set(), set()
        self.items = 0

    def has(self, item):
        return self.counts[item] > 0 or item in self.called


def open_files(pid):
    """The segments of the store that the server has open or mapped."""
    found = []
    for number in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            found.append(os.readlink(f"/proc/{pid}/fd/{number}"))
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        found += [line.split(maxsplit=5)[5].strip() for line in maps if ".seg" in line]
    return sorted(path.split("/tamis/", 1)[1] for path in found if "/tamis/segments/" in path)


def check(condition, what):
    if not condition:
        raise AssertionError(what)


class Model:
    """Each method makes one command: the words, and a function that judges the answer and follows it."""

    def __init__(self, chance):
        self.chance = chance
        self.databases, self.db = [{}, {}], 0
        self.asked, self.called, self.expected, self.variance = 0, 0, 0.0, 0.0

    @property
    def keys(self):
        return self.databases[self.db]

    def key(self):
        return self.chance.choice(KEYS)

    def some_items(self, most=40):
        return [self.chance.choice(ITEMS) for _ in range(self.chance.randint(1, most))]

    def stranger(self, value, answer, item):
        """An item that was never added was asked for: was it called present?"""
        if item in value.called or item in value.exceptions:
            return
        self.asked += 1
        self.expected += value.rate
        self.variance += value.rate * (1 - value.rate)
        if answer:
            self.called += 1
            value.called.add(item)

    # ---- BF.*

    def refused(self, answer, type_):
        """Whether the key has another type, which the answer must say."""
        value = self.keys.get(self.at)
        if value is not None and value.type != type_:
            check(isinstance(answer, Error) and answer.startswith(WRONG), f"{answer!r} for a key of another type")
            return True
        return False

    def bf_reserve(self):
        key, capacity, fixed = self.key(), self.chance.choice([3, 50, 100, 1000, 20000]), self.chance.random() < 0.2
        rate = self.chance.choice([0.1, 0.01, 0.001])

        def judge(answer):
            self.at = key
            if self.refused(answer, BF):
                return
            if key in self.keys:
                same(answer, "ERR item exists", key)
            else:
                same(answer, "OK", key)
                self.keys[key] = Value(BF, capacity, rate, fixed)
        return ["BF.RESERVE", key, rate, capacity] + (["NONSCALING"] if fixed else []), judge

    def added(self, key, items, answers):
        value = self.keys[key]
        for n, item in enumerate(items):
            check(n < len(answers), f"{len(answers)} answers for {len(items)} items")
            answer = answers[n]
            if value.has(item):
                check(answer == 0 or item in value.exceptions, f"{key} {item}: known, and {answer!r}")
            elif isinstance(answer, Error):
                check(value.fixed and value.items >= value.capacity, f"{key} {item}: {answer}, {value.items} of {value.capacity}")
                same(answer, "ERR non scaling filter is full", key)
                same(len(answers), n + 1, "a batch ends where the filter is full")
                return
            elif item in value.exceptions:
                value.counts[item] += 1  # what it answers is not foretold
                value.items += int(answer)
            else:
                if answer == 1:
                    check(not value.fixed or value.items < value.capacity, f"{key} {item}: new in a full filter")
                    value.items += 1
                    value.counts[item] = 1
                self.stranger(value, answer == 0, item)
        same(len(answers), len(items), "answers")

    def tamis_added(self, key, items, answers):
        """TAMIS.ADD makes no filter, and goes on behind what a full filter refuses."""
        value = self.keys.get(key)
        if value is None or value.type == STRING:
            check(isinstance(answers, Error), f"{answers!r} for no filter")
        elif value.type == CF:
            if not isinstance(answers, Error):
                self.cf_added(key, items, answers, False)
        else:
            refused = isinstance(answers[-1], Error)
            same(refused, -1 in answers, f"{answers!r}: an error behind what was refused")
            for item, answer in zip(items, answers, strict=not refused):
                if answer == -1:
                    check(value.fixed and value.items >= value.capacity and not value.has(item), f"{key} {item}: refused")
                else:
                    self.added(key, [item], [answer])

    def bf_add(self):
        key, items = self.key(), self.some_items()
        form = self.chance.choice(["BF.ADD", "BF.MADD", "BF.INSERT", "TAMIS.ADD"])
        words = {"BF.ADD": [form, key, items[0]], "BF.INSERT": [form, key, "ITEMS", *items]}.get(form, [form, key, *items])
        if form == "BF.INSERT" and self.chance.random() < 0.3:
            words.insert(2, "NOCREATE")

        def judge(answer):
            self.at = key
            if form == "TAMIS.ADD":
                self.tamis_added(key, items, answer)
                return
            if self.refused(answer, BF):
                return
            if key not in self.keys:
                if "NOCREATE" in words:
                    same(answer, "ERR not found", key)
                    return
                self.keys[key] = Value(BF)
            self.added(key, items[:1] if form == "BF.ADD" else items, answer if isinstance(answer, list) else [answer])
        return words, judge

    def asks(self, key, items, answers, type_):
        same(len(answers), len(items), "answers")
        value = self.keys.get(key)
        for item, answer in zip(items, answers):
            if value is None or value.type != type_ or item in value.exceptions:
                check(answer == 0, f"{key} {item}: {answer!r}, and 0 was wanted")
            elif value.has(item):
                check(answer == 1, f"{key} {item}: added or called present before, and {answer!r}")
            else:
                self.stranger(value, answer == 1, item)

    def bf_exists(self):
        key, items = self.key(), self.some_items() + self.chance.sample(STRANGERS, 5)
        if self.chance.random() < 0.3:
            return ["BF.EXISTS", key, items[-1]], lambda answer: self.asks(key, items[-1:], [answer], BF)
        return ["BF.MEXISTS", key, *items], lambda answer: self.asks(key, items, answer, BF)

    def bf_figures(self):
        key, field = self.key(), self.chance.choice(["CARD", "ITEMS", "CAPACITY"])

        def judge(answer):
            self.at = key
            if self.refused(answer, BF):
                return
            if key not in self.keys:
                same(answer, 0 if field == "CARD" else "ERR not found", key)
                return
            value = self.keys[key]
            if field != "CARD":
                answer = list(answer.values())[0] if isinstance(answer, dict) else answer[0]
            if field == "CAPACITY":
                check(answer >= value.capacity and (not value.fixed or answer == value.capacity), f"{key}: capacity {answer}")
            elif not value.exceptions:
                same(answer, value.items, f"items of {key}")
        return (["BF.CARD", key] if field == "CARD" else ["BF.INFO", key, field]), judge

    def tamis_check(self):
        key, items = self.key(), self.some_items()

        def judge(answer):
            value = self.keys.get(key)
            if value is None or value.type == STRING:
                check(isinstance(answer, Error), f"{answer!r} for no filter")
            elif not isinstance(answer, Error):
                self.asks(key, items, answer, value.type)
        return ["TAMIS.CHECK", key, *items], judge

    # ---- CF.*

    def cf_reserve(self):
        key, shape = self.key(), self.chance.choice([[2000], [8, "EXPANSION", 2], [16, "BUCKETSIZE", 4, "EXPANSION", 2]])

        def judge(answer):
            self.at = key
            if not self.refused(answer, CF):
                same(answer, "ERR item exists" if key in self.keys else "OK", key)
                self.keys.setdefault(key, Value(CF, 2000, 0.05))
        return ["CF.RESERVE", key, *shape], judge

    def cf_added(self, key, items, answers, only_new):
        value = self.keys[key]
        for item, answer in zip(items, answers):
            known = only_new and value.counts[item] > 0
            check(answer in ((0,) if known else (0, 1)), f"{key} {item}: {'known, and ' * known}{answer!r}")
            value.counts[item] += answer if only_new else 1
            value.items += answer if only_new else 1

    def cf_add(self):
        key, only_new = self.key(), self.chance.random() < 0.4
        items = self.some_items(8)
        many = self.chance.random() < 0.5
        command = ("CF.INSERT" if many else "CF.ADD") + ("NX" if only_new else "")

        def judge(answer):
            self.at = key
            if self.refused(answer, CF):
                return
            self.keys.setdefault(key, Value(CF, 1024, 0.05))
            self.cf_added(key, items if many else items[:1], answer if many else [answer], only_new)
        return ([command, key, "ITEMS", *items] if many else [command, key, items[0]]), judge

    def cf_ask(self):
        key, items = self.key(), self.some_items(10)
        command = self.chance.choice(["CF.MEXISTS", "CF.COUNT", "CF.EXISTS"])

        def judge(answer):
            value = self.keys.get(key)
            if value is None or value.type != CF:
                same(answer, [0] * len(items) if command == "CF.MEXISTS" else 0, key)
                return
            for item, one in zip(items, answer if isinstance(answer, list) else [answer]):
                count = value.counts[item]
                check(one >= (count if command == "CF.COUNT" else count > 0), f"{key} {item}: {one!r}, and it has {count}")
        return [command, key, *(items if command == "CF.MEXISTS" else items[:1])], judge

    def cf_del(self):
        """Of an item that the key has at the moment: to take off a stranger may take off another item."""
        key = self.key()
        value = self.keys.get(key)
        has = sorted(item for item, count in value.counts.items() if count > 0) if value and value.type == CF else []
        item = self.chance.choice(has or ITEMS)

        def judge(answer):
            value = self.keys.get(key)
            if value is None or value.type != CF:
                same(answer, "Not found", key)
            elif value.counts[item] > 0:
                check(answer == 1, f"{key} {item}: it has {value.counts[item]}, and CF.DEL answers {answer!r}")
                value.counts[item] -= 1
                value.items -= 1
            else:
                check(answer == 0, f"{key} {item}: not there, and CF.DEL answers {answer!r}")
        return ["CF.DEL", key, item], judge

    # ---- Keys

    def rename(self):
        key, to, only = self.key(), self.key(), self.chance.random() < 0.3

        def judge(answer):
            if key not in self.keys:
                same(answer, "ERR no such key", key)
            elif only:
                same(answer, 0 if to in self.keys else 1, f"{key} {to}")
                if answer == 1:
                    self.keys[to] = self.keys.pop(key)
            else:
                same(answer, "OK", key)
                self.keys[to] = self.keys.pop(key)
        return ["RENAMENX" if only else "RENAME", key, to], judge

    def copy_key(self):
        key, to, replace, db = self.key(), self.key(), self.chance.random() < 0.5, self.chance.choice([0, 1])

        def judge(answer):
            if key == to and db == self.db:
                check(isinstance(answer, Error), f"{answer!r} for a copy onto itself")
                return
            does = key in self.keys and (replace or to not in self.databases[db])
            same(answer, int(does), f"COPY {key} {to}")
            if does:
                self.databases[db][to] = copy.deepcopy(self.keys[key])
        return ["COPY", key, to, "DB", db] + (["REPLACE"] if replace else []), judge

    def move(self):
        key, db = self.key(), 1 - self.db

        def judge(answer):
            does = key in self.keys and key not in self.databases[db]
            same(answer, int(does), f"MOVE {key}")
            if does:
                self.databases[db][key] = self.keys.pop(key)
        return ["MOVE", key, db], judge

    def swap(self):
        def judge(answer):
            same(answer, "OK", "SWAPDB")
            self.databases.reverse()
        return ["SWAPDB", 0, 1], judge

    def delete(self):
        key = self.key()
        words = self.chance.choice([["DEL", key], ["UNLINK", key], ["PEXPIRE", key, 0]])

        def judge(answer):
            same(answer, int(key in self.keys), " ".join(map(str, words)))
            self.keys.pop(key, None)
        return words, judge

    def set_over(self):
        key = self.key()

        def judge(answer):
            same(answer, "OK", "SET")
            self.keys[key] = Value(STRING)
        return ["SET", key, "text"], judge

    def flush(self):
        words = self.chance.choice([["FLUSHDB"], ["FLUSHDB", "ASYNC"], ["FLUSHALL"], ["FLUSHALL", "SYNC"]])

        def judge(answer):
            same(answer, "OK", "FLUSH")
            for keys in self.databases if words[0] == "FLUSHALL" else [self.keys]:
                keys.clear()
        return words, judge

    def type_of(self):
        key = self.key()

        def judge(answer):
            value = self.keys.get(key)
            same(answer, value.type if value else "none", f"TYPE {key}")
        return ["TYPE", key], judge

    def except_items(self):
        key, items, adds = self.key(), sorted(set(self.some_items(3))), self.chance.random() < 0.7

        def judge(answer):
            value = self.keys.get(key)
            if value is None or value.type != BF:
                check(isinstance(answer, Error), f"{answer!r} for no filter of BF")
            elif adds:
                same(answer, len(set(items) - value.exceptions), f"exceptions of {key}")
                value.exceptions |= set(items)
            else:
                same(list(map(int, answer)), [int(item in value.exceptions) for item in items], f"exceptions of {key}")
                value.exceptions -= set(items)
        return ["TAMIS.EXCEPT", key, "ADD" if adds else "REMOVE", *items], judge


WEIGHTS = {"bf_reserve": 6, "bf_add": 30, "bf_exists": 16, "bf_figures": 8, "tamis_check": 4, "cf_reserve": 2, "cf_add": 10, "cf_ask": 8,
           "cf_del": 5, "rename": 6, "copy_key": 6, "move": 3, "swap": 2, "delete": 6, "set_over": 2, "flush": 1, "type_of": 3,
           "except_items": 2}


class Sequence:
    def __init__(self, seed, steps):
        self.chance, self.steps = random.Random(seed), steps
        self.model, self.said = Model(self.chance), collections.deque(maxlen=60)
        self.persistence = self.chance.choice(sorted(PERSISTENCE))
        self.exact, self.resp = self.chance.random() < 0.3, self.chance.choice([2, 3])
        self.stored, self.few, self.lazy = (self.chance.random() < share for share in (0.4, 0.3, 0.3))

    def one(self):
        names = list(WEIGHTS)
        name = self.chance.choices(names, [WEIGHTS[name] for name in names])[0]
        return getattr(self.model, name)()

    def judge(self, command, answer):
        words, judge = command
        self.said.append(f"{' '.join(map(str, words))[:150]} -> {str(answer)[:100]}")
        judge(answer)

    def turn(self, client):
        """One command, or some that are sent together, in MULTI or from a script."""
        way = self.chance.choice(["one"] * 6 + ["together", "multi", "script"])
        commands = [self.one() for _ in range(1 if way in ("one", "script") else self.chance.randint(2, 6))]
        commands = [c for c in commands if way == "one" or c[0][0] not in ("SWAPDB", "CF.DEL")] or [self.one()]
        if way == "script" and self.resp == 2:
            words = commands[0][0]
            self.judge(commands[0], client("EVAL", "return redis.pcall(unpack(ARGV))", 0, *words))
        elif way == "multi":
            client.good("MULTI")
            for words, _ in commands:
                same(client(*words), "QUEUED", words[0])
            for command, answer in zip(commands, client.good("EXEC")):
                self.judge(command, answer)
        else:
            for words, _ in commands:
                client.send(*words)
            for command in commands:
                self.judge(command, client.answer())

    def picture(self, client, key):
        """The bits and figures of a key."""
        family = {BF: "BF", CF: "CF"}.get(self.model.keys[key].type)
        figures = [client(f"{family}.{word}", key) for word in ("INFO", "DEBUG")] if family else client("GET", key)
        return client("DEBUG", "DIGEST-VALUE", key), figures

    def pictures(self, client):
        pictures, db = {}, self.model.db
        for self.model.db in (0, 1):
            client.good("SELECT", self.model.db)
            pictures[self.model.db] = {key: self.picture(client, key) for key in self.model.keys}
        self.model.db = db
        client.good("SELECT", db)
        return pictures

    def dump_and_restore(self, client):
        """The payload of a key, or a copy, becomes another key."""
        key, to = self.model.key(), self.model.key()
        payload = client("DUMP", key)
        same(payload is None, key not in self.model.keys, f"DUMP {key}")
        if payload is not None and key != to:
            words = self.chance.choice([["RESTORE", to, 0, payload, "REPLACE"], ["COPY", key, to, "REPLACE"]])
            self.said.append(f"{words[0]} {key} {to} REPLACE")
            same(client(*words), "OK" if words[0] == "RESTORE" else 1, words[0])
            self.model.keys[to] = copy.deepcopy(self.model.keys[key])
            same(self.picture(client, to), self.picture(client, key), f"{to} is as {key}")

    def scan_and_load(self, client):
        """The pieces come in any order, some of them twice."""
        key, to = self.model.key(), self.model.key()
        value = self.model.keys.get(key)
        if value is None or value.type == STRING or value.exceptions or not value.items or to in self.model.keys:
            return
        self.said.append(f"{value.type}: SCANDUMP {key}, LOADCHUNK {to}")
        family = "BF" if value.type == BF else "CF"
        head, *pieces = client.chunks(f"{family}.SCANDUMP", key)
        for position, data in [head, *self.chance.sample(pieces, len(pieces)), *pieces[:1]]:
            same(client(f"{family}.LOADCHUNK", to, position, data), "OK", f"LOADCHUNK {to}")
        self.model.keys[to] = copy.deepcopy(value)
        same(self.picture(client, to), self.picture(client, key), f"{to} is as {key}")

    def select(self, client):
        self.model.db = self.chance.choice([0, 1])
        client.good("SELECT", self.model.db)
        self.said.append(f"SELECT {self.model.db}")

    def reload(self, client):
        pictures = self.pictures(client)
        self.said.append("DEBUG RELOAD")
        same(client("DEBUG", "RELOAD"), "OK", "DEBUG RELOAD")
        same(self.pictures(client), pictures, "after DEBUG RELOAD")

    def rewrite(self, client):
        if self.persistence.startswith("AOF"):
            self.said.append("BGREWRITEAOF")
            client("BGREWRITEAOF")
            if self.chance.random() < 0.5:  # or the commands that follow come meanwhile
                is_rewritten(client)

    def all_is_there(self, client):
        """Every key, and every item of it."""
        for db in (0, 1):
            client.good("SELECT", db)
            self.model.db = db
            same(sorted(key.decode() for key in client.good("KEYS", "*")), sorted(self.model.keys), f"keys of database {db}")
            for key, value in sorted(self.model.keys.items()):
                if value.type == BF:
                    self.model.asks(key, ITEMS + STRANGERS, client.good("BF.MEXISTS", key, *ITEMS, *STRANGERS), BF)
                    if not value.exceptions:
                        same(client("BF.CARD", key), value.items, f"items of {key}")
                elif value.type == CF:
                    for item, count in sorted(value.counts.items()):
                        check(client("CF.COUNT", key, item) >= count, f"{key} {item}: it has {count}")
                else:
                    same(client("TYPE", key), STRING, key)

    def run(self):
        settings, arguments = PERSISTENCE[self.persistence]
        arguments += ("exact", "yes" if self.exact else "no") + ("max-open", 4) * self.few + ("share-from", 0) * self.stored
        if self.lazy:
            settings = settings | {f"lazyfree-lazy-{what}": "yes" for what in ("user-del", "user-flush", "server-del", "expire")}
        with server(*arguments, **settings) as redis:
            client = redis.client(self.resp)
            pid = redis.process.pid
            client.good("BF.ADD", "warm", "up")
            digest = client.good("DEBUG", "DIGEST-VALUE", "warm")
            client.good("BF.ADD", "warm", "more")
            same(client.good("DEBUG", "DIGEST-VALUE", "warm") != digest, True, "an add changes the digest")
            client.good("FLUSHALL")
            eventually(lambda: not filters(redis), "the filter is dropped")
            self.some_steps(redis, client)
            pictures = self.pictures(client)
            self.replica_is_same(redis, client, arguments, pictures)
            if self.persistence != "none" and self.chance.random() < 0.8:
                kill = self.chance.random() < 0.5
                self.said.append("killed and started" if kill else "ended and started")
                if kill and self.persistence.startswith("dump"):
                    client.good("SAVE")
                client = redis.restart(kill=kill)
                client = redis.client(self.resp)
                client.good("SELECT", self.model.db)
                pid = redis.process.pid
                same(self.pictures(client), pictures, "after a restart")
                self.some_steps(redis, client)
            self.nothing_is_left(redis, client, pid)
        check(self.model.called <= self.model.expected + 6 * math.sqrt(self.model.variance) + 6,
              f"{self.model.called} of {self.model.asked} strangers were called present, and {self.model.expected:.1f} expected")

    def some_steps(self, redis, client):
        for _ in range(self.steps // 2):
            special = self.chance.choices([None, self.dump_and_restore, self.scan_and_load, self.select, self.reload, self.rewrite],
                                          [60, 3, 3, 3, 0.5, 2])[0]
            if special:
                special(client)
            else:
                self.turn(client)
        self.all_is_there(client)
        self.all_have_names(redis)

    def all_have_names(self, redis):
        """Local processes find each filter that is in the store for sure."""
        wanted = {f"redis:1:{key}" if db else key for db in (0, 1) for key, value in self.model.databases[db].items()
                  if value.type == BF and (self.stored or value.exceptions)}
        eventually(lambda: wanted <= set(filters(redis)), f"the store has {wanted}")

    def replica_is_same(self, redis, client, arguments, pictures):
        if self.chance.random() > 0.25:
            return
        with server(*arguments) as other:
            self.said.append("a replica follows")
            follower = other.client(self.resp)
            follow(follower, redis)
            same(client("WAIT", 1, 60000), 1, "the replica has all")
            same(self.pictures(follower), pictures, "of the replica")
            self.all_is_there(follower)

    def nothing_is_left(self, redis, client, pid):
        """But for orphans, which a server that was started again leaves to its operator."""
        client.good("FLUSHALL")
        left = lambda: set(filters(redis)) - set(orphans(client))
        eventually(lambda: (self.persistence != "dump with references" or client.good("SAVE")) and not left(), "all filters are dropped")
        eventually(lambda: not open_files(pid), "segments are closed")


def main():
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 60
    fixed = int(sys.argv[4]) if len(sys.argv) > 4 else None
    end, count = time.monotonic() + seconds, 0
    first = fixed if fixed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"seeds from {first}", flush=True)
    while count == 0 or fixed is None and time.monotonic() < end:
        sequence = Sequence(first + count, 250)
        try:
            sequence.run()
        except BaseException:
            print(f"seed {first + count} ({sequence.persistence}, exact {sequence.exact}, RESP{sequence.resp}); the last commands:\n"
                  + "\n".join(sequence.said) + f"\n\nagain: model.py MODULE TAMIS 0 {first + count}", flush=True)
            raise
        count += 1
    print(f"{count} sequences of 250 steps")


if __name__ == "__main__":
    main()
