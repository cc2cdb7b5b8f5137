# SPDX-License-Identifier: BSD-2-Clause
"""answers.py MODULE TAMIS: a server, and a cluster of two nodes, that answer as a script says: an error a
few times and then the truth, or the error for ever.  The truth is that of a real server, to which a node passes what it
is asked.

Seen to fail for a client that does not know one of the errors (passes() in tools/tamis/remote/exchange.c), that sends no ASKING,
that goes on asking a replica how many replicas it has, that forgets that a key was new before its node was lost, and
that follows nodes which send it to each other without a pause."""
import collections
import concurrent.futures
import contextlib
import functools
import socket
import threading

from harness import run, same, server
from redis_client import Error, Simple
from remote import bounded, remote, urls

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
REPLICA = Error("ERR WAIT cannot be used with replica instances.")
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
        client, asked = self.truth.client(), False
        with peer, peer.makefile("rb") as file:
            try:
                for words in commands(file):
                    answer = self.answer(client, words, asked)
                    if answer is CLOSE:
                        peer.shutdown(socket.SHUT_RDWR)
                        break
                    peer.sendall(encoded(answer))
                    asked = words[0] == b"ASKING"
            except OSError:
                pass
        client.close()

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
def two_nodes(truth, first, second=always_true, cluster=True):
    """The first and the second node, with scripts that get both as well."""
    nodes, peers = [], []
    for script in (first, second):
        nodes.append(Node(truth, functools.partial(script, nodes), peers))
    if cluster:
        peers += nodes
    try:
        yield nodes
    finally:
        for node in nodes:
            node.close()


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


def lines(keys):
    return b"".join(key + b"\n" for key in keys)


def create(truth, name, shards=8):
    remote(f"redis://127.0.0.1:{truth.port}", "create", name, "-n", "10k", "-p", "1e-9", "--shards", shards)


def tell_the_truth_then(truth, word, cluster):
    name, keys = f"{word}-{cluster}", urls(0, 3000)
    create(truth, name)
    # With ASK the first node has all slots, and they stay on their way to the second one.
    times, second = (EVER, wants_asking) if word == "ASK" else (2, always_true)
    with two_nodes(truth, fails(word, times), second, cluster) as nodes:
        if word == "ASK":
            del nodes[0].peers[1:]
        done = remote(url(nodes[0]), "--timeout=20", "add", "--new", name, keys=keys)
        same((done.out, done.err), (lines(keys), ""), name)
        same(remote(url(nodes[0]), "check", "-c", name, keys=keys + urls(9000, 1000)).out, b"3000\n", name)
        assert nodes[0].seen["TAMIS.ADD"] > 2, f"{name}: the script was not played"
        assert word not in ("MOVED", "ASK") or nodes[1].seen["TAMIS.ADD"] > 0, f"{name}: nobody followed"


def errors_that_pass():
    """Each command is answered by the error twice, and then by the truth: each key is new once, in order."""
    with server() as truth, concurrent.futures.ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(tell_the_truth_then, truth, word, cluster) for word in ERRORS for cluster in (True, False)
                if cluster or word != "READONLY"]
        for job in jobs:
            job.result()


def never_tell_the_truth(truth, word, cluster, only):
    """Both nodes; where they redirect, each sends to the other."""
    with two_nodes(truth, fails(word, only=only), fails(word, to=0, only=only), cluster) as nodes:
        bounded(url(nodes[0]), "--timeout=1", "add", "never", *urls(0, 50), limit=6, why=word)
        asked = sum(node.seen["TAMIS.ADD"] for node in nodes)
        assert asked < 8 * 2 * 100, f"{word}: {asked} requests in a second"


def errors_that_stay():
    """The same error for ever, to all commands or to TAMIS.ADD alone: status 2 with a sentence, and not a flood of requests."""
    with server() as truth, concurrent.futures.ThreadPoolExecutor(8) as pool:
        create(truth, "never")
        jobs = [pool.submit(never_tell_the_truth, truth, word, cluster, only)
                for word in ERRORS for cluster in (True, False) for only in (None, "TAMIS.ADD")]
        for job in jobs:
            job.result()


def at(plan):
    """A script: what the n-th command of a name is answered by."""
    return lambda _, node, name, __: plan.get((name, node.seen[name]))


def replies_that_replicas_lose():
    """--replicas 1: a key that was new is told as new, whatever becomes of its connection before a replica has it; it is
    in doubt then.  So is a key whose first answer is lost, and whose second one is."""
    plans = {"a replica now": {("WAIT", 1): REPLICA, ("WAIT", 2): REPLICA},
             "lost twice": {("WAIT", 1): CLOSE, ("WAIT", 2): CLOSE},
             "lost before and after its answer": {("TAMIS.ADD", 1): LOSE, ("WAIT", 1): CLOSE, ("WAIT", 2): CLOSE}}
    with server() as truth:
        for number, (what, plan) in enumerate(plans.items()):
            name, keys = f"f{number}", urls(0, 500)
            create(truth, name, 1)
            plan = {**{("WAIT", n): 1 for n in range(9)}, **plan}
            with two_nodes(truth, at(plan), at(plan), cluster=False) as nodes:
                done = remote(url(nodes[0]), "--timeout=5", "add", "--new", "--replicas", "1", name, keys=keys)
                same(done.out, lines(keys), what)
                assert done.err.startswith("tamis: 500 keys were in doubt"), f"{what}: {done.err}"


run(errors_that_pass, errors_that_stay, replies_that_replicas_lose)
