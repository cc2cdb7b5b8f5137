# SPDX-License-Identifier: BSD-2-Clause
"""redis_live.py TAMIS: how the command finds its way to a key of a real Redis, and what it says
where it does not.
"""
import os
import socket
import subprocess
import sys
import tempfile

from command import Tamis, finish, same
from servers import Client, RedisServer

PASSWORD = "p@ss:w/d%?#[ü"
QUOTED = "p%40ss%3Aw%2Fd%25%3F%23%5B%c3%bc"
SHAPE = ("--hash-set", "php:js,pjw", "-m", "1000")


class Place:
    """A store, and a server with one string in database 3."""

    def __init__(self, binary, directory, server):
        self.store = os.path.join(directory, "store")
        self.tamis = Tamis(binary, self.store)
        self.port = server.port
        self.client = Client(server.port)
        self.client("SELECT", 3)
        self.string = bytes(range(1, 120))
        self.client("SET", "bits", self.string)

    def url(self, user="", host="127.0.0.1", database="/3"):
        return f"redis://{user}{host}:{self.port}{database}"

    def run(self, *arguments, **environment):
        return subprocess.run(self.tamis.call + list(arguments), capture_output=True, text=True,
                              check=False, env={**os.environ, **environment})

    def refused(self, words, *arguments, **environment):
        done = self.run(*arguments, **environment)
        same(f"{arguments}: {done.stderr}", (2, True, ""),
             (done.returncode, words in done.stderr, done.stdout))
        same("a password is told", False, PASSWORD in done.stderr or QUOTED in done.stderr)

    def goes(self, url, key="bits", **environment):
        """In from there, out to another key, the same bytes; both gone again."""
        for arguments in (["import", "x", "--from", url, key, *SHAPE],
                          ["export", "x", "--to", url, "copy"]):
            done = self.run(*arguments, **environment)
            same(f"{arguments}: {done.stderr}", 0, done.returncode)
        same(url, self.client("GET", key), self.client("GETDEL", "copy"))
        self.tamis.run("drop", "x")

    def files(self):
        return sorted(name for directory in ("segments", "staging")
                      for name in os.listdir(os.path.join(self.store, directory)))


def listens_on_v6(port):
    try:
        socket.create_connection(("::1", port), timeout=60).close()
    except OSError:
        return False
    return True


def check_addresses(place):
    place.goes(place.url())
    place.goes(place.url(host="localhost"))
    if listens_on_v6(place.port):
        place.goes(place.url(host="[::1]"))
    else:
        print("no IPv6 here")
    place.client("SELECT", 0)
    place.client("SET", "bits", place.string)
    place.goes(place.url(database=""))
    place.goes(place.url(database="/"))
    place.goes(place.url(database="/0"))
    place.client("SELECT", 3)
    key = "a key: with ünusual %41 bytes"
    place.client("SET", key, place.string)
    place.goes(place.url(), key)
    for url in ("redis://", "redis:///0", "redis://:6379", "redis://h:", "redis://h:0", "redis://h:x",
                "redis://h:65536", "redis://h:99999999999", "redis://h/x", "redis://h/-1", "redis://h/1/2",
                "redis://secret@h", "redis://:%4@h", "redis://:%zz@h", "redis://:a%00b@h", "redis://[::1",
                "redis://[::1]x", "redis://::1", "redis://[]", "redis://h/%30",
                "redis:///var/run/redis.sock"):
        place.refused("is not redis://", "import", "x", "--from", url, "bits", *SHAPE)
    place.refused("cannot connect", "import", "x", "--from", "redis://127.0.0.1:1", "bits", *SHAPE)


def check_passwords(place):
    place.client("CONFIG", "SET", "requirepass", PASSWORD)
    place.client("AUTH", PASSWORD)
    place.goes(place.url(f":{QUOTED}@"))
    place.goes(place.url(f"default:{QUOTED}@"))
    place.goes(place.url(), REDISCLI_AUTH=PASSWORD)
    place.goes(place.url(f":{QUOTED}@"), REDISCLI_AUTH="wrong")
    place.client("ACL", "SETUSER", "reader", "on", ">other", "~*", "+@all")
    place.goes(place.url("reader:other@"))
    arguments = ("import", "x", "--from")
    place.refused("NOAUTH", *arguments, place.url(), "bits", *SHAPE)
    place.refused("WRONGPASS", *arguments, place.url(f":{QUOTED}x@"), "bits", *SHAPE)
    place.refused("WRONGPASS", *arguments, place.url(f"reader:{QUOTED}@"), "bits", *SHAPE)
    place.refused("WRONGPASS", *arguments, place.url(), "bits", *SHAPE, REDISCLI_AUTH="wrong")
    place.client("CONFIG", "SET", "requirepass", "")


def check_keys(place):
    place.client("RPUSH", "list", "x")
    place.refused("is not there", "import", "x", "--from", place.url(), "nothing", *SHAPE)
    place.refused("is not there", "import", "x", "--from", place.url(database="/4"), "bits", *SHAPE)
    place.refused("out of range", "import", "x", "--from", place.url(database="/999"), "bits", *SHAPE)
    place.refused("is of type list", "import", "x", "--from", place.url(), "list", *SHAPE)
    place.refused("does not say how its bits", "import", "x", "--from", place.url(), "bits")
    place.refused("is longer than m = 80", "import", "x", "--from", place.url(), "bits",
                  "--hash-set", "php:js,pjw", "-m", "80")
    same("files", [], place.files())


def check_exports(place):
    """A key is replaced only where --force says so, and its time to live goes with it."""
    place.tamis.run("import", "x", "--from", place.url(), "bits", *SHAPE)
    place.client("SET", "there", "old", "EX", 1000)
    place.refused("is there already; --force", "export", "x", "--to", place.url(), "there")
    place.refused("is there already; --force", "export", "x", "--to", place.url(), "list")
    same("there", b"old", place.client("GET", "there"))
    place.tamis.run("export", "x", "--to", place.url(), "there", "--force")
    same("there", place.string, place.client("GET", "there"))
    same("there: time to live", -1, place.client("TTL", "there"))
    place.tamis.run("export", "x", "--to", place.url(), "list", "--force")
    same("list", place.string, place.client("GET", "list"))
    place.client("CONFIG", "SET", "maxmemory", 1)
    place.refused("OOM", "export", "x", "--to", place.url(), "there", "--force")
    place.client("CONFIG", "SET", "maxmemory", 0)
    same("there", place.string, place.client("GET", "there"))
    place.tamis.run("create", "empty", "--hash-set", "php:js,pjw", "-m", "1000")
    place.tamis.run("export", "empty", "--to", place.url(), "none")
    place.tamis.run("export", "empty", "--to", place.url(), "there", "--force")
    keys = [key for key in place.client("KEYS", "*") if key in (b"none", b"there") or b"tamis" in key]
    same("keys of empty filters, and left over", [], keys)
    place.tamis.run("drop", "x", "empty")


def check_long(place):
    """More bits than a string of Redis has."""
    place.tamis.run("create", "long", "--hash-set", "md5", "-m", 2**32 + 100000, "-k", 1)
    place.tamis.run("add", "long", *map(str, range(100)))
    done = place.run("export", "long", "--to", "redis-bitmap", os.devnull)
    same(done.stderr, 0, done.returncode)
    path = os.path.join(place.store, "segments")
    # a bit past 2^32, as chance seldom sets one
    segment = os.path.join(path, os.listdir(path)[0])
    with open(segment, "r+b") as file:
        file.seek(2 * 2**20 + 2**29 + 10)
        file.write(b"\1")
    place.refused("holds 2^32 bits at most", "export", "long", "--to", place.url(), "long")
    same("keys left over", [], [key for key in place.client("KEYS", "*") if b"long" in key])
    place.tamis.run("drop", "long")


def main():
    with RedisServer() as server, tempfile.TemporaryDirectory() as directory:
        place = Place(sys.argv[1], directory, server)
        check_addresses(place)
        check_passwords(place)
        check_keys(place)
        check_exports(place)
        if place.tamis.has_md5():
            check_long(place)
    finish(80)


main()
