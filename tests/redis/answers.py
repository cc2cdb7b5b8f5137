# SPDX-License-Identifier: BSD-2-Clause
"""answers.py MODULE TAMIS: a server, and a cluster of two nodes, that answer as a script says: an error a
few times and then the truth, the error for ever, or other values.  The truth is that of a real server, to which a node passes what it
is asked.

Seen to fail for a client that does not know one of the errors (passes() in tools/tamis/remote/requests.c), that sends no ASKING,
that goes on asking a replica how many replicas it has, that does not read `room` and `lacks bytes`, that forgets that a key was new before its node was lost, and
that follows nodes which send it to each other without a pause."""
import concurrent.futures

from harness import run, same, server
from redis_client import Error
from remote import bounded, remote, urls
from scripted_nodes import CLOSE, ERRORS, EVER, LOSE, always_true, fails, two_nodes, url, wants_asking

REPLICA = Error("ERR WAIT cannot be used with replica instances.")


def lines(keys):
    return b"".join(key + b"\n" for key in keys)


def create(truth, name, shards=8):
    remote(truth.url(), "create", name, "-n", "10k", "-p", "1e-9", "--shards", shards)


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


def notes_of_what_only_the_server_sees():
    """Why a filter is full: the disk of the server, and room that was lost there.  A client that did not read `room` and `lacks
    bytes` told of either that the filter holds as many keys as it was made for."""
    notes = (({"states": 1, "lacks bytes": 4096, "room": 0}, "the disk has no room for its next segment"),
             ({"states": 1, "lacks bytes": 4096, "room": 9}, "durable and the disk has no room for its log"),
             ({"states": 1, "when full": b"refuse", "room": 0}, "adders that were killed, or are stopped, have taken room"),
             ({"states": 1, "when full": b"refuse", "room": None}, "holds as many keys as it was made for, and refuses more"))
    with server() as truth:
        truth.client().good("TAMIS.RESERVE", "k", "0.01", 1000, "ONFULL", "refuse")
        create(truth, "s", 2)
        for told, note in notes:
            for key in "k", "s":
                with two_nodes(truth, always_true, cluster=False) as nodes:
                    nodes[0].answer = lambda client, words, asked, real=nodes[0].answer, told=told: changed(
                        real(client, words, asked), words, told)
                    has = remote(url(nodes[0]), "info", key, "note").out.decode()
                    assert note in has, (key, told, has)


def changed(answer, words, told):
    """What TAMIS.INFO has answered, with other values of some names."""
    if words[0] != b"TAMIS.INFO":
        return answer
    return [told.get(str(answer[i - 1]), one) if i % 2 == 1 else one for i, one in enumerate(answer)]


run(errors_that_pass, errors_that_stay, replies_that_replicas_lose, notes_of_what_only_the_server_sees)
