# SPDX-License-Identifier: BSD-2-Clause
"""Redis for the live tests: the real server and a client of it, those of tests/redis, and a proxy that can do anything to
what goes between the command and the server."""
import socketserver
import sys
import threading

import command  # noqa: F401; for the path to tests/redis
import redis_client
import redis_server
from scripted_nodes import commands


class Client(redis_client.Client):
    """A client whose requests may not be refused."""

    def __call__(self, *words):
        answer = super().__call__(*words)
        if isinstance(answer, redis_client.Error):
            sys.exit(f"the server says: {answer}")
        return answer

    def raw(self, words):
        """The bytes of the answer."""
        self.send(*words)
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


class RedisServer(redis_server.Server):
    """Without the module, and without files, unless it is durable."""

    def __init__(self, durable=False):
        super().__init__(None, bind="127.0.0.1 -::1", appendonly="yes" if durable else "no", appendfsync="no")

class Cut(Exception):
    """Raised by a hook: the connection ends here."""


class Link(socketserver.StreamRequestHandler):
    """A connection of the command through the proxy."""

    def handle(self):
        self.upstream = None
        try:
            self.upstream = Client(self.server.proxy.target.port)
            for number, words in enumerate(commands(self.rfile), 1):
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

    def __init__(self, target):
        self.target = target
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Link)
        self.server.daemon_threads = True
        self.server.proxy = self
        self.hook = lambda link, number, words: link.pass_on(words)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def url(self):
        return f"redis://127.0.0.1:{self.server.server_address[1]}/0"
