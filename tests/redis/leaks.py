# SPDX-License-Identifier: BSD-2-Clause
"""leaks.py MODULE TAMIS: no command leaves memory or descriptors of the server behind, on keys of each sort, done or refused.

Each line is sent with each sort of key, whole, cut short, and with a word too many, again and again; what the server uses must not grow
with it.

Seen to fail: without RedisModule_CloseKey() behind the sources of TAMIS.MERGE; with a change that is refused and not freed."""
import os

from harness import are_made, eventually, pipelined, run, server

ROUNDS, BYTES_A_ROUND = 60, 24  # a key that was not closed is twice as large
KEYS = ["small", "shared", "window", "counting", "cuckoo", "text", "none"]
MAKE = [["BF.RESERVE", "small", 0.01, 1000], ["TAMIS.RESERVE", "shared", 0.01, 1000], ["TAMIS.RESERVE", "source", 0.01, 1000],
        ["TAMIS.SHARE", "shared"], ["TAMIS.SHARE", "source"], ["TAMIS.RESERVE", "window", 0.01, 1000, "WINDOW", 3600],
        ["TAMIS.RESERVE", "counting", 0.01, 1000, "KIND", "counting"], ["CF.RESERVE", "cuckoo", 1000], ["SET", "text", "x"],
        *[["BF.MADD", key, "a", "b"] for key in ("small", "shared", "source", "window")], ["CF.ADD", "cuckoo", "a"]]
LINES = """BF.ADD K a|BF.MADD K a b|BF.EXISTS K a|BF.MEXISTS K a b|BF.INSERT K NOCREATE ITEMS a b|BF.INSERT K CAPACITY 100 ITEMS a
BF.RESERVE K 0.01 100|BF.INFO K|BF.INFO K Capacity|BF.CARD K|BF.SCANDUMP K 0|BF.SCANDUMP K 1|BF.LOADCHUNK K 1 garbage|BF.DEBUG K
CF.ADDNX K a|CF.EXISTS K a|CF.MEXISTS K a b|CF.COUNT K a|CF.DEL K zz|CF.INFO K|CF.INSERTNX K ITEMS a b|CF.RESERVE K 100|CF.SCANDUMP K 0
CF.LOADCHUNK K 1 garbage|CF.COMPACT K|TAMIS.ADD K a b|TAMIS.CHECK K a b|TAMIS.EXPLAIN K a|TAMIS.INFO K|TAMIS.INFO K FILL|TAMIS.INFO K SEGMENTS
TAMIS.SPEC K|TAMIS.PARENTS K a.b.c|TAMIS.EXCEPT K ADD x|TAMIS.EXCEPT K REMOVE x|TAMIS.EXCEPTIONS K|TAMIS.COUNT K a|TAMIS.REMOVE K zz
TAMIS.SYNC K|TAMIS.ROTATE K|TAMIS.ROLLBACK K|TAMIS.MERGE K source|TAMIS.MERGE source K|TAMIS.COMBINE K UNION source source
TAMIS.COMBINE none INTERSECT K source|TAMIS.EXPORT K tamis 0|TAMIS.EXPORT K redisbloom 0 WITHKEY|TAMIS.LOAD K garbage
TAMIS.LOAD K KEYS garbage|TAMIS.RESERVE K 0.01 100|TAMIS.RESERVE K 0.01 100 KIND bloom SEED 7|TAMIS.ATTACH K nobody|TAMIS.BIND K nobody
TAMIS.DETACH K|TAMIS.SHARE K|TAMIS.ORPHANS LIST|TAMIS.ORPHANS DROP nobody|GETBIT K 1|SETBIT K 1 1|BITCOUNT K|DUMP K|COPY K none|RENAME K K
RESTORE none 0 garbage|OBJECT ENCODING K|MEMORY USAGE K"""


def used(redis, client):
    are_made(client)
    memory = int(client.good("INFO", "memory").decode().split("used_memory:")[1].split("\r")[0])
    return memory, len(os.listdir(f"/proc/{redis.process.pid}/fd"))


def all_of(line):
    """With each sort of key, whole, without its last word, and with one more."""
    words = line.split()
    for key in KEYS if "K" in words else [""]:
        whole = [key if word == "K" else word for word in words]
        yield from (whole, whole[:-1], [*whole, "more"])
        if "none" in whole:
            yield "DEL", "none"


def repeat(redis, client, line):
    client.good("FLUSHALL")
    for words in MAKE:
        client.good(*words)
    commands = [*all_of(line)]
    pipelined(client, commands * 12)  # a window has all its slices
    memory, files = used(redis, client)
    for _ in range(4):  # what is kept for later does not grow each time
        before, files_before = memory, files
        pipelined(client, commands * ROUNDS)
        memory, files = used(redis, client)
        if memory < before + BYTES_A_ROUND * ROUNDS and files < files_before + ROUNDS // 2:
            return
    # Threads give back what a copy had.
    eventually(lambda: used(redis, client)[0] < before, f"{line}: {memory - before} bytes more of {ROUNDS} rounds are given back")


def nothing_is_left_behind():
    with server() as redis:
        client = redis.client()
        for line in "|".join(LINES.split("\n")).split("|"):
            repeat(redis, client, line)


run(nothing_is_left_behind)
