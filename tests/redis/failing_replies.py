# SPDX-License-Identifier: BSD-2-Clause
"""failing_replies.py MODULE TAMIS: each reply that a command line gets is an error, one after the other.

Then the status is 2 with a sentence, or all is as if nothing had failed: the status, what is printed, and the filters of the server.
Filters are of one key and of two shards.

Seen to fail: with `tamis create --json` whose second look at the filter fails, and that ends with 0; for `tamis list`, which took each
error for a key of another type, and said that the key which describes the shards was lost, as it was."""
import re
import tempfile

from harness import run, same, server
from redis_client import Error
from remote import remote, urls
from scripted_nodes import always_true, two_nodes, url

KEYS = urls(0, 30)
LINES = [["list", "--json"], ["list", "--live"], ["list", "--total"], ["info", "NAME", "--json"], ["info", "NAME", "items"], ["check", "NAME"],
         ["check", "--json", "-v", "NAME"], ["check", "--in", "one", "--in", "two", "--which"], ["check", "--parents", "NAME"],
         ["add", "--new", "NAME"], ["add", "--json", "NAME"], ["explain", "NAME"], ["count", "cNAME"], ["remove", "--json", "cNAME"],
         ["create", "new", "-n", "50"], ["create", "new", "-n", "50", "--json"], ["create", "new", "-n", "50", "--shards", "2"],
         ["create", "new", "--like", "NAME", "--json"], ["create", "one", "-n", "1k", "-p", "1e-9", "--if-missing"],
         ["rename", "NAME", "new"], ["drop", "NAME", "cNAME"], ["merge", "new", "NAME", "likeNAME"], ["merge", "NAME", "likeNAME"],
         ["merge", "--intersect", "new", "NAME", "likeNAME"], ["rotate", "window"], ["export", "NAME", "--to", "tamis", "--force", "OUT"],
         ["import", "new", "--from", "tamis", "NAMEFILE"], ["sync", "NAME"]]
HAVE_INPUT = {"check", "add", "explain", "count", "remove"}
READ = {"list", "info", "check", "explain", "count", "export"}


class Truth:
    """Counting filters are of their server alone, and cannot be restored: they are made anew."""

    def __init__(self, redis):
        self.redis, self.client, self.kept = redis, redis.client(), []
        for name in "one", "two", "likeone", "liketwo":
            self.make(name)
        remote(redis.url(), "create", "window", "-n", "1k", "--window", "1h")
        self.kept = [(key, self.client.good("DUMP", key)) for key in self.client.good("KEYS", "*")]

    def make(self, name, *options):
        shards = ["--shards", 2] if name.endswith("two") else []
        remote(self.redis.url(), "create", name, "-n", "1k", "-p", "1e-9", *options, *shards)
        remote(self.redis.url(), "add", name, keys=KEYS[:20])

    def reset(self, words):
        self.client.good("FLUSHALL")
        for key, payload in self.kept:
            self.client.good("RESTORE", key, 0, payload)
        for name in {"cone", "ctwo"} & set(words):
            self.make(name, "--kind", "counting")

    def filters(self):
        """What is told of each key but for names and times; of a key that describes shards, an error."""
        told = {}
        for key in sorted(self.client.good("KEYS", "*")):
            answer = self.client("TAMIS.INFO", key)
            pairs = [] if isinstance(answer, Error) else zip(answer[::2], answer[1::2])
            told[key] = {name: value for name, value in pairs if name != "filter" and not name.endswith(" ns")}
        return told


def fails_at(nth, answer):
    """The nth command of all is answered so."""
    return lambda _, node, __, ___: answer if sum(node.seen.values()) == nth else None


def with_reply(truth, words, nth, answer):
    """(what came of the command, the filters behind it, whether it came as far as that)"""
    if words[0] not in READ or words[0] == "count":
        truth.reset(words)
    keys = (KEYS[:20] if words[0] == "remove" else KEYS) if words[0] in HAVE_INPUT else None
    with two_nodes(truth.redis, fails_at(nth, answer), always_true, cluster=False) as nodes:
        done = remote(url(nodes[0]), *words, keys=keys, status=None)
        done.out = re.sub(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\dZ?", b"then", done.out)
        return done, truth.filters(), sum(nodes[0].seen.values()) >= nth


def fail_each(truth, words):
    good, left, _ = with_reply(truth, words, 0, None)
    assert good.status != 2, f"{words}: {good.err}"
    nth, reached = 0, True
    while reached:
        nth += 1
        done, behind, reached = with_reply(truth, words, nth, Error("ERR scripted"))
        what = f"{words}, reply {nth} of the server is an error: status {done.status}, {done.err!r}"
        assert done.err.startswith("tamis: ") or done.status == good.status, what
        if done.status != 2:
            same((done.status, behind), (good.status, left), what)
            # How many items a filter had is not known then, but it is gone.
            assert done.out == good.out or words[0] == "drop" and done.err, f"{what}: {done.out}, and {good.out} was wanted"


def each_reply_fails():
    with server() as redis, tempfile.TemporaryDirectory() as directory:
        truth = Truth(redis)
        for name in "one", "two":
            remote(redis.url(), "export", name, "--to", "tamis", f"{directory}/{name}")
        for line in LINES:
            for name in ("one", "two") if any("NAME" in word for word in line) else ("one",):
                fail_each(truth, [word.replace("NAMEFILE", f"{directory}/{name}").replace("NAME", name).replace("OUT", f"{directory}/out-{name}")
                                  for word in line])


run(each_reply_fails)
