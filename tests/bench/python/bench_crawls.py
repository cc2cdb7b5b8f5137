#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""bench_crawls.py [--pages N] [--seed N] [--only WORD]: what a crawl loses whose processes end early, by scheduler.

The site is that of tests/python/random_site.py, made of the seed.  Each row is a crawl by the real Scrapy with a store (or a
server) of its own, from one start page.  A process is killed, or gets one Ctrl-C, when a third of the site was answered, and is
started again at once with the same settings; of three it is the one with the most answers.  docs/python.md has the table.

It needs tamis in PYTHONPATH, Scrapy, scrapy-redis and redis of PyPI, and redis-server, which is started on a socket of its own.
--only takes rows whose name has the word, such as "redis" or "killed".
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import redis

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from random_site import Site  # noqa: E402

CRAWLER = '''
import sys, urllib.request
import scrapy
from scrapy.crawler import CrawlerProcess

settings, site = eval(sys.argv[1])

class Walk(scrapy.Spider):
    name = "walk"
    start_urls = [site + "/"]

    def parse(self, response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)

urllib.request.urlopen(site + "/ready").close()
process = CrawlerProcess({"TELNETCONSOLE_ENABLED": False, "RETRY_PRIORITY_ADJUST": 0, "ROBOTSTXT_OBEY": False,
                          "DOWNLOAD_DELAY": 0, "LOG_LEVEL": "WARNING", **settings})
if "scrapy_redis" in settings.get("SCHEDULER", ""):  # it ends as soon as its queue is empty, though others may be at work
    def wait_for_others(spider):
        raise scrapy.exceptions.DontCloseSpider
    crawler = process.create_crawler(Walk)
    crawler.signals.connect(wait_for_others, signal=scrapy.signals.spider_idle, weak=False)
    process.crawl(crawler)
else:
    process.crawl(Walk)
process.start()
'''
SETTINGS = {
    "DupeFilter": {"DUPEFILTER_CLASS": "tamis.scrapy.DupeFilter"},
    "Scheduler": {"SCHEDULER": "tamis.scrapy.Scheduler"},
    "scrapy-redis": {"SCHEDULER": "scrapy_redis.scheduler.Scheduler", "SCHEDULER_PERSIST": True,
                     "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter"},
}
# name, processes, signal, with JOBDIR
SCENES = [("1, killed and started again", 1, signal.SIGKILL, False),
          ("1, killed and started again, JOBDIR", 1, signal.SIGKILL, True),
          ("1, Ctrl-C and started again", 1, signal.SIGINT, False),
          ("3, one killed and started again", 3, signal.SIGKILL, False),
          ("3, none killed", 3, None, False)]
SILENCE = 15  # seconds without an answer after which a crawl by scrapy-redis has ended


class Crawl:
    """One crawl: its site, its directory, its processes."""

    def __init__(self, scheduler, count, with_jobdir, arguments):
        self.directory = tempfile.mkdtemp(prefix="tamis-bench-", dir=arguments.dir)
        self.site = Site(arguments.seed, arguments.pages, count, arguments.slowest)
        self.url = self.site.start()
        self.settings = {**SETTINGS[scheduler], "TAMIS_STORE": os.path.join(self.directory, "store")}
        self.with_jobdir, self.server = with_jobdir, None
        if scheduler == "scrapy-redis":
            self.settings["REDIS_URL"] = "unix://" + self.start_redis()
        self.processes = [self.start(number) for number in range(count)]

    def start_redis(self):
        path = os.path.join(self.directory, "redis.sock")
        self.server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--dir", self.directory, "--save", ""],
                                       stdout=subprocess.DEVNULL)
        client = redis.Redis(unix_socket_path=path)
        while True:
            try:
                client.ping()
                return path
            except redis.ConnectionError:
                time.sleep(0.05)

    def start(self, number):
        settings = {**self.settings, "USER_AGENT": str(number)}
        if self.with_jobdir:
            settings["JOBDIR"] = os.path.join(self.directory, f"job-{number}")
        with open(os.path.join(self.directory, "log"), "a", encoding="utf-8") as log:
            return subprocess.Popen([sys.executable, "-c", CRAWLER, repr((settings, self.url))], stdout=log, stderr=log)

    def interrupt(self, which):
        """When a third of the site was answered, or when the crawl has ended before."""
        third = len(self.site.reachable()) // 3
        with self.site.changed:
            while len(self.site.answers) < third and any(process.poll() is None for process in self.processes):
                self.site.changed.wait(0.2)
        shares = self.site.shares()
        victim = max(range(len(self.processes)), key=lambda number: shares[str(number)])
        self.processes[victim].send_signal(which)
        self.processes[victim].wait()
        self.processes[victim] = self.start(victim)

    def end(self):
        if self.server is None:
            for process in self.processes:
                process.wait()
            return
        answers = -1
        while len(self.site.answers) != answers:  # its processes wait for ever
            answers = len(self.site.answers)
            time.sleep(SILENCE)

    def close(self):
        for process in self.processes + ([self.server] if self.server else []):
            process.kill()
            process.wait()
        self.site.stop()
        shutil.rmtree(self.directory, ignore_errors=True)


def row(name, scheduler, count, which, with_jobdir, arguments):
    crawl = Crawl(scheduler, count, with_jobdir, arguments)
    try:
        if which is not None:
            crawl.interrupt(which)
        crawl.end()
        fetched, reachable, shares = crawl.site.fetched(), crawl.site.reachable(), crawl.site.shares()
        again = sum(fetched.values()) - len(fetched)
        each = " ".join(f"{shares[str(number)]:,}" for number in range(count))
        print(f"| {name} | {scheduler} | {len(reachable):,} | {len(reachable - set(fetched)):,} | {again:,} | {each} |", flush=True)
    finally:
        crawl.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--slowest", type=float, default=0.05, help="seconds of the slowest answer")
    parser.add_argument("--only", default="", help="rows whose name or scheduler has this word")
    parser.add_argument("--dir", help="a folder for stores and logs; otherwise that of temporary files")
    arguments = parser.parse_args()
    print("| processes | scheduler | can be reached | never fetched | fetched again | answers of each |")
    print("|---|---|---|---|---|---|")
    for name, count, which, with_jobdir in SCENES:
        for scheduler in SETTINGS:
            if (scheduler == "scrapy-redis" and with_jobdir) or arguments.only not in f"{name} {scheduler}":
                continue
            row(name, scheduler, count, which, with_jobdir, arguments)


if __name__ == "__main__":
    main()
