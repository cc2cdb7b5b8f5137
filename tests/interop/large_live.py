# SPDX-License-Identifier: BSD-2-Clause
"""large_live.py TAMIS: a string of 2^32 random bits goes from a real Redis into Tamis and back.

It must come back byte for byte; the command must hold less than 64 MiB of it at any time (the most
that was resident, pages of mapped files included); and its progress must rise to 100 %.  With a
server so slow that each piece has a line of its own, each line must say what has gone over the wire
by then, how fast, and when it will be done.
"""
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

from command import Tamis, finish, same, seeded, skip
from servers import Client, Proxy, RedisServer

BYTES = 2**29
PIECE = 2**22
MOST_RESIDENT = 64 * 2**20


def fill(client, random):
    sum_of = hashlib.sha256()
    for start in range(0, BYTES, PIECE):
        piece = random.randbytes(PIECE - 1) + b"\1"
        sum_of.update(piece)
        client("SETRANGE", "bucket", start, piece)
    return sum_of.hexdigest()


def digest(client, key):
    sum_of = hashlib.sha256()
    for start in range(0, BYTES, PIECE):
        sum_of.update(client("GETRANGE", key, start, start + PIECE - 1))
    return sum_of.hexdigest()


def watch(pid, most):
    """The most that was resident so far, until the process is gone."""
    try:
        while True:
            with open(f"/proc/{pid}/status", encoding="ascii") as file:
                most[0] = int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) * 1024
            time.sleep(0.005)
    except (OSError, TypeError):  # gone, or a zombie, which has no memory
        pass


def watched(tamis, *arguments):
    """Run it with progress; what it says of that, as (MiB, percent), and its greatest size."""
    process = subprocess.Popen(tamis.call + [*arguments, "--progress"], stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, text=True)
    most = [0]
    watcher = threading.Thread(target=watch, args=(process.pid, most))
    watcher.start()
    told = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    watcher.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{arguments}: exit {process.returncode}: {told}")
    lines = re.findall(r"^(\d+\.\d) MiB, \S+ \S+/s, (\d+) %, .* left$", told, re.MULTILINE)
    # ru_maxrss begins with what this Python had when it forked, so it is a bound from above; what
    # was seen from outside is the true figure, less what the last 5 ms may have added.
    return [(float(mib), int(percent)) for mib, percent in lines], usage.ru_maxrss * 1024, most[0]


def check(what, progress, resident, seen):
    same(f"{what}: last of the progress", (512.0, 100), progress[-1] if progress else None)
    same(f"{what}: progress rises", sorted(progress), progress)
    for mib, percent in progress:
        same(f"{what}: {mib} MiB", True, abs(mib / 512 * 100 - percent) <= 0.6)
    same(f"{what}: {resident / 2**20:.1f} MiB resident", True, resident < MOST_RESIDENT)
    print(f"{what}: {seen / 2**20:.1f} MiB resident, {len(progress)} lines of progress")


def check_formats(tamis):
    """A filter that was made here lies in the page cache in folios of up to 2 MiB, other than one
    that was imported; and the pieces of these formats end anywhere in them."""
    tamis.run("create", "folios", "-n", "400M", "--hash-set", "redisbloom")
    for form in ("redisbloom", "tamis", "redis-bitmap"):
        _, resident, seen = watched(tamis, "export", "folios", "--to", form, os.devnull)
        same(f"{form}: {resident / 2**20:.1f} MiB resident", True, resident < MOST_RESIDENT)
        print(f"export as {form}: {seen / 2**20:.1f} MiB resident")
    tamis.run("drop", "folios")


def told_slowly(tamis, proxy, word, *arguments):
    """Run it, each piece a quarter of a second long: what it says, and the bytes that have gone."""
    passed = [0]

    def hook(link, _number, words):
        if words[0] != word:
            link.pass_on(words)
            return
        time.sleep(0.25)
        answer = link.upstream.raw(words)
        passed[0] += len(answer if word == b"GETRANGE" else words[3]) // 2**20 * 2**20
        link.wfile.write(answer)

    proxy.hook = hook
    done = subprocess.run(tamis.call + [*arguments, "--progress"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    same(f"{arguments}: {done.stderr}", 0, done.returncode)
    lines = re.findall(r"^(\d+\.\d) MiB, (\d+\.\d) MiB/s, (\d+) %, (\d+) s left$", done.stderr, re.MULTILINE)
    return [tuple(map(float, line)) for line in lines], passed[0]


def check_slow(tamis, server, client):
    pieces = 12
    client("SET", "slow", b"\1" * (pieces * 2**20))
    calls = ((b"GETRANGE", "import", "slow", "--from", "slow", "--hash-set", "php:js", "-m", str(pieces * 2**23)),
             (b"SETRANGE", "export", "slow", "--to", "slow copy"))
    for word, command, name, way, key, *more in calls:
        with Proxy(server) as proxy:
            lines, passed = told_slowly(tamis, proxy, word, command, name, way, proxy.url(), key, *more)
        same(f"{command}: went over", pieces * 2**20, passed)
        # A line a piece, and one or two more that it is done.
        shown = sorted({(mib, percent) for mib, _, percent, _ in lines})
        same(f"{command}: progress", [(n, round(n / pieces * 100)) for n in range(1, pieces + 1)], shown)
        for mib, speed, _, left in lines:
            same(f"{command}: {speed} MiB/s", True, 0 < speed <= 4.1)
            if speed >= 1:  # else the machine is too busy for its one digit to say when
                same(f"{command}: {mib} MiB at {speed} MiB/s, {left} s left", True,
                     abs((pieces - mib) / speed - left) <= 1.5)


def main():
    random = seeded()
    with RedisServer() as server, tempfile.TemporaryDirectory() as directory:
        room = os.statvfs(directory)
        if room.f_bavail * room.f_frsize < 2 * BYTES:
            skip("there is no room for a file of 512 MiB")
        tamis = Tamis(sys.argv[1], os.path.join(directory, "store"))
        client = Client(server.port)
        check_slow(tamis, server, client)
        client("DEL", "slow", "slow copy")
        expected = fill(client, random)
        check("import", *watched(tamis, "import", "bucket", "--from", server.url(), "bucket",
                                 "--hash-set", "php:bkdr,sdbm,js"))
        check("export", *watched(tamis, "export", "bucket", "--to", server.url(), "copy"))
        same("length", BYTES, client("STRLEN", "copy"))
        same("bytes", expected, digest(client, "copy"))
        same("keys", [b"bucket", b"copy"], sorted(client("KEYS", "*")))
        client.close()
        tamis.run("drop", "bucket")
        check_formats(tamis)
    finish(60)


main()
