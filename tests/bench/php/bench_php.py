#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""bench_php.py BUILD [--keys N] [--few N] [--rounds N]: PHP's calls beside the library's own, and beside classes on Redis.

BUILD is the build folder, such as .build/test, with the PHP extension, the Redis module and bench_php_library.  It needs
php-redis and redis-server.  Keys are URLs, filters have a rate of 1 % and lie in memory, servers run on this machine and save
nothing.  Calls on a store are measured by the processor's time, so that other programs do not count, and calls to servers by
the clock.  Each figure is the least of the rounds.  docs/php.md has the table that this prints.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "redis")]
from performance import table  # noqa: E402
from redis_server import Server  # noqa: E402

ROWS = (("a class over SETBIT and GETBIT, a MULTI for each key", "wild add", "wild has"),
        ("the same, one pipeline for 1,000 keys", "pipelined add", "pipelined has"),
        ("`Bucket` on a server with the module, 1,000 keys", "server class add", "server class has"),
        ("BF.MADD and BF.MEXISTS by phpredis, 1,000 items", "BF.MADD", "BF.MEXISTS"),
        ("`Bucket` on a store, 1,000 keys", "store class add", "store class has"),
        ("`addMany()` and `hasMany()`, 1,000 keys", "addMany", "hasMany"),
        ("`add()` and `has()`, one key", "add", "has"),
        ("the library's call in C for 1,000 keys", None, "library many"),
        ("the library's call in C for one key", None, "library one"),
        ("the loop of PHP alone", None, "nothing"),
        ("`new Store()` and `filter()`, kept from before", None, "open"))


def output(*command, text=None):
    return subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True, check=True).stdout


def one_round(build, plain, server, options):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        store = os.path.join(place, "store")
        figures = json.loads(output("php", "-d", f"extension={build}/php/tamis.so", "-d", "memory_limit=4G",
                                    os.path.join(HERE, "measure.php"), store, plain.port, server.port, options.keys, options.few))
        keys = "".join(f"https://example.com/{i}\n" for i in range(1, options.keys + 1))
        many, one = output(f"{build}/tests/bench/bench_php_library", store, "measured", text=keys).split()
    return figures | {"library many": float(many), "library one": float(one)}


def tables(figures):
    def cell(name):
        return f"{figures[name]:,.0f}" if name else ""

    yield from table(("ns a key", "add", "ask"), [(what, cell(add), cell(ask)) for what, add, ask in ROWS])
    times, above = figures["wild add"] / figures["addMany"], figures["has"] - figures["library one"]
    yield from table(("", "measured", "wanted"), [
        ("`addMany()` beside the class with a MULTI for each key", f"{times:,.0f} times as fast", "at least 20 times"),
        ("`has()`, loop included, above the library's call", f"{above:.0f} ns", "at most 100 ns")])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--few", type=int, default=50_000, help="for the servers")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    rounds = []
    for _ in range(options.rounds):
        with Server(None) as plain, Server(f"{build}/redis/tamis.so") as server:
            rounds.append(one_round(build, plain, server, options))
    figures = {name: min(figures[name] for figures in rounds) for name in rounds[0]}
    version = output("php", "-r", "echo PHP_VERSION, ', phpredis ', phpversion('redis');")
    print(f"PHP {version}, {options.keys} keys, {options.few} for servers, the least of {len(rounds)}\n")
    print("\n".join(tables(figures)))


if __name__ == "__main__":
    main()
