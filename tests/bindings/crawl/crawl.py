#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""crawl.py [--seed N] [--pages N] [--keep DIRECTORY] NAME COMMAND... [-- NAME COMMAND...]...: a crawl by crawlers of several languages.

README.md says what a crawler does.  The site is made of the seed (tests/python/random_site.py).  Each crawler is killed once by SIGKILL,
one after the other, and begins again.  At the end each page that can be reached was fetched, and none more than once.
A page that a killed crawler had in its hands may be fetched once more for each time that its files had the page.

It was seen to fail with crawlers that do not put back what they had (the crawl does not end), that have a filter `queued` each (pages fetched too
often), and that finish a file a tenth of a second before they put its links into the queue (pages never fetched, in one of two runs).
"""
import argparse
import collections
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "python"))
import tamis  # noqa: E402
from random_site import Site  # noqa: E402

END_SECONDS = 240
SLOWEST = 0.1  # seconds, of an answer of the site: slow enough that each crawler gets its share


class Crawler:
    def __init__(self, name, command, queue, log):
        self.name, self.command, self.queue, self.log = name, command, queue, log
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)

    def kill(self):
        """Returns the URLs that it had in its hands, each as often as its files have it: all these files come back into the queue, and two
        crawlers may take the same URL from two of them."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        urls = []
        for part in ("claimed", "found"):
            directory = os.path.join(self.queue, part, self.name)
            for file in os.listdir(directory) if os.path.isdir(directory) else []:
                with open(os.path.join(directory, file)) as lines:
                    urls += lines.read().split()
        return urls


def take_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("crawlers", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    commands, words = {}, arguments.crawlers + ["--"]
    while words:
        end = words.index("--")
        if end > 1:
            commands[words[0]] = words[1:end]
        words = words[end + 1:]
    if not commands:
        parser.error("name a crawler and its command")
    return arguments, commands


def make_store(directory, url):
    """The store and the queue, which has the first page."""
    store, queue = os.path.join(directory, "store"), os.path.join(directory, "queue")
    with tamis.Store(store) as filters:
        for name in ("queued", "finished"):
            filters.create(name, capacity=1_000_000, fp_rate=1e-9).close()
        with filters["queued"] as queued:
            queued.add(url)
    for part in ("queue", "claimed", "found"):
        os.makedirs(os.path.join(queue, part))
    with open(os.path.join(queue, "queue", "first"), "w") as file:
        file.write(url)
    return store, queue


def make_site(seed, pages, crawlers):
    """A site of which at least half can be reached.  Of some seeds the first pages lead nowhere."""
    while True:
        site = Site(seed, pages, crawlers=crawlers, slowest=SLOWEST, failing=False)
        if len(site.reachable()) > pages // 2:
            return site
        seed += 1


def wait_until(site, crawlers, answers, deadline):
    """Waits until the site has given so many answers; false: the crawl has come to its end, or to its time's."""
    while len(site.answers) < answers:
        if all(crawler.process.poll() is not None for crawler in crawlers) or time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def run(site, crawlers, total):
    """Kills each crawler once and waits for the end.  Returns how often each URL may be fetched."""
    allowed = collections.defaultdict(lambda: 1)
    deadline = time.monotonic() + END_SECONDS
    for i, crawler in enumerate(crawlers):
        if not wait_until(site, crawlers, total * (i + 1) // (len(crawlers) + 2), deadline):
            break
        for url in crawler.kill():
            allowed[url] += 1
        crawler.start()
    wait_until(site, crawlers, sys.maxsize, deadline)
    return allowed


def judge(site, url, crawlers, allowed):
    """Returns what is wrong."""
    wrong = [f"{crawler.name} has not ended" if crawler.process.poll() is None else
             f"{crawler.name} ended with status {crawler.process.returncode}"
             for crawler in crawlers if crawler.process.poll() != 0]
    times, reachable = site.fetched(), site.reachable()
    times.pop("/ready", None)
    lost, strange = sorted(reachable - set(times)), sorted(set(times) - reachable)
    often = sorted(path for path, count in times.items() if count > allowed[url + path])
    for what, paths in (("never fetched", lost), ("fetched, and nobody links to it", strange), ("fetched too often", often)):
        if paths:
            wrong.append(f"{len(paths)} {what}: {' '.join(paths[:5])}")
    twice = sum(count - 1 for count in times.values())
    print(f"{len(reachable)} pages and redirects, {twice} fetched again after {len(crawlers)} kills; {dict(site.shares())}")
    idle = [crawler.name for crawler in crawlers if site.shares()[crawler.name] == 0]
    return wrong + [f"{name} fetched nothing" for name in idle]


def main():
    arguments, commands = take_arguments()
    print(f"seed {arguments.seed}, {arguments.pages} pages, crawlers: {' '.join(commands)}", flush=True)
    site = make_site(arguments.seed, arguments.pages, len(commands))
    url = site.start()
    with tempfile.TemporaryDirectory(prefix="tamis-crawl-") as directory:
        store, queue = make_store(directory, url + "/")
        with open(os.path.join(directory, "log"), "w+") as log:
            crawlers = [Crawler(name, command + [store, queue, name, url], queue, log) for name, command in commands.items()]
            try:
                wrong = judge(site, url, crawlers, run(site, crawlers, len(site.reachable())))
            finally:
                for crawler in crawlers:
                    if crawler.process.poll() is None:
                        crawler.kill()
                site.stop()
            log.seek(0)
            if wrong:
                sys.exit("\n".join(wrong + ["---- what the crawlers said", log.read()[-8000:]]))


main()
