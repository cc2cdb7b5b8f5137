# SPDX-License-Identifier: BSD-2-Clause
"""migration.py MODULE TAMIS: slots that the servers move by themselves (CLUSTER MIGRATESLOTS of Valkey 9, CLUSTER MIGRATION of
Redis 8.4), while clients add.

Skipped on servers without them; cluster.py moves slots as all servers can.
"""
import time

from cluster_servers import Cluster
from harness import beside, eventually, filters, run, same, served
from redis_client import Client, Error
from redis_server import skip

ROUNDS = 4
BATCH = 20
KEYS_A_ROUND = 400


class Asker:
    """A client of whichever server has the slot."""

    def __init__(self, server):
        self.port = server.port
        self.client = Client(self.port)

    def __call__(self, *words):
        while True:
            answer = self.client(*words)
            if not isinstance(answer, Error):
                return answer
            if not answer.startswith("MOVED "):
                raise AssertionError(f"{words[:2]}: {answer}")
            port = int(answer.split(":")[-1])
            if port != self.port:
                self.client.close()
                self.port, self.client = port, Client(port)


class Adder:
    """Adds batches of new keys with a command; `given` grows when they are answered."""

    def __init__(self, server, *words):
        self.ask, self.words, self.given, self.longest = Asker(server), words, 0, 0

    def keys(self, first, count):
        return [f"{self.words[0]}-{i}" for i in range(first, first + count)]

    def work(self):
        """Steps for beside()."""
        while True:
            began = time.monotonic()
            answers = self.ask(*self.words, *self.keys(self.given, BATCH))
            same([answer in (0, 1) for answer in answers], [True] * BATCH, self.words)
            self.longest = max(self.longest, time.monotonic() - began)
            self.given += BATCH
            yield
            time.sleep(0.002)  # so that the end has not too many keys to ask for


def migrate_slots(slot, source, target):
    """As Valkey 9 does it, which asks the source."""
    client = source.client()
    client.good("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", Cluster.name(target))
    return lambda: str(client.good("CLUSTER", "GETSLOTMIGRATIONS")[0]), lambda: client("CLUSTER", "CANCELSLOTMIGRATIONS")


def migration(slot, _, target):
    """As Redis 8.4 does it, which asks the target."""
    client = target.client()
    task = client.good("CLUSTER", "MIGRATION", "IMPORT", slot, slot)
    return (lambda: str(client.good("CLUSTER", "MIGRATION", "STATUS", "ID", task)[0]),
            lambda: client("CLUSTER", "MIGRATION", "CANCEL", "ID", task))


WAYS = {"migrateslots": (migrate_slots, "success"), "migration": (migration, "completed")}


def migrate(*slot_and_servers):
    """Moves the slot, and waits until both servers know."""
    begin, word = WAYS[known[0]]
    status, _ = begin(*slot_and_servers)

    def ended():
        told = status()
        if "failed" in told or "cancel" in told:
            raise AssertionError(told)
        return word in told

    eventually(ended, "the slot has moved")


def slots_move_by_themselves_while_keys_are_added():
    """No key is lost, none is counted twice.  Seen to fail without copies in the child (copy_in_child() of freeze.c): items of CF.*
    that were added while it began were counted twice.  Before, the server waited 10 s for a child that did not copy."""
    with Cluster(2, timeout_ms=20000) as cluster:
        source, target = cluster.masters
        for server in cluster.masters:
            server.client().good("CONFIG", "SET", "tamis.rdb", "reference")  # a payload has the filter all the same
        client = source.client()
        tag = next(f"{{{i}}}" for i in range(1000) if client.good("CLUSTER", "KEYSLOT", f"{{{i}}}") < 8192)
        slot = client.good("CLUSTER", "KEYSLOT", tag)
        names = {name: name + tag for name in ("bloom", "counted", "durable", "cuckoo")}
        client.good("BF.RESERVE", names["bloom"], "1e-9", 200000)
        client.good("CF.RESERVE", names["counted"], 2000000)
        client.good("TAMIS.RESERVE", names["durable"], "1e-9", 200000, "DURABLE")
        client.good("CONFIG", "SET", "tamis.exact", "yes")
        client.good("CF.RESERVE", names["cuckoo"], 200000)
        adders = [Adder(source, "BF.MADD", names["bloom"]), Adder(source, "CF.INSERT", names["counted"], "ITEMS"),
                  Adder(source, "BF.MADD", names["durable"]), Adder(source, "CF.INSERTNX", names["cuckoo"], "ITEMS")]
        with beside(*[adder.work() for adder in adders]):
            for _ in range(ROUNDS):
                before = [adder.given for adder in adders]
                eventually(lambda before=before: all(adder.given >= was + KEYS_A_ROUND
                                                     for adder, was in zip(adders, before)), "keys are added")
                migrate(slot, source, target)
                source, target = target, source
        ask = Asker(source)
        for adder in adders:
            keys = adder.keys(0, adder.given)
            command = "CF.MEXISTS" if adder.words[0].startswith("CF") else "BF.MEXISTS"
            same(ask(command, adder.words[1], *keys), [1] * adder.given, f"{adder.words[1]} after {adder.given} keys")
        counted = adders[1]
        counts = [ask("CF.COUNT", names["counted"], key) for key in counted.keys(0, counted.given)]
        same(sum(count > 1 for count in counts) <= len(counts) // 20, True, "few strangers meet in a filter of this size")
        same(ask("CF.INFO", names["counted"])[7], counted.given, "items that were added once")
        eventually(lambda: filters(target) == [], "what has moved away is gone")
        print(f"longest: {[adder.longest for adder in adders]}")
        print(f"keys: {[adder.given for adder in adders]}")


def move_that_is_cancelled_leaves_nothing_behind():
    """It is cancelled as soon as the target has the first of the filters.  Whoever has the slot then has all keys, and the other
    server no filter."""
    with Cluster(2, timeout_ms=20000) as cluster:
        source, target = cluster.masters
        client = source.client()
        tag = next(f"{{{i}}}" for i in range(1000) if client.good("CLUSTER", "KEYSLOT", f"{{{i}}}") < 8192)
        slot = client.good("CLUSTER", "KEYSLOT", tag)
        names = [f"filter {number} {tag}" for number in range(8)]
        for name in names:
            client.good("BF.RESERVE", name, "1e-9", 2000000)
        adders = [Adder(source, "BF.MADD", name) for name in names]
        begin, word = WAYS[known[0]]
        cancelled = 0
        with beside(*[adder.work() for adder in adders]):
            for _ in range(ROUNDS):
                status, cancel = begin(slot, source, target)
                eventually(lambda: filters(target) or word in status(), "the first filter comes")
                cancel()
                eventually(lambda: any(end in status() for end in (word, "failed", "cancel")), "the move ends")
                if word in status():
                    source, target = target, source
                else:
                    cancelled += 1
                eventually(lambda: filters(target) == [], "what is not there any more is gone")
        ask = Asker(source)
        for adder in adders:
            same(ask("BF.MEXISTS", adder.words[1], *adder.keys(0, adder.given)), [1] * adder.given, adder.words[1])
        same(filters(source), sorted(names), "the slot's filters")
        print(f"{cancelled} of {ROUNDS} were cancelled")


with served() as (_, asked):
    known = [name for name in WAYS if asked.good("COMMAND", "INFO", f"cluster|{name}")[0] is not None]
if not known:
    skip("this server has neither CLUSTER MIGRATESLOTS nor CLUSTER MIGRATION")
run(slots_move_by_themselves_while_keys_are_added, move_that_is_cancelled_leaves_nothing_behind)
