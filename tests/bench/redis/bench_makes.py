#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""bench_makes.py MODULE [MODULE...]: filters a second that BF.ADD makes, one key each, for each of the modules in turn.

    one by one   one client, which waits for each answer
    pipeline     one client, which sends 100 commands and then reads their answers
    clients      50 clients, of which each sends 20 commands

Each figure is the median of ROUNDS, and in brackets stand the least and the greatest; behind them stands the processor time that the
server took for a filter, which depends less on what else the machine does.  Every round has a new server without
persistence, in the working directory: its disk is what is measured.  COUNTS says how many filters are made.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "redis"))
from redis_client import Client  # noqa: E402
from redis_server import Server  # noqa: E402

ROUNDS = 3
COUNTS = {"one by one": (300, 1, 1), "pipeline": (2000, 1, 100), "clients": (2000, 50, 20)}


def make(port, count, clients, depth):
    """Makes the filters; returns how many a second."""
    connections = [Client(port) for _ in range(clients)]
    began = time.monotonic()
    made = 0
    while made < count:
        for connection in connections:
            for i in range(depth):
                connection.send("BF.ADD", f"user:{made + i}", "item")
            made += depth
        for connection in connections:
            for _ in range(depth):
                assert connection.answer() == 1
    rate = made / (time.monotonic() - began)
    for connection in connections:
        connection.close()
    return rate


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        user, system = file.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def measure(module, count, clients, depth):
    directory = tempfile.mkdtemp(prefix="bench-makes-", dir=".")
    try:
        with Server(module, directory=os.path.abspath(directory), save="") as redis:
            before = processor_seconds(redis.process.pid)
            rate = make(redis.port, count, clients, depth)
            return rate, (processor_seconds(redis.process.pid) - before) / count
    finally:
        shutil.rmtree(directory)


def main():
    modules = [os.path.abspath(path) for path in sys.argv[1:]]
    if not modules:
        sys.exit(__doc__)
    subprocess.run(["uptime"], check=False)
    for name, case in COUNTS.items():
        rates = {module: [] for module in modules}
        for _ in range(ROUNDS):
            for module in modules:
                rates[module].append(measure(module, *case))
        for module in modules:
            seen, seconds = zip(*rates[module])
            print(f"{name:12} {statistics.median(seen):8.0f} ({min(seen):.0f} to {max(seen):.0f}) "
                  f"{1e6 * statistics.median(seconds):8.0f} us  {module}", flush=True)


main()
