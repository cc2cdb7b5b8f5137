# SPDX-License-Identifier: BSD-2-Clause
"""make_reply_seeds.py MODULE TAMIS CORPUS: conversations of `tamis` with a redis-server that has the module, and with nodes
that redirect it or have errors that pass, to CORPUS/replies as inputs of fuzz_replies.c; to be run again when the client
asks in another way."""
import os
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "redis"))
import scripted_nodes  # noqa: E402
from harness import served  # noqa: E402
from redis_client import Error, Simple  # noqa: E402
from remote import remote  # noqa: E402

BEGINS = 0x8000
KEYS = ("k0", "k1", "k2", "k3", "", "k0")
# As enum ask of fuzz_replies.c has them.
ASKED = {"add": ["add", "f", *KEYS], "check": ["check", "f", *KEYS], "count": ["count", "f", *KEYS],
         "remove": ["remove", "f", *KEYS], "explain": ["explain", "f", *KEYS], "info": ["info", "f"], "list": ["list"],
         "create": ["create", "f", "-n", "1k"], "create-shards": ["create", "f", "-n", "1k", "--shards", "4", "--if-missing"],
         "create-like": ["create", "f", "--like", "g"], "drop": ["drop", "f"], "rename": ["rename", "f", "g"],
         "export": ["export", "f", "--to", "tamis", "-"], "import": ["import", "f", "--from", "tamis", "DIRECTORY"],
         "merge": ["merge", "f", "g", "h"], "rotate": ["rotate", "f"], "sync": ["sync", "f"],
         "parents": ["check", "--parents", "f", *KEYS]}


class Conversation:
    """The answers on each connection, in the order in which these began."""

    def __init__(self):
        self.connections = []
        self.lock = threading.Lock()

    def begin(self):
        with self.lock:
            self.connections.append([])
            return self.connections[-1]

    def input(self, ask, flags=0):
        data = bytes([list(ASKED).index(ask), flags])
        # The client of the fuzz target logs in, and chooses a database, first.
        for answers in filter(None, self.connections):
            for i, answer in enumerate([b"+OK\r\n", b"+OK\r\n", *answers]):
                data += struct.pack("<H", len(answer) | (0 if i else BEGINS)) + answer
        return data


class Recorder(scripted_nodes.Node):
    """Conversations are recorded in Recorder.conversation."""

    conversation = None

    def noted(self):
        return self.conversation.begin().append


def write(name, data):
    folder = os.path.join(sys.argv[3], "replies")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def record(name, truth, ask, words=None, script=scripted_nodes.always_true, cluster=True, flags=0, status=0):
    """What `tamis` hears when it runs these words on two nodes of which the first has this script."""
    Recorder.conversation = Conversation()
    with scripted_nodes.two_nodes(truth, script, cluster=cluster, node=Recorder) as nodes:
        done = remote(scripted_nodes.url(nodes[0]), *(words or ASKED[ask]), status=None)
    if done.status > 1 and status == 0:
        raise AssertionError(f"{name}: {done.err}")
    write(name, Recorder.conversation.input(ask, flags))


def make(client, name, *options):
    client.good("DEL", name, *[f"{name}:{{{i}}}" for i in range(4)])
    remote(f"redis://127.0.0.1:{client.socket.getpeername()[1]}", "create", name, "-n", "100", *options)


def main():
    with served() as (truth, client):
        directory = os.path.join(truth.directory, "exported")
        for shards in ("1", "4"):
            for ask, words in ASKED.items():
                client.good("FLUSHALL")
                kind = ("--kind", "counting") if ask in ("count", "remove") else ()
                if ask == "rotate":
                    kind = ("--window", "1h", "--slices", "4")
                if not ask.startswith(("create", "import")):
                    make(client, "f", "--shards", shards, *kind)
                    remote(truth.url(), "add", "f", "k0", "k1")
                if ask in ("merge", "create-like"):
                    make(client, "g", "--shards", shards)
                    make(client, "h", "--shards", shards)
                if ask in ("explain", "import", "export") and shards == "4":
                    words = [directory if word in ("-", "DIRECTORY") else word for word in words]
                elif ask == "import":
                    continue
                record(f"{ask}-{shards}", truth, ask, words, status=2 * (ask == "remove"))  # keys are not there
        client.good("FLUSHALL")
        make(client, "f", "--shards", "4")
        for word in scripted_nodes.ERRORS:
            times, to = (1, 1) if word != "ASK" else (3, 1)
            record(f"add-{word.lower()}", truth, "add", script=scripted_nodes.fails(word, times, to, "TAMIS.ADD"))
        plan = {("TAMIS.ADD", 2): scripted_nodes.LOSE, ("TAMIS.ADD", 4): Error("ERR not found"), ("TAMIS.INFO", 1): Simple("?")}
        record("add-lost", truth, "add", script=lambda _, node, name, __: plan.get((name, node.seen[name])), status=2)
        plan = {("WAIT", n): n % 3 for n in range(9)}
        record("add-replicas", truth, "add", ["add", "--replicas", "1", "f", *KEYS], flags=1,
               script=lambda _, node, name, __: plan.get((name, node.seen[name])), cluster=False)
        moved = Error("MOVED 1 127.0.0.1:70000")
        record("add-no-port", truth, "add", script=lambda _, node, name, __: moved if name == "TAMIS.ADD" else None, status=2)
        record("add-alone", truth, "add", cluster=False)
        record("list-alone", truth, "list", cluster=False)
        record("add-none", truth, "add", ["add", "none", "k"], cluster=False, status=2)


main()
