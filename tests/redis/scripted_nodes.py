# SPDX-License-Identifier: BSD-2-Clause
"""Nodes that answer as a script says, and else tell the truth: that of a real server, to which a node passes what it is asked."""
import collections
import contextlib
import functools
import socket
import threading

from redis_client import Error, Simple

ERRORS = {
    "TRYAGAIN": "TRYAGAIN Multiple keys request during rehashing of slot",
    "CLUSTERDOWN": "CLUSTERDOWN Hash slot not served",
    "LOADING": "LOADING Redis is loading the dataset in memory",
    "READONLY": "READONLY You can't write against a read only replica.",
    "MASTERDOWN": "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    "NOREPLICAS": "NOREPLICAS Not enough good replicas to write.",
    "MOVED": "MOVED 1 127.0.0.1:PORT",
    "ASK": "ASK 1 127.0.0.1:PORT",
}
CLOSE, LOSE = object(), object()
EVER = 1 << 60


def encoded(answer):
    if answer is None:
        return b"$-1\r\n"
    if isinstance(answer, list):
        return b"*%d\r\n" % len(answer) + b"".join(encoded(one) for one in answer)
    if isinstance(answer, int):
        return b":%d\r\n" % answer
    if isinstance(answer, bytes):
        return b"$%d\r\n%s\r\n" % (len(answer), answer)
    return (b"-" if isinstance(answer, Error) else b"+") + answer.encode() + b"\r\n"


def commands(file):
    while line := file.readline():
        yield [file.read(int(file.readline()[1:]) + 2)[:-2] for _ in range(int(line[1:]))]


class Node:
    """`script`: called with the node, the name of a command, and whether ASKING came before it.  What it returns is the
    answer; LOSE carries the command out and ends the connection, CLOSE only ends it, and None is the truth.  `peers`: the
    nodes that CLUSTER SLOTS tells; without any it is a server of its own."""

    def __init__(self, truth, script, peers):
        self.truth, self.script, self.peers = truth, script, peers
        self.seen = collections.Counter()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client, asked, note = self.truth.client(), False, self.noted()
        with peer, peer.makefile("rb") as file:
            try:
                for words in commands(file):
                    answer = self.answer(client, words, asked)
                    if answer is CLOSE:
                        peer.shutdown(socket.SHUT_RDWR)
                        break
                    note(encoded(answer))
                    peer.sendall(encoded(answer))
                    asked = words[0] == b"ASKING"
            except OSError:
                pass
        client.close()

    def noted(self):
        """Called at the begin of a connection; returns what is called with each answer."""
        return lambda data: None

    def answer(self, client, words, asked):
        name = words[0].upper().decode()
        if name == "CLUSTER" and self.peers:
            return [[16384 * i // len(self.peers), 16384 * (i + 1) // len(self.peers) - 1, [b"127.0.0.1", one.port]]
                    for i, one in enumerate(self.peers)]
        if name == "ASKING":
            return Simple("OK")
        self.seen[name] += 1
        scripted = None if name == "CLUSTER" else self.script(self, name, asked)
        if scripted is LOSE:
            client(*words)
            return CLOSE
        return client(*words) if scripted is None else scripted

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def always_true(*_):
    return None


@contextlib.contextmanager
def two_nodes(truth, first, second=always_true, cluster=True, node=Node):
    """The first and the second node, with scripts that get both as well."""
    nodes, peers = [], []
    for script in (first, second):
        nodes.append(node(truth, functools.partial(script, nodes), peers))
    if cluster:
        peers += nodes
    try:
        yield nodes
    finally:
        for one in nodes:
            one.close()


def url(node):
    return f"redis://127.0.0.1:{node.port}"


def fails(word, times=EVER, to=1, only=None):
    """A script: the first answers to each command, or to `only`, are the error."""
    def script(nodes, node, name, _):
        if only not in (None, name) or node.seen[name] > times:
            return None
        return Error(ERRORS[word].replace("PORT", str(nodes[to].port)))
    return script


def wants_asking(nodes, _, name, asked):
    """A script of a node that a slot is on its way to."""
    return None if asked else Error(f"MOVED 1 127.0.0.1:{nodes[0].port}")
