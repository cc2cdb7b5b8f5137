# SPDX-License-Identifier: BSD-2-Clause
"""trouble.py MODULE TAMIS: what goes wrong around the server: a stopped process, a full disk, a store of another user.
Commands say what it is, the server goes on, and all is well when the trouble is over.

tests/mutants has what it was seen to fail for, as its mutants redis_busy_*.
"""
import fcntl
import os
import shutil
import subprocess
import tempfile
import time

from harness import MODULE, are_made, eventually, has_filters, info, refused, run, same, served, store_of, tamis
from redis_server import Server, skip


def timed(call, *words):
    began = time.monotonic()
    return call(*words), time.monotonic() - began


def a_stopped_process_holds_nobody_up():
    """The test holds the lock of the catalog, as a process does that was stopped in a change of it."""
    with served() as (redis, client):
        client.good("BF.ADD", "k", "x")
        client.good("BF.ADD", "l", "x")
        are_made(client)
        with open(os.path.join(store_of(redis), "catalog.lock"), "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            answer, took = timed(client, "BF.RESERVE", "m", "0.01", 1_000_000)
            refused(answer, "ERR could not create filter: ", "BF.RESERVE")
            same(took < 4, True, f"it gave up after {took:.1f} s")
            time.sleep(0.3)  # the server looks now and then
            for words in (("BF.ADD", "k", "y"), ("BF.MEXISTS", "k", "x", "z"), ("BF.RESERVE", "m", "0.01", 1_000_000),
                          ("INFO", "tamis"), ("DEL", "l"), ("RENAME", "k", "n"), ("PING",)):
                _, took = timed(client, *words)
                same(took < 1, True, f"{words} took {took:.1f} s while it is known")
            same("may be stopped" in redis.log(), True, "the log tells it")
        has_filters(redis, ["n"], "what was deleted and renamed meanwhile is put right")
        same(client.good("BF.MEXISTS", "n", "x", "y", "z"), [1, 1, 0], "nothing is lost")
        client.good("BF.RESERVE", "m", "0.01", 100)
        same(client.good("BF.ADD", "l", "again"), 1, "the name is free")


def a_full_disk_is_told():
    if os.geteuid() != 0:
        skip("needs root")
    directory = tempfile.mkdtemp(prefix="tamis-redis-")
    try:
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", directory], check=False).returncode != 0:
            skip("nothing can be mounted here")
        with Server(MODULE, directory=directory) as redis:
            client = redis.client()
            client.good("BF.MADD", "k", *range(100))
            are_made(client)
            with open(os.path.join(directory, "filler"), "wb") as filler:
                try:
                    while True:
                        filler.write(bytes(1 << 16))
                        filler.flush()
                except OSError:
                    pass
            for words in (("BF.RESERVE", "large", "0.01", 1000000), ("TAMIS.RESERVE", "t", "0.01", 1000000)):
                answer = client(*words)
                refused(answer, "ERR ", words)
                same("space" in answer or "room" in answer, True, answer)
            same(client.good("BF.MEXISTS", "k", "7", "x"), [1, 0], "what is there answers")
            same(isinstance(client.good("BF.ADD", "k", "7"), int), True, "and takes what it has room for")
            os.unlink(os.path.join(directory, "filler"))
            client.good("BF.RESERVE", "large", "0.01", 1000000)
            client.good("BF.MADD", "large", *range(100))
            has_filters(redis, ["k", "large"], "nothing half is left")
    finally:
        subprocess.run(["umount", "-l", directory], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(directory, ignore_errors=True)


def a_store_of_another_user_is_told():
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        skip("needs root and setpriv")
    with tempfile.TemporaryDirectory(prefix="tamis-redis-") as directory:
        os.chmod(directory, 0o777)
        store = os.path.join(directory, "store")
        tamis("create", "--store", store, "seen", "-n", "1000")
        os.chmod(store, 0o700)
        data = os.path.join(directory, "data")
        os.mkdir(data)
        shutil.copy(MODULE, data)
        subprocess.run(["chown", "-R", "65534:65534", data], check=True)
        with Server(os.path.join(data, os.path.basename(MODULE)), "store", store, directory=data,
                    prefix=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]) as redis:
            client = redis.client()
            answer = client("TAMIS.RESERVE", "k", "0.01", 100)
            refused(answer, "ERR could not create filter: ", "TAMIS.RESERVE")
            same(store in answer, True, f"it names the store: {answer}")
            refused(client("TAMIS.ATTACH", "seen"), "ERR the filter cannot be attached: ")
            same((client.good("BF.EXISTS", "k", "x"), client.good("PING")), (0, "PONG"), "the server goes on")
            subprocess.run(["chown", "-R", "65534:65534", store], check=True)
            client.good("TAMIS.ATTACH", "seen")
            same(client.good("BF.ADD", "k", "x"), 1, "once the store may be used")


def a_filter_that_cannot_be_opened_harms_no_other():
    """Seen to fail where INFO did not count it."""
    with served(save="900 1000000") as (redis, client):
        client.good("BF.RESERVE", "large", "0.001", 1000000)
        client.good("BF.ADD", "large", "x")
        client.good("BF.ADD", "small", "x")
        client.good("SAVE")
        redis.kill()
        segments = os.path.join(store_of(redis), "segments")
        files = [os.path.join(segments, name) for name in os.listdir(segments)]
        os.remove(max(files, key=os.path.getsize))
        client = redis.start()
        for _ in range(2):
            same(info(client, "filters"), 2, "it is seen at the first use")
            refused(client("BF.EXISTS", "large", "x"), "ERR the filter cannot be opened: ")
            same(info(client, "broken_filters"), 1, "and counted")
            same(client.good("BF.EXISTS", "small", "x"), 1, "the other one")
            client.good("SAVE")
            client = redis.restart(kill=True)
        same("the dump lacks the filter of the id" in redis.log(), True, redis.log()[-2000:])
        refused(client("BF.ADD", "large", "x"), "ERR the filter cannot be opened: ")
        client.good("DEL", "large")
        # A thread takes in what goes, beside the answer.
        eventually(lambda: info(client, "broken_filters") == 0, "it is gone")
        same(client.good("BF.ADD", "large", "y"), 1, "and can be made anew")


def is_saved(client, command, status):
    """Runs BGSAVE or BGREWRITEAOF to its end."""
    field = {"BGSAVE": "rdb_last_bgsave_status", "BGREWRITEAOF": "aof_last_bgrewrite_status"}[command]
    client.good(command)
    eventually(lambda: all(name in client.good("INFO", "persistence") for name in (
        b"rdb_bgsave_in_progress:0", b"aof_rewrite_in_progress:0", b"aof_rewrite_scheduled:0")), "the child is done")
    same(f"{field}:{status}".encode() in client.good("INFO", "persistence"), True, f"{command}: {client.good('INFO', 'persistence')}")


def a_save_that_would_lack_a_filter_fails():
    """What was saved before stays, and can be loaded.  Seen to fail with a save_lacks() that only writes to the log: the
    save is said to be good."""
    for command, settings in (("BGSAVE", {"save": "900 1000000"}), ("BGREWRITEAOF", {"appendonly": "yes"}),
                              ("BGREWRITEAOF", {"appendonly": "yes", "aof_use_rdb_preamble": "no"})):
        with served(**settings) as (redis, client):
            client.good("BF.RESERVE", "large", "0.001", 1000000)
            client.good("BF.ADD", "large", "x")
            client.good("CF.ADD", "c", "x")
            is_saved(client, command, "ok")
            tamis("drop", "--store", store_of(redis), "large")
            is_saved(client, command, "err")
            same("lacks the filter of the id" in redis.log() and "is given up" in redis.log(), True, redis.log()[-2000:])
            client = redis.restart(kill=True)
            same((client.good("BF.EXISTS", "large", "x"), client.good("CF.COUNT", "c", "x")), (1, 1), "of what was saved before")
            is_saved(client, command, "ok")


run(a_stopped_process_holds_nobody_up, a_full_disk_is_told, a_store_of_another_user_is_told,
    a_filter_that_cannot_be_opened_harms_no_other, a_save_that_would_lack_a_filter_fails)
