# SPDX-License-Identifier: BSD-2-Clause
"""redis-server with the module, in a directory and on a port of its own, for the time of a `with`."""
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from redis_client import Client

SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def free_port():
    """A port that nobody has. A server of a cluster takes the one that is 10,000 higher too, so it is below 55536."""
    port = 65535
    while port > 55535:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
    return port

# All filters of BF.* in the store, for tests that look there; else small ones are in the server's memory.
HOME = ["share-from", "0"] if os.environ.get("TAMIS_REDIS_HOME") == "store" else []


class Server:
    """`module`: None for a server without; `arguments`: of the module; `settings`: of redis.conf; `environment`: of the process, LD_PRELOAD too;
    `prefix`: a command that runs the server; `host`: its address; `port`: its port, which is free;
    `config`: its redis.conf, which loads the module."""

    def __init__(self, module, *arguments, directory=None, environment=None, prefix=(),
                 host="127.0.0.1", port=None, config=None, **settings):
        self.module = module
        self.arguments = [str(argument) for argument in arguments]
        self.settings = {"save": "", "appendonly": "no", "enable-debug-command": "yes",
                         "enable-module-command": "yes"}
        self.settings.update({name.replace("_", "-"): value for name, value in settings.items()})
        self.own = tempfile.mkdtemp(prefix="tamis-redis-") if directory is None else None
        self.directory = directory or self.own
        self.environment = environment or {}
        self.prefix = list(prefix)
        self.host, self.given_port, self.config = host, port, config
        self.process = None

    def __enter__(self):
        if not shutil.which("redis-server"):
            skip("redis-server is not installed")
        self.start()
        return self

    def command(self):
        words = self.prefix + ["redis-server"] + ([self.config] if self.config else [])
        words += ["--port", str(self.port), "--bind", self.host, "--dir", self.directory]
        for name, value in self.settings.items():
            words += ["--" + name, str(value)]
        return words + (["--loadmodule", self.module] + self.arguments + HOME if self.module and not self.config else [])

    def start(self):
        """Returns a client."""
        for _ in range(5):  # another process may take the port first
            self.port = self.given_port or free_port()
            with open(self.log_path(), "ab") as log:
                environment = {**os.environ, **self.environment}
                preload = [environment.pop("TAMIS_REDIS_PRELOAD", None), environment.get("LD_PRELOAD")]
                environment["LD_PRELOAD"] = " ".join(library for library in preload if library)
                self.process = subprocess.Popen(self.command(), stdout=log, stderr=log,
                                                stdin=subprocess.DEVNULL, env=environment)
            if self.is_up():
                return self.client()
            self.kill()
        raise AssertionError("redis-server does not start:\n" + self.log()[-3000:])

    def is_up(self):
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            try:
                client = self.client()
                if client("PING") == "PONG":
                    mine = client("CONFIG", "GET", "dir")[1].decode() == os.path.realpath(self.directory)
                    client.close()
                    return mine
            except OSError:
                pass
            time.sleep(0.01)  # not up, or loading
        return False

    def log_path(self):
        return os.path.join(self.directory, "log")

    def log(self):
        with open(self.log_path(), encoding="utf-8", errors="replace") as file:
            return file.read()

    def client(self, resp=2):
        return Client(self.port, resp, self.host)

    def url(self):
        return f"redis://{self.host}:{self.port}"

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """An orderly end; the server saves if it has `save` points.  It refuses to end while a child writes its first AOF."""
        while self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(5)

    def restart(self, kill=False):
        if kill:
            self.kill()
        else:
            self.stop()
        return self.start()

    def __exit__(self, kind, *_):
        leaks = kind is None and "TAMIS_REDIS_PRELOAD" in os.environ and self.process.poll() is None
        if leaks:  # a sanitizer looks for them at the end, and speaks by the status
            self.stop()
            if self.process.returncode != 0:
                raise AssertionError(f"redis-server ended with {self.process.returncode}:\n{self.log()[-6000:]}")
        self.kill()
        if kind is not None:
            print("---- the server's log\n" + self.log()[-6000:])
        if self.own:
            shutil.rmtree(self.own, ignore_errors=True)
