# SPDX-License-Identifier: BSD-2-Clause
"""hosts.py MODULE TAMIS [TEST [KEYS]]: four `tamis add --new` on two hosts share one filter on a cluster of 3 masters and 3
replicas, and their keys overlap.

A host is a network namespace with three of the servers and two of the commands.  A third namespace has the bridge between
them, and this script.  KEYS, 40,000 if not given, is how many keys there are in all.

With --replicas 1 each key is told as new once, or twice if it is in doubt, and the commands tell how many are.  Seen to fail
for a client that goes on asking a node that has become a replica how many replicas it has."""
import contextlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from cluster_servers import Cluster
from harness import TAMIS, eventually, run, same
from redis_server import skip
from remote import remote

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
        self.keys, self.running = list(real_looking(KEYS)), []
        for number in range(4):
            path = os.path.join(directory, str(number))
            mine = [key for i, key in enumerate(self.keys) if (i + number) % 4 < 2]
            random.Random(number).shuffle(mine)
            with open(path + ".in", "wb") as file:
                file.write(b"\n".join(mine) + b"\n")
            with open(path + ".in", "rb") as given, open(path, "wb") as out, open(path + ".err", "wb") as err:
                self.running.append((path, subprocess.Popen(
                    [*inside("ab"[number % 2]), TAMIS, "--store", cluster.url(number), "add", "--new", *options, "f"],
                    stdin=given, stdout=out, stderr=err)))

    def printed(self):
        texts = []
        for path, _ in self.running:
            with open(path, "rb") as file:
                texts.append(file.read())
        return b"".join(texts).split(b"\n")[:-1]

    def wait_for(self, part):
        eventually(lambda: len(self.printed()) >= part * KEYS, f"{part} of the keys are told", 60 + KEYS / 5000)

    def end(self, cluster):
        """Looks at what they told; returns how many keys were told twice, and how many were in doubt."""
        doubts = 0
        for path, process in self.running:
            status = process.wait(timeout=120)
            with open(path + ".err", encoding="utf-8") as file:
                told = file.read()
            same(status, 0, told)
            doubts += sum(int(number) for number in re.findall(r"^tamis: (\d+) .* in doubt", told, re.M))
        printed = self.printed()
        same(set(printed) ^ set(self.keys), set(), "keys that nobody was told of, or did not give")
        doubled = len(printed) - KEYS
        print(f"  {KEYS} keys, each given twice: {doubled} were told twice, {doubts} were in doubt", flush=True)
        assert doubled <= doubts, f"{doubled} keys are told twice, and {doubts} were in doubt"
        same(remote(cluster.url(1), "check", "-c", "f", keys=self.keys).out, b"%d\n" % KEYS, "keys that are there")
        return doubled, doubts


@contextlib.contextmanager
def two_hosts():
    places = [{"host": HOSTS[place], "port": 7000 + i, "prefix": inside(place)} for i, place in enumerate(PLACES)]
    with Cluster(3, (0, 1, 2), places=places, protected_mode="no") as cluster, \
            tempfile.TemporaryDirectory() as directory:
        remote(cluster.url(), "create", "f", "-n", KEYS, "-p", "1e-9", "--shards", "32")
        yield cluster, directory


def without_failures():
    """Each key is told once, and none is in doubt."""
    with two_hosts() as (cluster, directory):
        same(Crawlers(cluster, directory).end(cluster), (0, 0), "told twice, and in doubt")


def a_master_is_killed():
    """Its replica takes over; it comes back as the replica of that one, as where a supervisor starts it again."""
    with two_hosts() as (cluster, directory):
        crawlers = Crawlers(cluster, directory, "--replicas", "1")
        crawlers.wait_for(0.3)
        cluster.masters[0].kill()
        began = time.monotonic()
        eventually(lambda: cluster.role(cluster.replicas[0]) == "master", "the replica takes over")
        cluster.masters[0].start()
        crawlers.end(cluster)
        print(f"  {time.monotonic() - began:.1f} s from the kill to the end", flush=True)


def the_hosts_are_parted():
    """Host b, with one master, is cut off; its replica on host a takes over.  Then they meet again."""
    with two_hosts() as (cluster, directory):
        crawlers = Crawlers(cluster, directory, "--replicas", "1")
        crawlers.wait_for(0.3)
        same(ip("link", "set", "to-b", "down"), "")
        eventually(lambda: cluster.role(cluster.replicas[2]) == "master", "the replica takes over")
        same(ip("link", "set", "to-b", "up"), "")
        crawlers.end(cluster)
        eventually(lambda: cluster.role(cluster.masters[2]) == "slave", "the master that was cut off is a replica")


if "TAMIS_HOSTS" in os.environ:
    run(without_failures, a_master_is_killed, the_hosts_are_parted)
else:
    sys.exit(in_the_middle())
