# SPDX-License-Identifier: BSD-2-Clause
"""hosts.py MODULE TAMIS [TEST [KEYS]]: four `tamis add --new` on two hosts share one filter on a cluster of 3 masters and 3
replicas, and their keys overlap.

A host is a network namespace with three of the servers and two of the commands.  A third namespace has the bridge between
them, and this script.  KEYS, 40,000 if not given, is how many keys there are in all.

With --replicas 1 each key is told as new once, or twice if it is in doubt, and the commands tell how many are.  Seen to fail
for a client that goes on asking a node that has become a replica how many replicas it has.

While slots move, or while the replicas are down, nothing is in doubt.  While a master and its replica are down, the commands
end, and when they run again, keys that were told are there and no key is left out.  Seen to fail for a client that does not
follow MOVED, and for one that forgets at its end what may have been added: nobody was told of those keys."""
import contextlib
import functools
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from cluster_servers import SLOTS, Cluster
from harness import TAMIS, eventually, run, same, together
from redis_server import skip
from remote import bounded, remote, urls

HOSTS = {"a": "10.0.0.1", "b": "10.0.0.2"}
# The masters, and then the replica of each, which stands on the other host.
PLACES = ("a", "a", "b", "b", "b", "a")
KEYS = int(sys.argv[4]) if len(sys.argv) > 4 else 40000
NAMES = {place: f"tamis-{os.environ.get('TAMIS_HOSTS', os.getpid())}-{place}" for place in ("middle", "a", "b")}


def ip(*words):
    """Runs ip; returns what went wrong, or nothing."""
    return subprocess.run(["ip", *words], capture_output=True, check=False, text=True).stderr


def inside(place):
    return ("nsenter", "--net=/run/netns/" + NAMES[place])


def make_hosts():
    """Two namespaces, each with a wire to the bridge in a third."""
    if not shutil.which("ip"):
        skip("ip is not installed (iproute2)")
    for name in NAMES.values():
        wrong = ip("netns", "add", name)
        if wrong:
            skip(f"network namespaces cannot be made here: {wrong.strip()}")
    middle = NAMES["middle"]
    steps = [("link", "add", "bridge", "type", "bridge"), ("addr", "add", "10.0.0.254/24", "dev", "bridge")]
    for place in HOSTS:
        steps.append(("link", "add", "to-" + place, "type", "veth", "peer", "name", "wire", "netns", NAMES[place]))
        steps.append(("link", "set", "to-" + place, "master", "bridge", "up"))
    steps += [("link", "set", "lo", "up"), ("link", "set", "bridge", "up")]
    for step in steps:
        wrong = ip("-n", middle, *step)
        if wrong:
            skip(f"namespaces cannot be connected here: {wrong.strip()}")
    for place, address in HOSTS.items():
        for step in (("addr", "add", address + "/24", "dev", "wire"), ("link", "set", "lo", "up"),
                     ("link", "set", "wire", "up")):
            same(ip("-n", NAMES[place], *step), "", step)


def in_the_middle():
    """Runs this script again, between the hosts."""
    try:
        make_hosts()
        done = subprocess.run([*inside("middle"), sys.executable, "-B", *sys.argv], check=False,
                              env={**os.environ, "TAMIS_HOSTS": str(os.getpid())})
        return done.returncode
    finally:
        for name in NAMES.values():
            ip("netns", "del", name)


def real_looking(count):
    """URLs of hosts of which few have many pages, with paths and parameters."""
    draw = random.Random(16)
    words = ("news", "shop", "article", "img", "wiki", "forum", "2024", "product", "user", "tag", "en", "archive")
    for i in range(count):
        host = int(draw.paretovariate(0.7)) % 99991
        path = "/".join(draw.choices(words, k=draw.randrange(1, 5)))
        query = f"?id={i}&page={draw.randrange(90)}" if draw.random() < 0.3 else ""
        yield f"https://www.site-{host}.example/{path}/{draw.getrandbits(40):x}-{i}{query}".encode()


class Crawlers:
    """Four commands, each with half of the keys in an order of its own, so that each key is given twice."""

    def __init__(self, cluster, directory, *options):
        self.cluster, self.keys = cluster, list(real_looking(KEYS))
        self.paths = [os.path.join(directory, str(number)) for number in range(4)]
        for number, path in enumerate(self.paths):
            mine = [key for i, key in enumerate(self.keys) if (i + number) % 4 < 2]
            random.Random(number).shuffle(mine)
            with open(path + ".in", "wb") as file:
                file.write(b"\n".join(mine) + b"\n")
        self.start(*options)

    def start(self, *options):
        """What they print is added to what they have printed before."""
        self.running = []
        for number, path in enumerate(self.paths):
            with open(path + ".in", "rb") as given, open(path, "ab") as out, open(path + ".err", "ab") as err:
                self.running.append(subprocess.Popen(
                    [*inside("ab"[number % 2]), TAMIS, "--store", self.cluster.url(number), "add", "--new", *options,
                     "f"], stdin=self.input(number, given), stdout=out, stderr=err))

    def input(self, _, given):
        return given

    def printed(self):
        texts = []
        for path in self.paths:
            with open(path, "rb") as file:
                texts.append(file.read())
        return b"".join(texts).split(b"\n")[:-1]

    def wait_for(self, part):
        """So many of the keys are told, and some by each."""
        eventually(lambda: len(self.printed()) >= part * KEYS and all(os.path.getsize(path) for path in self.paths),
                   f"{part} of the keys are told", 60 + KEYS / 5000)

    def wait(self, status=0):
        """All have ended with this status; returns what each has told."""
        told = []
        for path, process in zip(self.paths, self.running):
            is_ = process.wait(timeout=120)
            with open(path + ".err", encoding="utf-8") as file:
                told.append(file.read())
            same(is_, status, told[-1])
        return told

    def end(self):
        """Looks at what they told; returns how many keys were told twice, and how many were in doubt."""
        doubts = sum(int(number) for told in self.wait()
                     for number in re.findall(r"^tamis: (\d+) .* in doubt", told, re.M))
        printed = self.printed()
        same(set(printed) ^ set(self.keys), set(), "keys that nobody was told of, or did not give")
        doubled = len(printed) - KEYS
        print(f"  {KEYS} keys, each given twice: {doubled} were told twice, {doubts} were in doubt", flush=True)
        assert doubled <= doubts, f"{doubled} keys are told twice, and {doubts} were in doubt"
        same(remote(self.cluster.url(1), "check", "-c", "f", keys=self.keys).out, b"%d\n" % KEYS, "keys that are there")
        return doubled, doubts


class SlowCrawlers(Crawlers):
    """They get their keys bit by bit, more and more slowly, and the last ones when they may hurry."""

    def start(self, *options):
        self.hurry = threading.Event()
        super().start(*options)

    def input(self, number, given):
        source, sink = os.pipe()
        lines = given.readlines()
        threading.Thread(target=self.feed, args=(lines, sink), daemon=True).start()
        return os.fdopen(source, "rb")

    def feed(self, lines, sink):
        with contextlib.suppress(BrokenPipeError), os.fdopen(sink, "wb") as file:
            while lines:
                self.hurry.wait(0.04 * KEYS / 2 / len(lines) if len(lines) > KEYS // 400 else 120)
                file.write(b"".join(lines[:KEYS // 400]))
                file.flush()
                del lines[:KEYS // 400]


@contextlib.contextmanager
def two_hosts(**settings):
    places = [{"host": HOSTS[place], "port": 7000 + i, "prefix": inside(place)} for i, place in enumerate(PLACES)]
    with Cluster(3, (0, 1, 2), places=places, protected_mode="no", **settings) as cluster, \
            tempfile.TemporaryDirectory() as directory:
        remote(cluster.url(), "create", "f", "-n", KEYS, "-p", "1e-9", "--shards", "32")
        yield cluster, directory


def without_failures():
    """Each key is told once, and none is in doubt."""
    with two_hosts() as (cluster, directory):
        same(Crawlers(cluster, directory).end(), (0, 0), "told twice, and in doubt")


def a_master_is_killed():
    """Its replica takes over; it comes back as the replica of that one, as where a supervisor starts it again."""
    with two_hosts() as (cluster, directory):
        crawlers = Crawlers(cluster, directory, "--replicas", "1")
        crawlers.wait_for(0.3)
        cluster.masters[0].kill()
        began = time.monotonic()
        eventually(lambda: cluster.role(cluster.replicas[0]) == "master", "the replica takes over")
        cluster.masters[0].start()
        crawlers.end()
        print(f"  {time.monotonic() - began:.1f} s from the kill to the end", flush=True)


def the_hosts_are_parted():
    """Host b, with one master, is cut off; its replica on host a takes over.  Then they meet again."""
    with two_hosts() as (cluster, directory):
        crawlers = Crawlers(cluster, directory, "--replicas", "1")
        crawlers.wait_for(0.3)
        same(ip("link", "set", "to-b", "down"), "")
        eventually(lambda: cluster.role(cluster.replicas[2]) == "master", "the replica takes over")
        same(ip("link", "set", "to-b", "up"), "")
        crawlers.end()
        eventually(lambda: cluster.role(cluster.masters[2]) == "slave", "the master that was cut off is a replica")


def a_third_of_the_slots_moves():
    """redis-cli gives all slots of a master to another one, with the filter's shards that are in them.  There are no failures,
    so no key is in doubt."""
    with two_hosts() as (cluster, directory):
        source, target = cluster.masters[0], cluster.masters[2]
        count = len(cluster.slots_of(source))
        crawlers = SlowCrawlers(cluster, directory)
        crawlers.wait_for(0.05)
        began = time.monotonic()
        done = subprocess.run(["redis-cli", "--cluster", "reshard", f"{source.host}:{source.port}",
                               "--cluster-from", cluster.name(source), "--cluster-to", cluster.name(target),
                               "--cluster-slots", str(count), "--cluster-yes"], capture_output=True, check=False, text=True)
        same(done.returncode, 0, done.stdout[-2000:] + done.stderr)
        before = len(crawlers.printed())
        crawlers.hurry.set()
        print(f"  {count} slots moved in {time.monotonic() - began:.1f} s, until {before} keys had been told", flush=True)
        same(crawlers.end(), (0, 0), "told twice, and in doubt")
        assert before < KEYS, "the keys were all there before the slots had moved"
        assert count > SLOTS / 3 - 2 and len(cluster.slots_of(target)) > 2 * SLOTS / 3 - 2, "the slots have not moved"


def the_replicas_are_down():
    """The adds go on, and nothing is in doubt.  --replicas 1 asks for what cannot be, until a replica is back: status 2, and
    the key is told, as the master has it."""
    with two_hosts() as (cluster, directory):
        crawlers = Crawlers(cluster, directory)
        crawlers.wait_for(0.3)
        for replica in cluster.replicas:
            replica.kill()
        same(crawlers.end(), (0, 0), "told twice, and in doubt")
        done = remote(cluster.url(), "--timeout=2", "add", "--new", "--replicas", "1", "f", "another", status=2, limit=30)
        same(done.out, b"another\n", done.err)
        assert "nothing was answered for 2 s" in done.err and "1 key was in doubt" in done.err, done.err
        for replica in cluster.replicas:
            replica.start()
        same(remote(cluster.url(), "add", "--new", "--replicas", "1", "f", "another", "the next").out, b"the next\n")


def a_master_and_its_replica_are_down():
    """Nobody has their keys: commands end in bounded time.  When the master is back, the commands run again, and each key was
    told by one of them."""
    with two_hosts(appendonly="yes") as (cluster, directory):
        crawlers = SlowCrawlers(cluster, directory, "--timeout=3")
        crawlers.wait_for(0.1)
        told = crawlers.printed()
        crawlers.hurry.set()
        lost = (cluster.replicas[0], cluster.masters[0])
        for server in lost:
            server.kill()
        began = time.monotonic()
        for text in crawlers.wait(status=2):
            assert "nothing was answered for 3 s" in text, text
        took = time.monotonic() - began
        assert took < 20, f"the commands ended {took:.1f} s after the servers"
        together(*(functools.partial(bounded, cluster.url(2), "--timeout=1", *words, limit=10)
                   for words in (("check", "f", *urls(0, 99)), ("add", "f", *urls(0, 99)), ("info", "f"))))
        for server in reversed(lost):
            server.start()
        eventually(lambda: all(cluster.is_whole(server) for server in cluster.servers), "the cluster is whole again")
        same(remote(cluster.url(1), "check", "-c", "f", keys=told).out, b"%d\n" % len(told), "keys that were told")
        crawlers.start()
        crawlers.hurry.set()
        print(f"  the commands ended in {took:.1f} s", flush=True)
        crawlers.end()


if "TAMIS_HOSTS" in os.environ:
    run(without_failures, a_master_is_killed, the_hosts_are_parted, a_third_of_the_slots_moves, the_replicas_are_down,
        a_master_and_its_replica_are_down)
else:
    sys.exit(in_the_middle())
