#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""bench_frontier.py [--requests N]: processor time of a request through tamis.scrapy.Scheduler, and through scrapy-redis.

A stand-in for Scrapy's engine pushes N requests through each scheduler: each one is enqueued (with its fingerprint, its test for
being new, and its pickle), handed out, made a request again, and done.  Each comes with a second one that was seen before.  It
needs tamis in PYTHONPATH, Scrapy, scrapy-redis and redis of PyPI, and redis-server, which is started on a socket of its own.
The time of redis-server counts too.  docs/python.md has the table.
"""
import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import redis
import scrapy
from scrapy.crawler import Crawler
from scrapy.utils.test import get_crawler

PAGES = 10  # links of a page


class Spider(scrapy.Spider):
    name = "bench"

    def parse(self, response):
        """The name of the callback is what a stored request has of it."""


class Slot:
    """What the scheduler looks at of the engine."""

    def __init__(self):
        self.inprogress, self.start_requests, self.nextcall = set(), None, self

    def schedule(self, delay=0):
        pass


class Engine:
    def __init__(self):
        self.slot = Slot()


def crawler_with(settings) -> Crawler:
    crawler = get_crawler(Spider, settings_dict=settings)
    crawler.spider = crawler._create_spider("bench")
    crawler.engine = Engine()
    crawler.stats = crawler.stats or crawler._apply_settings() or crawler.stats
    return crawler


def push_through(scheduler, crawler, count):
    """The engine's part: pages with links, of which each comes twice."""
    spider, slot, handed, made = crawler.spider, crawler.engine.slot, 0, 0
    while handed < count:
        for number in range(made, min(made + PAGES, count)):
            for _ in range(2):
                scheduler.enqueue_request(scrapy.Request(f"https://www.example.com/some/path/{number}?session=1",
                                                         callback=spider.parse, headers={"Referer": "https://www.example.com/"},
                                                         meta={"depth": 3}))
        made += PAGES
        for _ in range(PAGES):
            request = scheduler.next_request()
            if request is None:
                break
            slot.inprogress.add(request)
            handed += 1
        slot.inprogress.clear()
    while scheduler.has_pending_requests():
        if scheduler.next_request() is None:
            raise SystemExit("a request is left")


def ready(scheduler, crawler):
    scheduler._start_loop = lambda: None  # there is no reactor
    scheduler.open(crawler.spider)
    return scheduler


def report(name, begin, end, wall, count, others=0.0):
    used = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
    print(f"| {name} | {used / count * 1e6:.0f} | {others / count * 1e6:.0f} | {count / (used + others):,.0f} | {wall / count * 1e6:.0f} |")


def measure(name, scheduler, crawler, count, others=lambda: 0.0):
    begin, wall, other = resource.getrusage(resource.RUSAGE_SELF), time.monotonic(), others()
    push_through(scheduler, crawler, count)
    report(name, begin, resource.getrusage(resource.RUSAGE_SELF), time.monotonic() - wall, count, others() - other)


def tamis_row(directory, count):
    from tamis.scrapy import Scheduler

    crawler = crawler_with({"SCHEDULER": "tamis.scrapy.Scheduler", "TAMIS_STORE": os.path.join(directory, "store")})
    scheduler = ready(Scheduler.from_crawler(crawler), crawler)
    measure("tamis.scrapy.Scheduler", scheduler, crawler, count)
    scheduler.close("finished")


def redis_row(directory, count):
    from scrapy_redis.scheduler import Scheduler

    path = os.path.join(directory, "redis.sock")
    server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--dir", directory, "--appendonly", "yes",
                               "--appendfsync", "everysec", "--save", ""], stdout=subprocess.DEVNULL)
    try:
        client = redis.Redis(unix_socket_path=path)
        while True:
            try:
                client.ping()
                break
            except redis.ConnectionError:
                time.sleep(0.05)
        crawler = crawler_with({"SCHEDULER": "scrapy_redis.scheduler.Scheduler", "REDIS_URL": "unix://" + path,
                                "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter"})

        def used():
            info = client.info("cpu")
            return info["used_cpu_user"] + info["used_cpu_sys"]

        measure("scrapy-redis", ready(Scheduler.from_crawler(crawler), crawler), crawler, count, used)
    finally:
        server.kill()
        server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--dir", help="a folder of the file system that is to be measured; otherwise that of temporary files")
    arguments = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="tamis-bench-", dir=arguments.dir)
    try:
        print("| scheduler | CPU of the process, us | CPU of its server, us | requests per CPU second | us by the clock |")
        print("|---|---|---|---|---|")
        for row in (tamis_row, redis_row):
            row(directory, arguments.requests)
            sys.stdout.flush()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
