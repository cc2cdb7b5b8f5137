# SPDX-License-Identifier: BSD-2-Clause
"""Redis for the live tests: the real server on a port of its own, and a client of a few lines."""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from command import skip


def resp(*words):
    """A command as it goes over the wire."""
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.file = self.socket.makefile("rb")

    def answer(self):
        line = self.file.readline()[:-2]
        kind, rest = line[:1], line[1:]
        if kind == b"$":
            if rest == b"-1":
                return None
            return self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.answer() for _ in range(int(rest))]
        if kind == b"-":
            sys.exit(f"the server says: {rest.decode()}")
        return int(rest) if kind == b":" else rest

    def __call__(self, *words):
        self.socket.sendall(resp(*words))
        return self.answer()

    def close(self):
        self.file.close()
        self.socket.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class RedisServer:
    """redis-server of this machine, without files, for the time of a `with`."""

    def __enter__(self):
        if not shutil.which("redis-server"):
            skip("redis-server is not installed")
        self.directory = tempfile.TemporaryDirectory()
        for _ in range(5):  # another process may take the port first
            self.port = free_port()
            if self.start():
                return self
        sys.exit("redis-server does not start")

    def start(self):
        log = open(os.path.join(self.directory.name, "log"), "wb")
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
             "--appendonly", "no", "--dir", self.directory.name],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        log.close()
        end = time.monotonic() + 20
        while time.monotonic() < end and self.process.poll() is None:
            try:
                client = Client(self.port)
            except OSError:
                time.sleep(0.02)
                continue
            mine = client("CONFIG", "GET", "dir")[1] == self.directory.name.encode()
            client.close()
            return mine
        self.stop()
        return False

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def __exit__(self, *_):
        self.stop()
        self.directory.cleanup()

    def url(self):
        return f"redis://127.0.0.1:{self.port}/0"
