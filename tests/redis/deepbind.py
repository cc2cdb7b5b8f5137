# SPDX-License-Identifier: BSD-2-Clause
"""deepbind.py MODULE TAMIS DEEPBIND: a server that loads modules with RTLD_DEEPBIND, and has another malloc than the C library.

Debian's redis-server has jemalloc's; deepbind.c adds the flag, as Valkey 8.1 and later have it.  Seen to fail without
tools/redis/server/memory.c: the server ended with "free(): invalid pointer" while it loaded the module.
"""
import os
import sys

from harness import has_filters, refused, run, same, server, store_of, tamis
from redis_server import SKIPPED

DEEPBIND = os.path.abspath(sys.argv[3])
del sys.argv[3]


def a_server_with_deepbind_loads_and_works():
    with server(environment={"LD_PRELOAD": DEEPBIND}) as redis:
        client = redis.client()
        with open(f"/proc/{redis.process.pid}/maps", encoding="utf-8") as maps:
            if "jemalloc" not in maps.read():
                print("this redis-server has the malloc of the C library, so there is nothing to see")
                sys.exit(SKIPPED)
        same(client.good("BF.ADD", "seen", "a"), 1)
        same(client.good("BF.MADD", "seen", *range(1000))[:2], [1, 1])
        client.good("BF.RESERVE", "large", "0.001", 100000)
        client.good("CF.RESERVE", "counted", 1000)
        same(client.good("CF.ADD", "counted", "x"), 1)
        client.good("TAMIS.RESERVE", "durable", "0.01", 1000, "DURABLE")
        same(client.good("BF.ADD", "durable", "x"), 1)
        for _ in range(3):
            client.good("BF.ADD", "gone", "a")
            client.good("RENAME", "gone", "other")
            client.good("COPY", "other", "copied")
            client.good("DEL", "other", "copied")
        client.good("TAMIS.INFO", "seen", "SEGMENTS")
        client.good("SAVE")
        client.good("DEBUG", "RELOAD")
        same(client.good("BF.EXISTS", "seen", "a"), 1)
        tamis("create", "mine", "-n", 100, "--store", store_of(redis))
        client.good("TAMIS.ATTACH", "mine", "mine")
        client.good("BF.ADD", "mine", "k")
        same(tamis("check", "mine", "k", "--store", store_of(redis)), "k\n")
        refused(client("BF.RESERVE", "seen", "2", 1), "ERR")
        client.good("FLUSHALL")
        has_filters(redis, ["mine"], "after FLUSHALL, whose filters a thread drops")
        redis.stop()
        same(redis.process.returncode, 0, "the server's end")


run(a_server_with_deepbind_loads_and_works)
