# SPDX-License-Identifier: BSD-2-Clause
"""pull_kill.py TAMIS [KILLS]: kill -9 at many moments of a pull, under a reader that never stops.

Two lists take turns on a slow server.  After each kill the list in force is the old or the new one,
whole; the next pull goes on where the one before was; and in the end each byte of a list has come
about once, however often the pulls were killed.

Broken to see it fail: without the notes at the head of a spool (spool_begin()) pulls begin from byte 0
each time, and more bytes come than the lists have.
"""
import os
import signal
import subprocess
import sys
import tempfile
import time

from command import Tamis, finish, same, seeded
from hostile import Server

KEYS = 30000
BOTH = range(10000, KEYS)  # keys of both lists


def main():
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    random = seeded()
    with tempfile.TemporaryDirectory() as directory:
        builder = Tamis(sys.argv[1], os.path.join(directory, "builder"))
        store = os.path.join(directory, "reader")
        tamis = Tamis(sys.argv[1], store)
        lists, digests = [], []
        for first in (0, 10000):
            builder.run("build", "list", "--kind", "blocked", "-n", KEYS, "-p", "0.0001%",
                        lines=[f"key{i}" for i in range(first, first + KEYS)])
            path = os.path.join(directory, "stream")
            builder.run("export", "list", "--to", "tamis", path, "--force", "--digest")
            with open(path, "rb") as file:
                lists.append(file.read())
            digests.append(lists[-1][16:32].hex())
        server = Server()
        server.answer = server.whole(lists[0], '"0"')
        tamis.run("pull", "list", server.url(), "--insecure")
        reader = subprocess.Popen(
            [tamis.call[0], "--store", store, "check", "-c", "list"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)
        server.sent = 0
        now, done, published, continued, asked = 1, 0, 0, 0, 0
        started = time.monotonic()
        while done < kills and time.monotonic() - started < 400:
            server.answer = server.whole(lists[now], f'"{now}"', pace=lambda: time.sleep(0.002))
            pull = subprocess.Popen([*tamis.call, "pull", "list", server.url(), "--insecure", "-q"],
                                    stderr=subprocess.PIPE, text=True)
            before = len(server.requests)
            time.sleep(random.uniform(0, 0.12))
            pull.send_signal(signal.SIGKILL)
            err = pull.communicate()[1]
            killed = pull.returncode == -signal.SIGKILL
            done += killed
            if not killed:
                same("an end that was no kill", (0, ""), (pull.returncode, err))
            in_force = tamis.run("info", "list", "imported_digest")[0]
            same("old or new", True, in_force in digests)
            which = digests.index(in_force)
            only = "key0" if which == 0 else f"key{10000 + KEYS - 1}"
            other = f"key{10000 + KEYS - 1}" if which == 0 else "key0"
            ask = subprocess.run([*tamis.call, "check", "list", only, other, "key20000"], capture_output=True,
                                 text=True, check=False)
            same("whole", [only, "key20000"], ask.stdout.split())
            reader.stdin.write("".join(f"key{i}\n" for i in random.sample(BOTH, 100)))
            reader.stdin.flush()
            asked += 100
            continued += any("range" in request.headers for request in server.requests[before:])
            if which == now:
                published += 1
                now = 1 - now
        whole = sum(len(lists[(1 + i) % 2]) for i in range(published + 1))
        out = reader.communicate()[0]
        print(f"{done} kills, {published} lists published, {continued} pulls went on, {server.sent} bytes sent "
              f"for {whole} of lists")
        same("the reader has found each key of both lists", str(asked), out.strip())
        same("kills", True, done >= min(kills, 50))
        same("lists were published", True, published >= done // 40)
        # How many depends on how busy the machine is: most are killed before they have asked for anything.
        same("pulls went on", True, continued > done // 20)
        # What was under way when a kill came is lost, and comes again: what the socket holds.
        same("bytes come about once", True, server.sent < 2 * whole + done * 65536)
        tamis.run("verify")
    finish(200)


main()
