# SPDX-License-Identifier: BSD-2-Clause
"""Redis for the live tests: the real server on a port of its own, a client of a few lines, and a
proxy that can do anything to what goes between the command and the server."""
import os
import shutil
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

from command import skip


def resp(*words):
    """A command as it goes over the wire."""
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)


def command_from(file):
    """The next command of a client, as words; None at its end."""
    count = file.readline()
    if not count.startswith(b"*"):
        return None
    return [file.read(int(file.readline()[1:]) + 2)[:-2] for _ in range(int(count[1:]))]


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

    def raw(self, words):
        """The bytes of the answer."""
        self.socket.sendall(resp(*words))
        return self.raw_answer()

    def raw_answer(self):
        line = self.file.readline()
        if not line:
            raise OSError("the server is gone")
        length = int(line[1:]) if line[:1] in b"$*" else 0
        if line[:1] == b"$" and length >= 0:
            return line + self.file.read(length + 2)
        if line[:1] == b"*":
            return line + b"".join(self.raw_answer() for _ in range(length))
        return line

    def close(self):
        self.file.close()
        self.socket.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class RedisServer:
    """redis-server of this machine, for the time of a `with`; without files, unless it is durable."""

    def __init__(self, durable=False):
        self.durable = durable

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
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "-::1", "--save", "",
             "--appendonly", "yes" if self.durable else "no", "--appendfsync", "no",
             "--dir", self.directory.name],
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
            while mine and b"loading:1" in client("INFO", "persistence"):
                time.sleep(0.02)
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


class Cut(Exception):
    """Raised by a hook: the connection ends here."""


class Link(socketserver.StreamRequestHandler):
    """A connection of the command through the proxy."""

    def handle(self):
        self.upstream = None
        number = 0
        try:
            self.upstream = Client(self.server.port)
            while words := command_from(self.rfile):
                number += 1
                self.server.proxy.hook(self, number, words)
        except (Cut, OSError):  # or one of the two has gone
            pass
        finally:
            if self.upstream:
                self.upstream.close()

    def pass_on(self, words):
        self.wfile.write(self.upstream.raw(words))


class Proxy:
    """Passes commands on to a server; `hook(link, number, words)` is what is done with each."""

    def __init__(self, port):
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Link)
        self.server.daemon_threads = True
        self.server.proxy = self
        self.server.port = port
        self.hook = lambda link, number, words: link.pass_on(words)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def url(self):
        return f"redis://127.0.0.1:{self.server.server_address[1]}/0"
