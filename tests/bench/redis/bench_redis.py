#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""bench_redis.py [BUILD] [batches] [redisbloom] [servers] [durable] [save] [stores]: what the Redis module costs, beside a limit of the
same run.  BUILD is the build directory, .build/test unless told.

    batches   BF.MADD and BF.MEXISTS pipelined 8 deep, and single BF.ADD 64 deep, beside a command of the same shape
              that answers zeros (zeros.c), in turn: nanoseconds of the server's main thread for a key, and of wall
              time, the least of ROUNDS.  The filter is for 100 million keys at 1 %, 10 million are in it.
    redisbloom
              each command beside that of a RedisBloom, whose file the variable REDISBLOOM names, in a server of its own,
              in turn: nanoseconds of the main thread for a key, the least of TURNS, by default and with `exact`;
              with filters for 10 million keys, and with filters that lie in the caches
    servers   one server against two that have attached the same filter: keys a second
    durable   adds a second to a durable filter by 1, 16 and 64 clients of one key each, on the disk of the
              working directory
    save      BGSAVE of a filter of 1 GiB under 200,000 adds a second: private memory of the process tree, the worst
              answer; then how long a restart takes, with references and with content
    stores    lines a second of `tamis add --new` and `tamis check`, by one command and by two at once, on a directory, a server
              and clusters; medians of STORE_ROUNDS, the stores in turn, and the best.  Each command has LINES lines of its own, of some
              80 bytes; everything is in /dev/shm.  Beside them the processor time of a line
"""
import contextlib
import glob
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "redis"))
from memory import private_bytes  # noqa: E402
from redis_server import Server  # noqa: E402

TOP = os.path.join(HERE, "..", "..", "..")
ROUNDS = 5
TURNS = 9
LINES = 2_000_000
STORE_ROUNDS = 9


def load(ports, command, key, **settings):
    """Runs the client; returns what it measured."""
    words = [LOAD, ",".join(str(port) for port in ports), command, key]
    done = subprocess.run(words + [f"{name}={number}" for name, number in settings.items()], check=True,
                          stdout=subprocess.PIPE, text=True).stdout.split()
    return {done[i]: float(done[i + 1]) for i in range(0, 10, 2)}


def cpu_seconds(client):
    told = dict(line.split(":") for line in client.good("INFO", "cpu").decode().split("\r\n") if ":" in line)
    return float(told["used_cpu_user_main_thread"]) + float(told["used_cpu_sys_main_thread"])


def measure(client, port, command, key, **settings):
    """Nanoseconds of the main thread, and of wall time, for a key."""
    before = cpu_seconds(client)
    got = load([port], command, key, **settings)
    return (cpu_seconds(client) - before) / got["keys"] * 1e9, got["seconds"] / got["keys"] * 1e9


def print_row(name, ours, limit):
    print(f"{name:34} {ours[0]:8.1f} {limit[0]:8.1f} {ours[0] / limit[0]:6.2f}   "
          f"{ours[1]:8.1f} {limit[1]:8.1f} {ours[1] / limit[1]:6.2f}", flush=True)


def batches():
    shapes = [("1,000 keys of 8 bytes", dict(batch=1000, bytes=8, depth=8)),
              ("1,000 keys of 70 bytes", dict(batch=1000, bytes=70, depth=8)),
              ("100 keys of 70 bytes", dict(batch=100, bytes=70, depth=8)),
              ("one key of 8 bytes, 64 deep", dict(batch=1, bytes=8, depth=64))]
    with Server(MODULE, "max-bytes", 1 << 34) as redis:
        client = redis.client()
        client.good("MODULE", "LOAD", ZEROS)
        client.good("BF.RESERVE", "k", "0.01", 100_000_000)
        load([redis.port], "BF.MADD", "k", batch=1000, bytes=8, depth=8, seconds=5, items=10_000_000)
        print(f"{'':34} {'main thread, ns a key':>24}   {'wall time, ns a key':>24}")
        print(f"{'':34} {'ours':>8} {'zeros':>8} {'ratio':>6}   {'ours':>8} {'zeros':>8} {'ratio':>6}")
        start = 1 << 32
        for shape, settings in shapes:
            one = settings["batch"] == 1
            cases = [("ADD" if one else "MADD", "new", {}), ("ADD" if one else "MADD", "known", {"items": 10_000_000}),
                     ("EXISTS" if one else "MEXISTS", "there", {"items": 10_000_000}),
                     ("EXISTS" if one else "MEXISTS", "strange", {"from": 1 << 60})]
            for command, which, items in cases:
                ours, zeros = [], []
                for _ in range(ROUNDS):
                    more = {"from": start} if which == "new" else items
                    start += 1 << 28
                    ours.append(measure(client, redis.port, "BF." + command, "k", seconds=1, **settings, **more))
                    zeros.append(measure(client, redis.port, "ZEROS." + ("ADD" if one else "MADD"), "k", seconds=1,
                                         **settings, **more))
                print_row(f"{command} {shape}, {which}", [min(column) for column in zip(*ours)],
                          [min(column) for column in zip(*zeros)])


# What is asked or added: the settings of the client.  Items that are new in each turn have none.
SINGLE = dict(batch=1, depth=64, keys=100_000)
MANY = dict(batch=1000, depth=8, keys=300_000)
KNOWN, STRANGE = dict(items=100_000), {"from": 1 << 60}
BESIDE = [("BF.ADD", "new", SINGLE, {}), ("BF.ADD", "known", SINGLE, KNOWN),
          ("BF.EXISTS", "there", SINGLE, KNOWN), ("BF.EXISTS", "strange", SINGLE, STRANGE),
          ("BF.MADD", "new", MANY, {}), ("BF.MADD", "known", MANY, KNOWN),
          ("BF.MEXISTS", "there", MANY, KNOWN), ("BF.MEXISTS", "strange", MANY, STRANGE),
          ("CF.ADD", "new", SINGLE, {}), ("CF.EXISTS", "there", SINGLE, KNOWN), ("CF.EXISTS", "strange", SINGLE, STRANGE)]


# Filters that lie in the processor's caches, so what a command itself costs is all that shows.
SMALL_KNOWN = dict(items=4_000)
SMALL = [("BF.ADD", "known", SINGLE, SMALL_KNOWN), ("BF.EXISTS", "there", SINGLE, SMALL_KNOWN),
         ("BF.EXISTS", "strange", SINGLE, STRANGE)]


def beside(mode, size, keys, filled, rows):
    """The rows of one mode, with filters for that many keys, some of which are in them."""
    with Server(MODULE, "max-bytes", 1 << 34, "exact", "yes" if mode == "exact" else "no") as ours, \
            Server(os.environ["REDISBLOOM"]) as theirs:
        servers_of_both = [(server.client(), server.port) for server in (ours, theirs)]
        for client, port in servers_of_both:
            client.good("BF.RESERVE", "bf", "0.01", keys)
            client.good("CF.RESERVE", "cf", keys)
            for size_bytes in (8, 70):
                load([port], "BF.MADD", "bf", batch=1000, bytes=size_bytes, depth=8, keys=100_000, items=filled)
                load([port], "CF.ADD", "cf", batch=1, bytes=size_bytes, depth=64, keys=filled, items=filled)
        start = 1 << 32
        for command, which, settings, items in rows:
            for size_bytes in (8, 70):
                took = [[], []]
                for _ in range(TURNS):
                    start += 1 << 28
                    for (client, port), column in zip(servers_of_both, took):
                        column.append(measure(client, port, command, command[:2].lower(), bytes=size_bytes, seconds=9,
                                              **settings, **({"from": start} if which == "new" else items))[0])
                mine, other = min(took[0]), min(took[1])
                print(f"| {mode}, {size} | {command} {which}, {size_bytes} bytes | {mine:.0f} | {other:.0f} | {other / mine:.2f} |",
                      flush=True)


def redisbloom():
    print("| | | ours, ns | RedisBloom, ns | ratio |\n|---|---|---|---|---|")
    for mode in ("default", "exact"):
        beside(mode, "10 M keys", 10_000_000, 100_000, BESIDE)
        beside(mode, "10,000 keys", 10_000, 4_000, SMALL)


def servers():
    """What the main threads could do by themselves is told, too: on few processors the client takes their time."""
    with tempfile.TemporaryDirectory(prefix="tamis-bench-", dir="/dev/shm") as directory:
        store = os.path.join(directory, "store")
        with Server(MODULE, "store", store) as one, Server(MODULE, "store", store) as two:
            subprocess.run([TAMIS, "create", "--store", store, "seen", "-n", "100M"], check=True)
            clients = [one.client(), two.client()]
            for client in clients:
                client.good("TAMIS.ATTACH", "seen")
            rates, could = {1: [], 2: []}, {1: [], 2: []}
            for _ in range(ROUNDS):
                for count in (1, 2):
                    before = [cpu_seconds(client) for client in clients[:count]]
                    got = load([one.port, two.port][:count], "BF.MADD", "seen", batch=1000, bytes=8, depth=8, seconds=1,
                               items=5_000_000)
                    busy = [cpu_seconds(client) - was for client, was in zip(clients, before)]
                    rates[count].append(got["keys"] / got["seconds"])
                    could[count].append(sum(got["keys"] / count / seconds for seconds in busy))
            for what, measured in ((f"on {os.cpu_count()} processors, beside the client", rates),
                                   ("by the time of their main threads", could)):
                first, second = max(measured[1]), max(measured[2])
                print(f"{what}: one server {first / 1e6:.2f} million keys/s, two on the same filter {second / 1e6:.2f}, "
                      f"ratio {second / first:.2f}")


def durable():
    with tempfile.TemporaryDirectory(prefix="tamis-bench-", dir=".") as directory:
        with Server(MODULE, directory=os.path.abspath(directory)) as redis:
            client = redis.client()
            client.good("TAMIS.RESERVE", "k", "0.001", 10_000_000, "DURABLE")
            rates = {}
            for round_ in range(3):
                for clients in (1, 16, 64):
                    got = load([redis.port], "BF.ADD", "k", batch=1, bytes=8, depth=1, clients=clients, seconds=2,
                               **{"from": (round_ * 100 + clients) << 32})
                    rates.setdefault(clients, []).append(got["keys"] / got["seconds"])
            for clients, measured in rates.items():
                median = sorted(measured)[1]
                print(f"{clients:3} clients: {median:9.0f} adds/s, {median / sorted(rates[1])[1]:6.1f} times those of one")


def save():
    capacity = 560_000_000  # 15.36 bits a key at 1 %: 1 GiB
    with tempfile.TemporaryDirectory(prefix="tamis-bench-", dir=".") as directory:
        for mode in ("reference", "content"):
            path = os.path.abspath(os.path.join(directory, mode))
            os.mkdir(path)
            with Server(MODULE, "rdb", mode, "max-bytes", 1 << 34, directory=path, save="900 1000000000") as redis:
                client = redis.client()
                client.good("BF.RESERVE", "k", "0.01", capacity, "NONSCALING")
                load([redis.port], "BF.MADD", "k", batch=1000, depth=8, seconds=2)
                results, peak = {}, 0

                def adds():
                    results.update(load([redis.port], "BF.MADD", "k", batch=100, depth=1, clients=4, seconds=8,
                                        rate=200_000, **{"from": 1 << 40}))

                before = private_bytes(redis.process.pid)
                adder = threading.Thread(target=adds)
                adder.start()
                time.sleep(1)
                client.good("BGSAVE")
                began = time.monotonic()
                saved = None
                while adder.is_alive():
                    peak = max(peak, private_bytes(redis.process.pid))
                    if saved is None and b"rdb_bgsave_in_progress:0" in client.good("INFO", "persistence"):
                        saved = time.monotonic() - began
                    time.sleep(0.05)
                adder.join()
                redis.stop()
                began = time.monotonic()
                redis.start()
                took = time.monotonic() - began
                size = os.path.getsize(os.path.join(path, "dump.rdb")) if os.path.exists(os.path.join(path, "dump.rdb")) \
                    else 0
                print(f"rdb {mode}: BGSAVE of a dump of {size / 2**20:.0f} MiB took "
                      f"{'longer than the adds' if saved is None else f'{saved:.1f} s'}; private memory grew by "
                      f"{(peak - before) / 2**20:.1f} MiB; {results['keys'] / results['seconds']:.0f} adds/s, the worst "
                      f"answer {results['worst_ms']:.1f} ms, mean {results['mean_ms']:.2f}; ready {took * 1000:.0f} ms "
                      f"after the start", flush=True)


class Store:
    """What --store names, how a filter is made there, and the servers that work for it."""

    def __init__(self, name, url, shards, servers=()):
        self.name, self.url, self.shards = name, url, shards
        self.clients = [server.client() for server in servers]
        self.told = {}

    def tamis(self, *words):
        subprocess.run([TAMIS, "--store", self.url, *words], check=True)

    def server_seconds(self):
        return sum(float(line.split(":")[1]) for client in self.clients
                   for line in client.good("INFO", "cpu").decode().split("\r\n")
                   if line.startswith(("used_cpu_sys:", "used_cpu_user:")))

    def measure(self, command, inputs):
        """One command for each input, all at once."""
        running = []
        before, began = self.server_seconds(), time.monotonic()
        for path in inputs:
            with open(path, "rb") as file:
                running.append(subprocess.Popen([TAMIS, "--store", self.url, *command, "f"], stdin=file,
                                                stdout=subprocess.DEVNULL))
        usages = [os.wait4(process.pid, 0) for process in running]
        seconds = time.monotonic() - began
        if any(status for _, status, _ in usages):
            raise AssertionError(f"{self.name}: {command} failed")
        client = sum(usage.ru_utime + usage.ru_stime for _, _, usage in usages)
        lines = LINES * len(inputs)
        self.told.setdefault((command, len(inputs)), []).append(
            (lines / seconds, client / lines * 1e6, (self.server_seconds() - before) / lines * 1e6))

    def row(self, command, count):
        rates, client, servers = zip(*self.told[command, count])
        return f"{statistics.median(rates) / 1e6:.2f} ({max(rates) / 1e6:.2f}) | " \
               f"{statistics.median(client):.2f} | {statistics.median(servers):.2f}"


def measure_stores(stores, inputs):
    commands = [("add", "--new"), ("check",)]
    for _ in range(STORE_ROUNDS):
        for store in stores:
            for count in (1, 2):
                store.tamis("create", "f", "-n", str(2 * LINES), "-p", "0.1%", *store.shards)
                for command in commands:
                    store.measure(command, inputs[:count])
                store.tamis("drop", "f")
    for command in commands:
        print(f"\n| `tamis {' '.join(command)}` | one command: million lines/s (best) | its µs a line | servers' µs a line "
              "| two commands: million lines/s (best) | their µs a line | servers' µs a line |\n|---|---|---|---|---|---|---|")
        for store in stores:
            print(f"| {store.name} | {store.row(command, 1)} | {store.row(command, 2)} |")


def stores():
    sys.argv[1:] = [MODULE, TAMIS]  # as the tests have them, whose cluster this is
    from cluster_servers import Cluster  # noqa: E402
    with tempfile.TemporaryDirectory(prefix="tamis-bench-", dir="/dev/shm") as directory, contextlib.ExitStack() as stack:
        tempfile.tempdir = directory
        inputs = [os.path.join(directory, f"lines-{i}") for i in range(2)]
        for i, path in enumerate(inputs):
            with open(path, "w", encoding="utf-8") as file:
                for line in range(LINES):
                    file.write(f"https://www.site-{line * 31 % 9973}.example/articles/of/{i}/that/are/long/{line:020}\n")
        there = [Store("a directory", os.path.join(directory, "store"), ())]
        one = stack.enter_context(Server(MODULE))
        url = one.url()
        sharded = ("--shards", "32")
        there += [Store("a server, one key", url, (), [one]), Store("the same, 32 shards", url, sharded, [one])]
        for masters, replicas in ((1, 1), (2, 2), (3, 3), (3, 0)):
            cluster = stack.enter_context(Cluster(masters, range(replicas)))
            there.append(Store(f"a cluster of {masters} master{'s'[:masters > 1]}, "
                               f"{replicas or 'no'} replica{'s'[:replicas != 1]}", cluster.url(), sharded, cluster.servers))
        measure_stores(there, inputs)
        for store in there:
            for client in store.clients:
                client.close()
    tempfile.tempdir = None


CASES = {"batches": batches, "redisbloom": redisbloom, "servers": servers, "durable": durable, "save": save, "stores": stores}
words = sys.argv[1:]
BUILD = os.path.abspath(words.pop(0) if words and words[0] not in CASES else os.path.join(TOP, ".build", "test"))
MODULE, TAMIS = os.path.join(BUILD, "redis", "tamis.so"), os.path.join(BUILD, "bin", "tamis")
LOAD, ZEROS = glob.glob(os.path.join(BUILD, "**", "bench_redis_load"), recursive=True)[0], \
    glob.glob(os.path.join(BUILD, "**", "bench_redis_zeros.so"), recursive=True)[0]
for word in words or CASES:
    CASES[word]()
