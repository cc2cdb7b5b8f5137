# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of stores on servers share: the command with a URL."""
import os
import subprocess
import time

from harness import TAMIS


class Done:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err


def remote(store, *words, keys=None, status=0, limit=60, environment=()):
    """Runs `tamis --store STORE WORDS` with keys (a list of bytes) on its input; `environment`: what it has besides."""
    text = None if keys is None else b"".join(key + b"\n" for key in keys)
    done = subprocess.run([TAMIS, "--store", store] + [str(word) for word in words], input=text,
                          capture_output=True, check=False, timeout=limit, env={**os.environ, **dict(environment)})
    if status is not None and done.returncode != status:
        raise AssertionError(f"tamis {words}: status {done.returncode}: {done.stderr.decode()}")
    return Done(done.returncode, done.stdout, done.stderr.decode())


def bounded(store, *words, limit=8, why=""):
    """It fails with status 2 and a sentence that has `why` in it, in `limit` seconds."""
    began = time.monotonic()
    done = remote(store, *words, status=2, limit=limit + 20)
    took = time.monotonic() - began
    assert took < limit and why in done.err, f"{store} {words}: {took:.1f} s, {done.err!r}"


class Adding:
    """`tamis add --new` with keys that come bit by bit; what it prints goes to a file."""

    def __init__(self, store, directory, *words):
        self.path = os.path.join(directory, f"printed-{id(self)}")
        with open(self.path, "wb") as out, open(self.path + ".err", "wb") as err:
            self.process = subprocess.Popen([TAMIS, "--store", store, "add", "--new", *words],
                                            stdin=subprocess.PIPE, stdout=out, stderr=err)

    def give(self, keys):
        self.process.stdin.write(b"".join(key + b"\n" for key in keys))
        self.process.stdin.flush()

    def printed(self):
        with open(self.path, "rb") as file:
            return file.read().split(b"\n")[:-1]

    def told(self):
        with open(self.path + ".err", encoding="utf-8") as file:
            return file.read()

    def end(self, limit=60):
        self.process.stdin.close()
        return self.process.wait(timeout=limit)


def urls(first, count):
    return [b"https://host%d.example/page/%d" % (i % 977, i) for i in range(first, first + count)]
