# SPDX-License-Identifier: BSD-2-Clause
"""transfers.py MODULE TAMIS: filters of RedisBloom move by `tamis import` and `tamis export`, both ways.

A server with the module has the filters that were recorded from RedisBloom, and gives and takes the recorded chunks.  A
proxy spoils an answer in the middle; then nothing of the filter may be left.
"""
import itertools
import os
import random
import re
import subprocess
import sys
import threading

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
from command import keys_of, table
from harness import TAMIS, run, same, served, store_of, tamis
from redis_client import Error
from scripted_nodes import encoded
from servers import Cut, Proxy

NAMES = ("scale", "expand4", "nonscaling", "default", "expand1")
MOST_RESIDENT_KB = 64 << 10


def load(client, name, chunks):
    for iterator, data in chunks:
        client.good("BF.LOADCHUNK", name, iterator, data)


def recorded(name):
    rows = [row for row in table("rb_dumps.tsv") if row["name"] == name]
    return [(int(row["iterator_returned"]), bytes.fromhex(row["data_hex"])) for row in rows if row["data_hex"]]


def own(redis):
    """Of a store that is not the server's."""
    return ["--store", store_of(redis) + "-own"]


def there_and_back(redis, client, name):
    store, url, chunks = own(redis), redis.url(), recorded(name)
    load(client, name, chunks)
    same(client.chunks("BF.SCANDUMP", name), chunks, f"{name}: what the server gives")
    tamis("import", name, "--from", url, name, *store)
    rows = [row for row in table("rb_ops.tsv") if row[name] != ""]
    there = [key for key, row in zip(keys_of(rows), rows) if row[name] != "E" and (row["op"] == "add" or row[name] == "1")]
    same(tamis("check", name, "--hex", *store, text="".join(f"{key}\n" for key in keys_of(rows))).splitlines(), there,
         f"{name}: answers")
    tamis("export", name, "--to", url, "copy", *store)
    same(client.chunks("BF.SCANDUMP", "copy"), chunks, f"{name}: what came back")
    new = tamis("add", name, "--new", "one key more", "and one", "and a third", *store).splitlines()
    tamis("export", name, "--to", url, "copy", "--force", *store)
    items = [client.good("BF.INFO", key, "ITEMS")[0] for key in (name, "copy")]
    same(items[1], items[0] + len(new), f"{name}: items")
    tamis("import", "again", "--from", url, "copy", *store)
    same(tamis("check", "again", *new, *store).splitlines(), new, f"{name}: new keys")
    tamis("drop", "again", *store)
    same(sorted(client.good("KEYS", "*")), sorted([b"copy", name.encode()]), "keys that are left")
    client.good("FLUSHALL")


def recorded_filters_move_both_ways():
    with served("exact", "yes") as (redis, client):
        for name in NAMES:
            there_and_back(redis, client, name)
        same(tamis("verify", *own(redis)), "", "problems of the store")


# What the third answer to BF.SCANDUMP is instead of the second chunk (None: the connection ends), and what must be told.
MISHAPS = (
    (lambda iterator: None, "the connection failed"),
    (lambda iterator: Error("ERR not found"), "the server says: ERR not found"),
    (lambda iterator: "OK", "not what Redis answers"),
    (lambda iterator: [iterator], "not what Redis answers"),
    (lambda iterator: [iterator, 7], "not what Redis answers"),
    (lambda iterator: [0, b""], "ends before its data do"),
    (lambda iterator: [0, None], "ends before its data do"),
    (lambda iterator: [iterator + 8, b"12345678" * 1000], "where its layer has"),
    (lambda iterator: [iterator, b"12345678"], "out of order"),
    (lambda iterator: [-1, b"12345678"], "Second argument must be numeric"),
)


def fails(why, *words):
    done = subprocess.run([TAMIS, *words], capture_output=True, text=True, check=False)
    same((done.returncode, why in done.stderr), (2, True), f"{why}: {done.stderr}")


def spoilt_imports_leave_nothing():
    with served("exact", "yes") as (redis, client), Proxy(redis) as proxy:
        load(client, "scale", recorded("scale"))
        for mishap, why in MISHAPS:
            def hook(link, _, words, scans=itertools.count(1), mishap=mishap):
                if words[0].upper() != b"BF.SCANDUMP" or next(scans) != 3:
                    link.pass_on(words)
                    return
                answer = mishap(int(words[2]))
                if answer is None:
                    raise Cut
                link.wfile.write(encoded(answer))

            proxy.hook = hook
            fails(why, "import", "x", "--from", proxy.url(), "scale", *own(redis))
            for directory in ("segments", "staging"):
                same(os.listdir(os.path.join(own(redis)[1], directory)), [], f"{why}: {directory}")


def a_key_that_is_there_is_not_replaced():
    """Not even one that comes up during the export."""
    with served("exact", "yes") as (redis, client), Proxy(redis) as proxy:
        for name in ("scale", "expand4"):
            load(client, name, recorded(name))
        tamis("import", "scale", "--from", redis.url(), "scale", *own(redis))
        proxy.hook = lambda link, _, words: link.wfile.write(b":0\r\n") if words[0] == b"EXISTS" else link.pass_on(words)
        for url in (redis.url(), proxy.url()):
            fails("is there already; --force", "export", "scale", "--to", url, "expand4", *own(redis))
            same(client.chunks("BF.SCANDUMP", "expand4"), recorded("expand4"), "its bits")
            same(sorted(client.good("KEYS", "*")), [b"expand4", b"scale"], "keys that are left")


def measured(proxy, *words):
    """Runs it through the proxy; the longest word of what it sends."""
    started, resident, longest = threading.Event(), [0], [0]

    def hook(link, _, said):
        started.wait()
        with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
            resident.append(int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]))
        longest.append(max(map(len, said)))
        link.pass_on(said)

    proxy.hook = hook
    process = subprocess.Popen([TAMIS, *words], stdin=subprocess.DEVNULL)
    started.set()
    same(process.wait(), 0, words[0])
    same(0 < max(resident) < MOST_RESIDENT_KB, True, f"{words[0]}: {max(resident)} KiB resident")
    return max(longest)


def a_large_filter_moves_in_little_memory():
    with served("exact", "yes") as (redis, client), Proxy(redis) as proxy:
        client.good("BF.RESERVE", "shape", "0.0001", 30000000, "NONSCALING")
        chunks = client.chunks("BF.SCANDUMP", "shape")
        big = chunks[:1] + [(iterator, random.Random(iterator).randbytes(len(data))) for iterator, data in chunks[1:]]
        same(sum(len(data) for _, data in big) > 1024 * MOST_RESIDENT_KB, True, "it is larger")
        load(client, "big", big)
        measured(proxy, "import", "big", "--from", proxy.url(), "big", *own(redis))
        same(measured(proxy, "export", "big", "--to", proxy.url(), "copy", *own(redis)), 1 << 20, "the longest chunk")
        same(client.chunks("BF.SCANDUMP", "copy") == big, True, "what came back")


run(recorded_filters_move_both_ways, spoilt_imports_leave_nothing, a_key_that_is_there_is_not_replaced,
    a_large_filter_moves_in_little_memory)
