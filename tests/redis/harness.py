# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of this folder share: MODULE and TAMIS are the first two arguments of each."""
import concurrent.futures
import contextlib
import os
import subprocess
import sys
import threading
import time

from redis_client import Error
from redis_server import Server

MODULE = os.path.abspath(sys.argv[1])
TAMIS = os.path.abspath(sys.argv[2])
PATIENCE_S = int(os.environ.get("PATIENCE", "60"))  # ends a test that has failed: many, as the machine may be busy


def server(*arguments, **settings):
    return Server(MODULE, *arguments, **settings)


@contextlib.contextmanager
def served(*arguments, **settings):
    """A server, and a client of it."""
    with server(*arguments, **settings) as redis:
        yield redis, redis.client()


def same(is_, wanted, what=""):
    if is_ != wanted:
        raise AssertionError(f"{what}: {is_!r}, and {wanted!r} was wanted")


def refused(answer, beginning, what=""):
    if not isinstance(answer, Error) or not answer.startswith(beginning):
        raise AssertionError(f"{what}: {answer!r}, and an error {beginning!r} was wanted")


def store_of(instance):
    return os.path.join(instance.directory, "tamis")


def tamis(*words, text=None):
    """Runs the command; returns what it prints."""
    done = subprocess.run([TAMIS] + [str(word) for word in words], input=text, capture_output=True,
                          text=True, check=False)
    if done.returncode > 1:
        raise AssertionError(f"tamis {words}: {done.stdout}{done.stderr}")
    return done.stdout


def drive(*command, **settings):
    """Runs a program that is a test by itself."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **settings)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command[:2])}: {done.stdout}{done.stderr}")
    print(done.stdout, end="")


def filters(instance):
    """The names of the filters in the store, sorted."""
    return sorted(tamis("list", "-q", "--store", store_of(instance)).split("\n")[:-1])


def info(client, name):
    """A number of the module's section of INFO."""
    for line in client.good("INFO", "tamis").decode().split("\r\n"):
        if line.startswith(f"tamis_{name}:"):
            return int(line.split(":")[1])
    raise AssertionError(f"INFO has no {name}")


def orphans(client):
    """The names of the filters without a key, sorted."""
    return sorted(name.decode() for name, _ in client.good("TAMIS.ORPHANS", "LIST"))


def are_made(client):
    """The threads have no filter left to bring to the store, and none to name."""
    eventually(lambda: info(client, "filters_on_the_way") == 0 and info(client, "labels_to_write") == 0, "all are made")


def pipelined(client, commands):
    """The answers to commands that are sent together, some hundreds at a time."""
    answers = []
    for start in range(0, len(commands), 500):
        some = commands[start:start + 500]
        for command in some:
            client.send(*command)
        answers += [client.answer() for _ in some]
    return answers


def eventually(condition, what, seconds=PATIENCE_S):
    """Waits for it."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"never: {what}")
        time.sleep(0.02)


def follow(follower, master):
    """The client's server becomes a replica, and has got the master's dump."""
    follower.good("REPLICAOF", "127.0.0.1", master.port)
    is_linked(follower)


def is_linked(follower):
    eventually(lambda: b"master_link_status:up" in follower.good("INFO", "replication"), "the replica has its master")


def is_rewritten(client):
    eventually(lambda: b"aof_rewrite_in_progress:0" in client.good("INFO", "persistence"), "the AOF is rewritten")


def together(*calls):
    """Makes the calls at the same time, each in a thread of its own; returns what they return."""
    with concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
        return [job.result() for job in [pool.submit(call) for call in calls]]


@contextlib.contextmanager
def beside(*works):
    """Steps of each work, a generator, are done in a thread of its own for the time of the `with`."""
    stop = threading.Event()

    def steps(work):
        for _ in work:
            if stop.is_set():
                return

    with concurrent.futures.ThreadPoolExecutor(len(works)) as pool:
        jobs = [pool.submit(steps, work) for work in works]
        try:
            yield
        finally:
            stop.set()
        for job in jobs:
            job.result()


def has_filters(instance, wanted, what=""):
    """The store has these, at once or soon: threads drop and rename filters.  It may have them for a moment before a change that
    is still to come."""
    end = time.monotonic() + PATIENCE_S
    while (found := filters(instance)) != wanted and time.monotonic() < end:
        time.sleep(0.02)
    same(found, wanted, what)


def run(*tests):
    """Runs the tests, each named like its function; the third argument picks one."""
    wanted = sys.argv[3] if len(sys.argv) > 3 else None
    for test in tests:
        if wanted and test.__name__ != wanted:
            continue
        began = time.monotonic()
        test()
        print(f"{test.__name__}: {time.monotonic() - began:.1f} s", flush=True)
