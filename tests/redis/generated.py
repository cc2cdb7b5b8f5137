# SPDX-License-Identifier: BSD-2-Clause
"""generated.py MODULE TAMIS sequences_and_kills [RUNS] [SEED]: sequences of commands that change the key space, kills -9, and what the keys have then.
A run has 3 kills, and 20 sequences before each; behind each sequence the keys are those of the model.

The model: a value is made by an add, or by COPY, RESTORE or a reload; it has a list of items, which only grows.  A state says which key has which value, and
what the value has in it.  After the kill the keys are those of one state that the persistence allows, and each key's items are at least those of
its value in that state, and at most those that its value was ever given.  Nothing else is right: no items of another value, and no lost add.

    AOF, always       the state of the last answer, or of a later command that was sent
    AOF, everysec     any state since the one of a second ago; here: any state at all
    dumps             the state of a save
    none              no key

It was seen to fail for the module that knew filters by names: RENAME gave a key the items of another one.
"""
import random
import sys
import time

from harness import MODULE, are_made, has_filters, run, same, store_of, tamis
from redis_server import Server

RUNS = int(sys.argv[4]) if len(sys.argv) > 4 else 40
KILLS, SEQUENCES = 3, 20  # of a run, and before each kill
SEED = int(sys.argv[5]) if len(sys.argv) > 5 else random.randrange(1 << 30)
KEYS = ("a", "b", "c", "d")


class Value:
    """What a value was given so far."""

    def __init__(self, items=()):
        self.items = list(items)


class Model:
    def __init__(self):
        self.dbs = [{}, {}]
        self.states = [self.state()]
        self.number = 0

    def state(self):
        return [{key: (value, len(value.items) if value else 0) for key, value in db.items()} for db in self.dbs]

    def note(self):
        self.states.append(self.state())

    def items(self, count):
        self.number += count
        return list(range(self.number - count, self.number))


def step(seeded, model, client, pipeline):
    """Sends one command, and changes the model as it does."""
    db = model.dbs[0]
    key, other = seeded.sample(KEYS, 2)
    what = seeded.choice(("add", "add", "add", "add", "reserve", "rename", "copy", "del", "unlink", "move", "swap", "restore",
                          "set", "share", "expire", "flush" if seeded.random() < 0.2 else "add", "multi"))
    send = (lambda *words: client.send(*words)) if pipeline else (lambda *words: client(*words))
    if what == "add":
        if key in db and db[key] is None:
            return 0
        items = model.items(seeded.choice((1, 3, 60)))
        if key not in db:
            db[key] = Value()
        db[key].items += items
        send("BF.MADD", key, *items)
    elif what == "reserve":
        if key in db:
            return 0
        db[key] = Value()
        send("BF.RESERVE", key, "1e-9", seeded.choice((100, 5000)))
    elif what == "rename":
        if key not in db:
            return 0
        db[other] = db.pop(key)
        send("RENAME", key, other)
    elif what == "copy":
        if key not in db:
            return 0
        db[other] = db[key] and Value(db[key].items)
        send("COPY", key, other, "REPLACE")
    elif what in ("del", "unlink"):
        db.pop(key, None)
        send(what, key)
    elif what == "move":
        if key not in db or key in model.dbs[1]:
            return 0
        model.dbs[1][key] = db.pop(key)
        send("MOVE", key, 1)
    elif what == "swap":
        model.dbs.reverse()
        send("SWAPDB", 0, 1)
    elif what == "restore":
        if pipeline or key not in db:
            return 0
        payload = client.good("DUMP", key)
        db[other] = db[key] and Value(db[key].items)
        send("RESTORE", other, 0, payload, "REPLACE")
    elif what == "set":
        db[key] = None
        send("SET", key, "a string")
    elif what == "share":
        if db.get(key) is None:
            return 0
        send("TAMIS.SHARE", key)
    elif what == "expire":
        db.pop(key, None)
        send("PEXPIREAT", key, 1)
    elif what == "flush":
        db.clear()
        send("FLUSHDB", seeded.choice(("ASYNC", "SYNC")))
    else:
        if db.get(key) is None:
            return 0
        items = model.items(2)
        db[key].items += items
        send("MULTI")
        send("BF.ADD", key, items[0])
        send("BF.ADD", key, items[1])
        if other != key:
            db[other] = db.pop(key)
            send("RENAME", key, other)
        send("EXEC")
        model.note()
        return 5 if pipeline else 0
    model.note()
    return 1 if pipeline else 0


def are_as_the_model_says(seeded, model, client):
    """The keys of a server that lives."""
    for number, db in enumerate(model.dbs):
        client.good("SELECT", number)
        same({key.decode() for key in client.good("KEYS", "*")}, set(db), f"keys of database {number}")
        for key, value in db.items():
            same(client.good("TYPE", key) == "string", value is None, f"the type of {key}")
            if value is None or model.number == 0:
                continue
            others = {seeded.randrange(model.number) for _ in range(100)} - set(value.items)
            lacks = [item for item, there in zip(value.items, client.good("BF.MEXISTS", key, *value.items, "none")) if not there]
            more = [item for item, there in zip(others, client.good("BF.MEXISTS", key, *others, "none")) if there]
            same((lacks, len(more) <= BY_CHANCE), ([], True), f"{key} has {more[:5]} too many, and lacks")
    client.good("SELECT", 0)


def seen_by(client, db, number):
    """The keys of a database, with the items that each has; None: it is a string."""
    client.good("SELECT", db)
    keys = {}
    for key in client.good("KEYS", "*"):
        if client.good("TYPE", key) == "string":
            keys[key.decode()] = None
            continue
        answers = client.good("BF.MEXISTS", key, *range(number)) if number else []
        keys[key.decode()] = {i for i, there in enumerate(answers) if there}
    return keys


# RedisBloom's positions follow from two numbers, so two keys of a small filter have the same ones now and then (docs/sizing.md, "Few keys").
BY_CHANCE = 1


def fits(found, state, number):
    """Is what the keys have one state, with no more than their values were ever given?"""
    for keys, db in zip(found, state):
        if set(keys) != set(db):
            return False
        for key, (value, count) in db.items():
            if (value is None) != (keys[key] is None):
                return False
            if value is not None and (set(value.items[:count]) - keys[key] or len(keys[key] - set(value.items)) > BY_CHANCE + number // 500):
                return False
    return True


def why(found, state):
    """What of a state is not found."""
    told = []
    for keys, db in zip(found, state):
        told.append(f"keys {sorted(keys)}, {sorted(db)} were allowed;")
        for key, (value, count) in db.items():
            if key in keys and value is not None and keys[key] is not None:
                lacks, more = set(value.items[:count]) - keys[key], keys[key] - set(value.items)
                told.append(f"{key} lacks {len(lacks)} ({sorted(lacks)[:5]}), has {len(more)} too many ({sorted(more)[:5]})"
                            if lacks or more else "")
    return " ".join(told)


def saved(seeded, mode, model, client):
    """Now and then the server saves, or is loaded anew.  Returns the states that a kill may leave then; None: as before."""
    chance = seeded.random()
    dumps = mode in ("dump", "reference")
    if chance > 0.98:
        time.sleep(0.05)  # threads come to their work
    if chance < 0.02 and dumps:
        client.good("SAVE")
    elif chance < 0.02 and mode == "rewrite":
        client("BGREWRITEAOF")  # or one is under way
    elif chance < 0.03 and mode != "none":
        client("DEBUG", "RELOAD")
    return [model.states[-1]] if dumps and chance < 0.03 else None


def store_is_in_order(redis, client, model):
    """Each key has a filter of its name, beside orphans, which are listed and dropped."""
    wanted = [("" if number == 0 else f"redis:{number}:") + key for number, db in enumerate(model.dbs) for key, value in db.items() if value]
    are_made(client)
    for name, _ in client.good("TAMIS.ORPHANS", "LIST"):
        client("TAMIS.ORPHANS", "DROP", name)
    has_filters(redis, sorted(wanted), "the store")


def one(seed):
    seeded = random.Random(seed)
    home = seeded.choice((0, 0, 65536, 2048))
    mode = seeded.choice(("always", "everysec", "rewrite", "dump", "reference", "none"))
    exact = seeded.choice(("yes", "no", "no"))
    arguments = ["share-from", home, "exact", exact, "default-rate", "1e-9"]
    settings = {"save": "3600 1000000" if mode in ("dump", "reference") else "",
                "appendonly": "yes" if mode in ("always", "everysec", "rewrite") else "no",
                "appendfsync": "everysec" if mode == "everysec" else "always",
                "aof-use-rdb-preamble": seeded.choice(("yes", "no"))}
    if mode == "reference":
        arguments += ["rdb", "reference"]
    told = f"seed {seed}: {mode}, {settings['aof-use-rdb-preamble']}, home {home}, exact {exact}"
    with Server(MODULE, *arguments, **settings) as redis:
        client, model, allowed = redis.client(), Model(), []
        for _ in range(KILLS):
            first = len(model.states) - 1
            if mode in ("dump", "reference", "none"):
                allowed = [model.states[-1]] if mode != "none" else []
            for _ in range(SEQUENCES):
                for _ in range(seeded.randrange(5, 25)):
                    step(seeded, model, client, False)
                    allowed = saved(seeded, mode, model, client) or allowed
                try:
                    are_as_the_model_says(seeded, model, client)
                except AssertionError as failure:
                    raise AssertionError(f"{told}: {failure}") from failure
            answered = len(model.states) - 1
            for _ in range(seeded.choice((0, 0, 1, 3))):
                step(seeded, model, client, True)
            redis.kill()
            if mode in ("always", "rewrite"):
                allowed = model.states[answered:]
            elif mode == "everysec":
                allowed = model.states[first:]
            elif mode == "none":
                allowed = [[{}, {}]]
            client = redis.start()
            found = [seen_by(client, db, model.number) for db in (0, 1)]
            client.good("SELECT", 0)
            right = [state for state in allowed if fits(found, state, model.number)]
            if not right:
                raise AssertionError("\n".join([told] + [why(found, state) for state in allowed]))
            # The next turn begins with what is there: a value of which items were lost, or more are there, is another one.
            state = right[-1]
            model.dbs = [{key: value and Value(value.items[:count] + sorted(found[i][key] - set(value.items[:count])))
                          for key, (value, count) in db.items()} for i, db in enumerate(state)]
            model.states = [model.state()]
            if home == 0:
                try:
                    store_is_in_order(redis, client, model)
                except AssertionError as failure:
                    raise AssertionError(f"{told}: {failure}") from failure
            if mode == "dump":  # which has so many; what the store had besides goes with its filter
                model.states = [[{key: (value, state[i][key][1]) for key, (value, _) in db.items()}
                                 for i, db in enumerate(model.state())]]
        redis.stop()
        tamis("verify", "--store", store_of(redis))


def sequences_and_kills():
    print(f"seed {SEED}: {RUNS} runs, {RUNS * KILLS} kills, {RUNS * KILLS * SEQUENCES} sequences", flush=True)
    for number in range(RUNS):
        one(SEED + number)


run(sequences_and_kills)
