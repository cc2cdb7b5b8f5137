# SPDX-License-Identifier: BSD-2-Clause
"""saving.py MODULE TAMIS: what a dump and a restart cost the server, for a filter of 128 MiB.

tests/mutants has what it was seen to fail for, as its mutants redis_saving_*.
"""
import itertools
import os
import time

from harness import beside, eventually, run, same, server
from memory import private_bytes

MIB = 1 << 20
CAPACITY = 100_000_000  # 10.3 bits a key at 1 %, as it does not grow


def reserve(redis):
    client = redis.client()
    client.good("BF.RESERVE", "k", "0.01", CAPACITY, "NONSCALING")
    client.good("BF.MADD", "k", *range(1000))
    return client


def a_child_copies_no_page():
    """Adds dirty pages all over the filter while a child saves it; neither process gets memory of its own by that."""
    for mode in ("content", "reference"):
        with server("rdb", mode, save="900 1000000", rdbcompression="no") as redis:
            client, took = reserve(redis), []

            def add():
                own = redis.client()
                for i in itertools.count():
                    began = time.monotonic()
                    own.good("BF.MADD", "k", *(f"key {i} {j}" for j in range(500)))
                    yield took.append(time.monotonic() - began)

            with beside(add()):
                before = peak = private_bytes(redis.process.pid)
                for _ in range(3):
                    client.good("BGSAVE")
                    while b"rdb_bgsave_in_progress:1" in client.good("INFO", "persistence"):
                        peak = max(peak, private_bytes(redis.process.pid))
            same(peak - before < 24 * MIB, True, f"{mode}: private memory grew by {(peak - before) / MIB:.0f} MiB")
            same(max(took) < 2, True, f"{mode}: the worst answer took {max(took):.2f} s")
            size = os.path.getsize(os.path.join(redis.directory, "dump.rdb"))
            same(size > 100 * MIB, mode == "content", f"{mode}: the dump has {size} bytes")


def bytes_read(pid):
    with open(f"/proc/{pid}/io", encoding="ascii") as file:
        return int(file.readline().split()[1])


def a_restart_reads_what_the_dump_has():
    """With references, a restart reads nothing of the filter; with content, the dump."""
    for mode in ("content", "reference"):
        with server("rdb", mode, save="900 1", rdbcompression="no") as redis:
            reserve(redis)
            client = redis.restart()
            same(client.good("BF.MEXISTS", "k", "7", "stranger"), [1, 0], mode)
            read = bytes_read(redis.process.pid)
            same(read > 100 * MIB, mode == "content", f"{mode}: {read} bytes were read")
            eventually(lambda: b"loading:0" in client.good("INFO", "persistence"), "all is loaded")


run(a_child_copies_no_page, a_restart_reads_what_the_dump_has)
