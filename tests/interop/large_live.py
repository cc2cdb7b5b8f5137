# SPDX-License-Identifier: BSD-2-Clause
"""large_live.py TAMIS: a string of 2^32 random bits goes from a real Redis into Tamis and back.

It must come back byte for byte; the command must hold less than 64 MiB of it at any time (the most
that was resident, pages of mapped files included); and its progress must rise to 100 %.
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
from servers import Client, RedisServer

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


def main():
    random = seeded()
    with RedisServer() as server, tempfile.TemporaryDirectory() as directory:
        room = os.statvfs(directory)
        if room.f_bavail * room.f_frsize < 2 * BYTES:
            skip("there is no room for a file of 512 MiB")
        tamis = Tamis(sys.argv[1], os.path.join(directory, "store"))
        client = Client(server.port)
        expected = fill(client, random)
        check("import", *watched(tamis, "import", "bucket", "--from", server.url(), "bucket",
                                 "--hash-set", "php:bkdr,sdbm,js"))
        check("export", *watched(tamis, "export", "bucket", "--to", server.url(), "copy"))
        same("length", BYTES, client("STRLEN", "copy"))
        same("bytes", expected, digest(client, "copy"))
        same("keys", [b"bucket", b"copy"], sorted(client("KEYS", "*")))
    finish(10)


main()
