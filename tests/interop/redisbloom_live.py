# SPDX-License-Identifier: BSD-2-Clause
"""redisbloom_live.py TAMIS: filters of RedisBloom move over the wire, both ways.

RedisBloom itself is not in Debian, so a server of this script plays it: it answers the commands
that Tamis sends from the recorded dumps, and judges what BF.LOADCHUNK brings as RedisBloom does.
It can also be made to fail in the middle; then nothing of the filter may be left.
"""
import os
import re
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading

from command import Tamis, finish, keys_of, same, seeded, table
from redis_client import Error
from scripted_nodes import commands, encoded

CHUNK = 16 << 20
MOST_RESIDENT = 64 << 20
NAMES = ("scale", "expand4", "nonscaling", "default", "expand1")


class Refused(Exception):
    pass


class Chain:
    """A filter as RedisBloom has it: the header, and the bits of all layers behind each other."""

    def __init__(self, header, data=None):
        self.header = header
        self.layers = [struct.unpack_from("<Q", header, 20 + 53 * i)[0]
                       for i in range(struct.unpack_from("<I", header, 8)[0])]
        if len(header) != 20 + 53 * len(self.layers):
            raise Refused("received bad data")
        self.data = bytearray(data or sum(self.layers))

    def left(self, position):
        """Bytes from there to the end of its layer."""
        end = 0
        for layer in self.layers:
            end += layer
            if position < end:
                return end - position
        return 0

    def size(self):
        return struct.unpack_from("<Q", self.header)[0]


class Bloom:
    """The keys of the server; what a command answers."""

    def __init__(self):
        self.chains = {}
        self.mishap = None
        self.scans = 0
        self.longest = 0
        self.process = None
        self.resident = 0

    def look(self):
        """The most that the process which asks has had in memory so far."""
        if self.process:
            with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
                self.resident = int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) * 1024

    def scandump(self, key, iterator):
        chain, iterator = self.chains[key], int(iterator)
        self.scans += 1
        if self.mishap and self.scans == 3:
            return self.mishap(chain, iterator)
        if iterator == 0:
            return [1, chain.header]
        length = min(CHUNK, chain.left(iterator - 1))
        if length == 0:
            return [0, b""]
        return [iterator + length, bytes(chain.data[iterator - 1:iterator - 1 + length])]

    def loadchunk(self, key, iterator, data):
        iterator = int(iterator)
        self.longest = max(self.longest, len(data))
        if iterator == 1:
            if key in self.chains:
                raise Refused("item exists")
            self.chains[key] = Chain(data)
            return "OK"
        chain, position = self.chains[key], iterator - len(data) - 1
        if position < 0 or not 0 < len(data) <= chain.left(position):
            raise Refused("invalid chunk - Too big for current filter")
        chain.data[position:position + len(data)] = data
        return "OK"

    def rename(self, key, name):
        self.chains[name] = self.chains.pop(key)
        return "OK"

    def command(self, words):
        self.look()
        name, *rest = [words[0].decode().upper()] + words[1:]
        key = rest[0].decode() if rest else None
        if name == "TYPE":
            return "MBbloom--" if key in self.chains else "none"
        if name == "EXISTS":
            return int(key in self.chains)
        if name in ("EXPIRE", "PERSIST", "TTL"):
            return int(key in self.chains)
        if name == "DEL":
            return int(self.chains.pop(key, None) is not None)
        if name == "RENAME":
            return self.rename(key, rest[1].decode())
        if name == "RENAMENX":
            return 0 if rest[1].decode() in self.chains else int(bool(self.rename(key, rest[1].decode())))
        if name == "BF.SCANDUMP":
            return self.scandump(key, rest[1])
        if name == "BF.LOADCHUNK":
            return self.loadchunk(key, rest[1], rest[2])
        raise Refused(f"unknown command '{name}'")


class Connection(socketserver.StreamRequestHandler):
    def answer(self, words):
        try:
            return encoded(self.server.bloom.command(words))
        except Refused as refusal:
            return encoded(Error(f"ERR {refusal}"))

    def handle(self):
        queue = None  # commands since MULTI
        try:
            for words in commands(self.rfile):
                if words == [b"MULTI"]:
                    queue, answer = [], b"+OK\r\n"
                elif words == [b"EXEC"]:
                    answer = b"*%d\r\n" % len(queue) + b"".join(map(self.answer, queue))
                    queue = None
                elif queue is not None:
                    queue.append(words)
                    answer = b"+QUEUED\r\n"
                else:
                    answer = self.answer(words)
                self.wfile.write(answer)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return  # a mishap: the server is gone; or the client is


def recorded(name):
    """A filter of the vectors; one that is too long for them has zeros for bits."""
    rows = [row for row in table("rb_dumps.tsv") if row["name"] == name]
    chain = Chain(bytes.fromhex(rows[0]["data_hex"]))
    if all(row["data_hex"] for row in rows[1:-1]):
        chain.data = bytearray(bytes.fromhex("".join(row["data_hex"] for row in rows[1:])))
    return chain


def check_answers(tamis, name):
    rows = [row for row in table("rb_ops.tsv") if row[name] != ""]
    there = {"add": lambda reply: reply != "E", "query": lambda reply: reply == "1"}
    expected = [key for key, row in zip(keys_of(rows), rows) if there[row["op"]](row[name])]
    same(f"{name}: answers", expected, tamis.run("check", name, "--hex", lines=keys_of(rows)))


def check_there_and_back(tamis, bloom, url, name):
    chain = bloom.chains[name]
    tamis.run("import", name, "--from", url, name)
    check_answers(tamis, name)
    tamis.run("export", name, "--to", url, "copy")
    same(f"{name}: header", chain.header, bloom.chains["copy"].header)
    same(f"{name}: bits", chain.data, bloom.chains["copy"].data)
    new = tamis.run("add", name, "--new", "one key more", "and one", "and a third")
    tamis.run("export", name, "--to", url, "copy", "--force")
    same(f"{name}: size", chain.size() + len(new), bloom.chains["copy"].size())
    tamis.run("import", "again", "--from", url, "copy")
    same(f"{name}: new keys", new, tamis.run("check", "again", *new))
    same(f"{name}: keys", sorted([*NAMES, "copy"]), sorted(bloom.chains))
    bloom.chains.pop("copy")
    tamis.run("drop", "again", name)


def measured(tamis, bloom, *arguments):
    """Run it and look at its memory at each command that it sends; the last one ends it."""
    started = threading.Event()
    bloom.look = lambda: (started.wait(), Bloom.look(bloom))
    bloom.process = subprocess.Popen(tamis.call + list(arguments), stderr=subprocess.PIPE, text=True,
                                     stdin=subprocess.DEVNULL)
    started.set()
    told = bloom.process.communicate()[1]
    same(f"{arguments}: {told}", 0, bloom.process.returncode)
    print(f"{arguments[0]}: {bloom.resident / 2**20:.1f} MiB resident")
    if not os.environ.get("TAMIS_SANITIZE"):  # which takes memory of its own
        same(f"{arguments[0]}: {bloom.resident} bytes resident", True, 0 < bloom.resident < MOST_RESIDENT)
    bloom.process, bloom.resident = None, 0
    del bloom.look


def check_large(tamis, bloom, url, random):
    chain = bloom.chains["big"] = recorded("big")
    chain.data = bytearray(random.randbytes(len(chain.data)))
    measured(tamis, bloom, "import", "big", "--from", url, "big")
    bloom.longest = 0
    measured(tamis, bloom, "export", "big", "--to", url, "copy")
    same("big: header", chain.header, bloom.chains["copy"].header)
    same("big: bits", True, chain.data == bloom.chains["copy"].data)
    same("big: chunks of 1 MiB", 1 << 20, bloom.longest)
    for name in ("big", "copy"):
        bloom.chains.pop(name)
    tamis.run("drop", "big")


def gone(_chain, _iterator):
    raise EOFError


def refusing(_chain, _iterator):
    raise Refused("not found")


# What the third answer to BF.SCANDUMP is instead of the second chunk, and what must be told.
MISHAPS = (
    (gone, "the connection failed"),
    (refusing, "the server says: ERR not found"),
    (lambda chain, iterator: "OK", "not what Redis answers"),
    (lambda chain, iterator: [iterator], "not what Redis answers"),
    (lambda chain, iterator: [iterator, 7], "not what Redis answers"),
    (lambda chain, iterator: [0, b""], "ends before its data do"),
    (lambda chain, iterator: [0, None], "ends before its data do"),
    (lambda chain, iterator: [iterator + 8, b"12345678" * 1000], "where its layer has"),
    (lambda chain, iterator: [iterator, b"12345678"], "out of order"),
    (lambda chain, iterator: [-1, b"12345678"], "ends before its data do"),
)


def check_mishaps(tamis, store, bloom, url):
    for mishap, words in MISHAPS:
        bloom.mishap, bloom.scans = mishap, 0
        done = subprocess.run(tamis.call + ["import", "x", "--from", url, "scale"],
                              capture_output=True, text=True, check=False)
        same(words, (2, True), (done.returncode, words in done.stderr))
        same(f"{words}: left", ([], []), tuple(os.listdir(os.path.join(store, directory))
                                               for directory in ("segments", "staging")))
    bloom.mishap = None


def check_existing(tamis, bloom, url):
    """A key that is there is not replaced, not even one that comes up during the export."""
    tamis.run("import", "scale", "--from", url, "scale")
    call = tamis.call + ["export", "scale", "--to", url, "expand4"]
    before = bytes(bloom.chains["expand4"].data)
    for exists in (bloom.command, lambda words: 0 if words[0] == b"EXISTS" else Bloom.command(bloom, words)):
        bloom.command = exists
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        same("existing key", (2, True), (done.returncode, "is there already; --force" in done.stderr))
        same("existing key: bits", before, bytes(bloom.chains["expand4"].data))
        same("existing key: keys", sorted(NAMES), sorted(bloom.chains))
    del bloom.command
    tamis.run("drop", "scale")


def main():
    random = seeded()
    bloom = Bloom()
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Connection)
    server.daemon_threads = True
    server.bloom = bloom
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"redis://127.0.0.1:{server.server_address[1]}"
    with tempfile.TemporaryDirectory() as directory:
        store = os.path.join(directory, "store")
        tamis = Tamis(sys.argv[1], store)
        for name in NAMES:
            bloom.chains[name] = recorded(name)
        for name in NAMES:
            check_there_and_back(tamis, bloom, url, name)
        check_mishaps(tamis, store, bloom, url)
        check_existing(tamis, bloom, url)
        check_large(tamis, bloom, url, random)
        same("problems of the store", [], tamis.run("verify"))
    server.shutdown()
    finish(50)


main()
