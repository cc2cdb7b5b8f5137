#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""many_filters.py MODULE [COUNT [DEPTH [ARGUMENT...]]]: what a server pays for very many small filters.

COUNT filters (100,000) are made by BF.ADD, each of one key, by a client that sends DEPTH commands (1,000) and then reads their
answers.  ARGUMENTs are of the module.  Then: disk and memory for each; the time of BF.EXISTS on a random one and on always the same one, with as many
commands in a pipeline; what is open; SAVE, a restart after kill -9, and BF.CARD then; FLUSHALL ASYNC, and FLUSHALL after another fill.  At the
end the same restart and FLUSHALL ASYNC of a server without the module, which has COUNT strings and a dump as large.
While filters are made and dropped, another client sends PING all the time, and the longest answer is told, with the time of a
processor that all threads of the server took for each filter.  The store is in the working directory:
its disk is what is measured.
"""
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "redis"))
from redis_server import Server  # noqa: E402

ASKED = 200000
PASSES = 3
PAUSE_S = 0.001


class Pings:
    """A client that sends PING all the time; longest_ms() tells the longest answer since it was asked last."""

    def __init__(self, server):
        self.client = server.client()
        self.longest = 0.0
        self.ends = False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.ends:
            began = time.monotonic()
            self.client.good("PING")
            self.longest = max(self.longest, time.monotonic() - began)
            time.sleep(PAUSE_S)

    def longest_ms(self):
        longest, self.longest = self.longest, 0.0
        return longest * 1000

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ends = True
        self.thread.join()


def command(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def ask(port, commands, depth):
    """Sends commands that answer with a number of one digit; returns these."""
    answers = []
    with socket.create_connection(("127.0.0.1", port)) as connection:
        for start in range(0, len(commands), depth):
            some = commands[start:start + depth]
            connection.sendall(b"".join(some))
            got = bytearray()
            while len(got) < 4 * len(some):
                piece = connection.recv(1 << 20)
                assert piece, "the server has closed the connection"
                got += piece
            assert got[0::4] == b":" * len(some), got[:200]
            answers.append(bytes(got[1::4]))
    return b"".join(answers)


def name(i):
    return b"user:%d" % i


def field(client, section, wanted):
    for line in client.good("INFO", section).decode().split("\r\n"):
        if line.startswith(f"{wanted}:"):
            return int(line.split(":")[1])
    raise AssertionError(wanted)


def disk_bytes(directory):
    return int(subprocess.run(["du", "-s", "-B1", directory], capture_output=True, text=True, check=True).stdout.split()[0])


def look(server, what):
    """What the server has open."""
    proc = f"/proc/{server.process.pid}"
    with open(f"{proc}/maps", encoding="ascii") as file:
        maps = sum(1 for _ in file)
    descriptors = len(os.listdir(f"{proc}/fd"))
    print(f"{what}: {field(server.client(), 'tamis', 'tamis_open_filters')} filters open, {descriptors} descriptors, {maps} mappings", flush=True)


def processor_s(server):
    with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def fill(server, count, depth):
    with Pings(server) as pings:
        used = processor_s(server)
        began = time.monotonic()
        answers = ask(server.port, [command(b"BF.ADD", name(i), b"item") for i in range(count)], depth)
        took = time.monotonic() - began
        assert answers == b"1" * count
        print(f"made {count} in {took:.1f} s: {count / took:,.0f} a second, "
              f"{(processor_s(server) - used) / count * 1e6:.0f} us of a processor each; longest PING {pings.longest_ms():.1f} ms", flush=True)


def cost(server, count, empty):
    disk = disk_bytes(os.path.join(server.directory, "tamis"))
    memory = field(server.client(), "memory", "used_memory")
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        resident = next(int(line.split()[1]) for line in file if line.startswith("RssAnon:")) * 1024
    print(f"each: {disk / count:.0f} bytes of disk, {(memory - empty) / count:.0f} of memory; RssAnon by filter: {resident / count:.0f}", flush=True)


def cpu_seconds(server):
    """What the server's main thread has had of a processor."""
    with open(f"/proc/{server.process.pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


def exists(server, count, depth):
    """Each filter is asked once first.  The server's time is of its main thread, with the parsing and the answers."""
    numbers = [random.randrange(count) for _ in range(ASKED)]
    passes = [("all, for the first time", range(count))]
    passes += [("random", numbers), ("one", [numbers[0]] * ASKED)] * PASSES
    least = {}
    for what, asked in passes:
        commands = [command(b"BF.EXISTS", name(i), b"item") for i in asked]
        used, began = cpu_seconds(server), time.monotonic()
        answers = ask(server.port, commands, depth)
        took, used = time.monotonic() - began, cpu_seconds(server) - used
        assert answers == b"1" * len(commands)
        least[what] = min(least.get(what, used), used)
        print(f"BF.EXISTS, {what}: {took / len(commands) * 1e6:.2f} us, of the server's processor {used / len(commands) * 1e6:.2f}", flush=True)
    keys = [(b"EXISTS", what, asked) for what, asked in (("random", numbers), ("one", [numbers[0]] * ASKED))]
    for verb, what, asked in keys * PASSES:
        commands = [command(verb, name(i)) for i in asked]
        used = cpu_seconds(server)
        ask(server.port, commands, depth)
        used = cpu_seconds(server) - used
        least[verb, what] = min(least.get((verb, what), used), used)
    print(f"the least: random {least['random'] / ASKED * 1e6:.2f} us, one {least['one'] / ASKED * 1e6:.2f}, ratio {least['random'] / least['one']:.2f}; "
          f"EXISTS, the server's own: {least[b'EXISTS', 'random'] / ASKED * 1e6:.2f} and {least[b'EXISTS', 'one'] / ASKED * 1e6:.2f}, "
          f"ratio {least[b'EXISTS', 'random'] / least[b'EXISTS', 'one']:.2f}; load {os.getloadavg()[0]:.1f}", flush=True)


def drop(server, count, *words):
    with Pings(server) as pings:
        client = server.client()
        used = processor_s(server)
        began = time.monotonic()
        client.good(*words)
        in_answer = pings.longest_ms()
        answered = time.monotonic() - began
        left = 1
        while left:
            time.sleep(0.1)
            if not server.module:
                break
            left = len(os.listdir(os.path.join(server.directory, "tamis", "segments")))
            left = left > 0
        print(f"{' '.join(words)}: answered in {answered:.2f} s, all files gone after {time.monotonic() - began:.1f} s; "
              f"{(processor_s(server) - used) / count * 1e6:.0f} us of a processor each; "
              f"longest PING {in_answer:.1f} ms up to the answer, {pings.longest_ms():.1f} ms afterwards", flush=True)


def save_and_restart(server, count):
    used, began = processor_s(server), time.monotonic()
    saver = server.client()
    saver.socket.settimeout(None)
    saver.good("SAVE")
    size = os.path.getsize(os.path.join(server.directory, "dump.rdb"))
    print(f"SAVE: {time.monotonic() - began:.1f} s, {size} bytes; {(processor_s(server) - used) / count * 1e6:.1f} us of a processor each", flush=True)
    server.kill()
    began = time.monotonic()
    client = server.start()
    assert client.good("DBSIZE") == count
    print(f"restart after kill -9: {time.monotonic() - began:.1f} s; {processor_s(server) / count * 1e6:.1f} us of a processor each; "
          f"load {os.getloadavg()[0]:.1f}", flush=True)
    return size


def cards(server, count):
    """BF.CARD of random filters, of which none is open: the first question to each, and then the same ones again."""
    commands = [command(b"BF.CARD", name(random.randrange(count))) for _ in range(ASKED // 10)]
    for what in "the first", "later ones":
        used = cpu_seconds(server)
        assert ask(server.port, commands, 1000) == b"1" * len(commands)
        print(f"BF.CARD, {what}: of the server's processor {(cpu_seconds(server) - used) / len(commands) * 1e6:.2f} us", flush=True)


def strings(count, depth, dump_bytes, directory):
    """What a server without the module does in the same place."""
    print(f"a server without the module, {count} strings", flush=True)
    with Server(None, directory=directory, save="900 1000000000", rdbcompression="no") as server:
        value = b"v" * max(1, dump_bytes // count - 16)
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            for start in range(0, count, depth):
                some = [command(b"SET", name(i), value) for i in range(start, min(start + depth, count))]
                connection.sendall(b"".join(some))
                left = len(b"+OK\r\n") * len(some)
                while left:
                    left -= len(connection.recv(left))
        save_and_restart(server, count)
        drop(server, count, "FLUSHALL", "ASYNC")


def main():
    module = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    depth = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    directory = tempfile.mkdtemp(prefix="many-filters-", dir=".")
    try:
        with Server(module, *sys.argv[4:], directory=os.path.abspath(directory), save="900 1000000000") as server:
            empty = field(server.client(), "memory", "used_memory")
            fill(server, count, depth)
            cost(server, count, empty)
            look(server, "after all were made")
            exists(server, count, depth)
            look(server, "after BF.EXISTS")
            dump_bytes = save_and_restart(server, count)
            look(server, "after the restart")
            cards(server, count)
            drop(server, count, "FLUSHALL", "ASYNC")
            fill(server, count, depth)
            drop(server, count, "FLUSHALL")
        shutil.rmtree(directory)
        os.mkdir(directory)
        strings(count, depth, dump_bytes, os.path.abspath(directory))
    finally:
        shutil.rmtree(directory)


main()
