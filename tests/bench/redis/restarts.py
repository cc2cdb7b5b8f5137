#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""restarts.py MODULE [COUNT [ARGUMENT...]]: how long a server with very many small filters takes until it answers again.

COUNT filters (100,000) are made by BF.ADD, each of one key.  ARGUMENTs are of the module.  Then the server is killed and starts again: by
an AOF of commands; by one whose preamble is a dump, with adds to a tenth of the filters behind it; by a dump; by that dump and
without its store, as on another machine.  At the end an empty replica takes all in a full sync.  Each row has seconds, and
microseconds for each filter; those of a store that is made anew also bytes of disk for each.  Working directory: the disk
that is measured.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "redis"))
from redis_server import Server  # noqa: E402

DEPTH = 1000
PATIENCE_S = 3600


def told(client, section, field):
    for line in client.good("INFO", section).decode().splitlines():
        if line.startswith(field + ":"):
            return line.split(":", 1)[1]
    raise AssertionError(f"INFO has no {field}")


def until(condition):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it takes more than an hour")
        time.sleep(0.05)


def settle(client):
    until(lambda: told(client, "tamis", "tamis_filters_on_the_way") == "0")


def add(client, numbers, item):
    numbers = list(numbers)
    for at in range(0, len(numbers), DEPTH):
        for number in numbers[at:at + DEPTH]:
            client.send("BF.ADD", f"filter:{number}", item)
        for _ in numbers[at:at + DEPTH]:
            client.answer()


def row(what, seconds, count, disk=""):
    print(f"{what:55} {seconds:9.1f} {1e6 * seconds / count:9.1f} {disk:>7}", flush=True)


def disk_of(server, count):
    store = os.path.join(server.directory, "tamis")
    blocks = subprocess.run(["du", "-s", "--block-size=1", store], capture_output=True, text=True, check=True)
    return f"{int(blocks.stdout.split()[0]) / count:.0f}"


def restart(server, count):
    """Seconds until it answers with all keys."""
    server.kill()
    began = time.monotonic()
    server.process = subprocess.Popen(server.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      stdin=subprocess.DEVNULL)

    def is_up():
        try:
            return server.client()("DBSIZE") == count
        except OSError:
            return False

    until(is_up)
    return time.monotonic() - began


def measure(server, count):
    client = server.client()
    began = time.monotonic()
    add(client, range(count), "item")
    settle(client)
    row("made", time.monotonic() - began, count, disk_of(server, count))
    row("restart by an AOF of commands", restart(server, count), count)
    client = server.client()
    client.good("BGREWRITEAOF")
    until(lambda: told(client, "persistence", "aof_rewrite_in_progress") == "0")
    add(client, range(0, count, 10), "behind")
    row("... by one with a preamble, and adds to a tenth", restart(server, count), count)
    client = server.client()
    client.good("SAVE")
    client.good("CONFIG", "SET", "appendonly", "no")
    server.settings["appendonly"] = "no"
    row("... by a dump", restart(server, count), count)
    server.kill()
    shutil.rmtree(os.path.join(server.directory, "tamis"))
    row("... by a dump without its store", restart(server, count), count)
    settle(server.client())
    print(f"{'    disk for each then':75} {disk_of(server, count):>7}")


def sync(server, replica, count):
    client = replica.client()
    began = time.monotonic()
    client.good("REPLICAOF", "127.0.0.1", server.port)
    until(lambda: told(client, "replication", "master_link_status") == "up" and client("DBSIZE") == count)
    row("a full sync of an empty replica", time.monotonic() - began, count)
    settle(client)
    print(f"{'    disk for each there':75} {disk_of(replica, count):>7}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    module = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    with open("/proc/loadavg", encoding="ascii") as load:
        print(f"{count} filters; load {load.read().split()[0]}")
    print(f"{'':55} {'seconds':>9} {'us each':>9} {'bytes':>7}")
    with tempfile.TemporaryDirectory(dir=".") as one, tempfile.TemporaryDirectory(dir=".") as other:
        settings = {"appendonly": "yes", "auto_aof_rewrite_percentage": 0, "repl_diskless_sync_delay": 0}
        with Server(module, *sys.argv[3:], directory=os.path.abspath(one), **settings) as server:
            measure(server, count)
            with Server(module, *sys.argv[3:], directory=os.path.abspath(other)) as replica:
                sync(server, replica, count)


if __name__ == "__main__":
    main()
