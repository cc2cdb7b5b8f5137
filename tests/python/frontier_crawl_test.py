# SPDX-License-Identifier: BSD-2-Clause
"""frontier_crawl_test.py [PAGES PROCESSES KILLS [SEED [SPIDER]]]: crawls by the real Scrapy with tamis.scrapy.Scheduler, whose processes
are killed.

The site is made of a seed (random_site.py), random and printed unless it is given.  With arguments there is one crawl of that
size with Scrapy from PyPI: `frontier_crawl_test.py 5000 3 10`.  With the SPIDER Filtered it has tamis.scrapy.DupeFilter alone,
and what is lost is told, not judged.  The usual form is one crawl with kills and one with a Ctrl-C; TAMIS_TEST_LONG=1 asks all,
of both Scrapys.  The test was seen to fail with Scrapy's own scheduler and tamis.scrapy.DupeFilter, which loses what a killed
process had scheduled, and with requests that are done when they are taken.
"""

import os
import random
import re
import signal
import subprocess
import sys
import time
import unittest

import tamis
from random_site import Site
from support import StoreTest, pypi, skip

IN_HAND = 16 + 16  # CONCURRENT_REQUESTS, and what the scheduler takes at once
SEED, SPIDER_NAME = random.randrange(1 << 32), "Walk"
IS_LONG = os.environ.get("TAMIS_TEST_LONG") == "1"
long_form = unittest.skipUnless(IS_LONG, "the long form, TAMIS_TEST_LONG=1, asks it")

SPIDER = '''
import os, urllib.request
import scrapy

class Walk(scrapy.Spider):
    name = "walk"
    custom_settings = {"SCHEDULER": "tamis.scrapy.Scheduler", "TELNETCONSOLE_ENABLED": False, "ROBOTSTXT_OBEY": False,
                       "DOWNLOAD_DELAY": 0, "RETRY_PRIORITY_ADJUST": 0}

    def __init__(self, site):
        self.start_urls = [site + "/"]
        urllib.request.urlopen(site + "/ready").close()

    def parse(self, response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)

class Filtered(Walk):
    """With the filter alone."""
    custom_settings = Walk.custom_settings | {"SCHEDULER": "scrapy.core.scheduler.Scheduler",
                                              "DUPEFILTER_CLASS": "tamis.scrapy.DupeFilter"}

class Poison(Walk):
    """Dies at page 7."""
    def parse(self, response):
        if response.url.endswith("/7"):
            os._exit(9)
        yield from super().parse(response)

class Lambda(Walk):
    """Requests that cannot be stored, a higher priority, one that must not be filtered, and an error of a callback."""
    def parse(self, response):
        yield scrapy.Request(response.urljoin("/1"), callback=lambda response: None)
        yield scrapy.Request(response.urljoin("/1"), callback=lambda response: None)
        yield scrapy.Request(response.urljoin("/2"), callback=self.broken)
        yield scrapy.Request(response.urljoin("/3"), dont_filter=True, callback=self.parse_nothing)
        yield scrapy.Request(response.urljoin("/3"), dont_filter=True, callback=self.parse_nothing)
        yield scrapy.Request(response.urljoin("/4"), priority=1 << 70, callback=self.parse_nothing)

    def parse_nothing(self, response):
        pass

    def broken(self, response):
        raise ValueError("broken")
'''
PROGRAM = ("import sys, spider; from scrapy.crawler import CrawlerProcess; "
           "name, settings, site = eval(sys.argv[1]); crawl = CrawlerProcess(settings); "
           "crawl.crawl(getattr(spider, name), site=site); crawl.start()")


class Crawls(StoreTest):
    python = None

    def setUp(self):
        super().setUp()
        if self.python is None:
            self.skipTest(f"{self.origin} is not there")
        with open(os.path.join(self.directory, "spider.py"), "w", encoding="utf-8") as file:
            file.write(SPIDER)
        self.logs = 0

    def site(self, pages, crawlers=1, slowest=0.05):
        print(f"{self.origin}: seed {SEED}, {pages} pages")
        site = Site(SEED, pages, crawlers, slowest)
        self.url = site.start()
        self.addCleanup(site.stop)
        return site

    def start(self, crawler=0, spider="Walk", **settings):
        """A crawler; `log` of it is the path of its log."""
        self.logs += 1
        log = os.path.join(self.directory, f"log-{self.logs}")
        settings = {"TAMIS_STORE": self.path, "USER_AGENT": str(crawler), "LOG_LEVEL": "INFO", **settings}
        with open(log, "w", encoding="utf-8") as file:
            process = subprocess.Popen([self.python, "-c", PROGRAM, repr((spider, settings, self.url))],
                                       cwd=self.directory, stdout=file, stderr=subprocess.STDOUT)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.log = log
        return process

    def ends(self, process, errors=0):
        """Waits for its orderly end; returns what it logged."""
        code = process.wait(280)
        with open(process.log, encoding="utf-8") as file:
            log = file.read()
        self.assertEqual(code, 0, log[-3000:])
        self.assertEqual(log.count("Traceback"), errors, log[-3000:])
        return log

    def stat(self, log, name):
        found = re.search(rf"'{name}': ([0-9.e-]+)", log)
        return float(found[1]) if found else 0

    def answered(self, site, count):
        """Waits for so many answers."""
        with site.changed:
            while len(site.answers) < count:
                if not site.changed.wait(100):
                    raise AssertionError(f"{len(site.answers)} answers")

    def is_whole(self, site, twice):
        """All that can be reached was fetched, and no more than so many of it again."""
        fetched, reachable = site.fetched(), site.reachable()
        again = sum(fetched.values()) - len(fetched)
        missed = sorted(reachable - set(fetched))
        print(f"{self.origin}, {SPIDER_NAME}: {len(reachable)} can be reached, {len(missed)} missed, {again} fetched again, "
              f"shares {sorted(site.shares().values())}")
        if SPIDER_NAME != "Walk":
            return
        self.assertEqual(missed, [], f"seed {SEED}")
        self.assertLessEqual(again, twice, f"seed {SEED}")
        with tamis.Frontier(self.path, "scrapy-walk") as frontier:
            self.assertEqual(frontier.counts(), {"waiting": 0, "out": 0, "later": 0, "aside": 0})

    def crawl_with_kills(self, pages, count, kills):
        site = self.site(pages, count)
        rng = random.Random(SEED)
        times = sorted(rng.randrange(len(site.reachable()) * 9 // 10) for _ in range(kills))
        processes = [self.start(i, SPIDER_NAME) for i in range(count)]
        for answers in times:
            self.answered(site, answers)
            victim = rng.randrange(count)
            processes[victim].kill()
            processes[victim].wait()
            processes[victim] = self.start(victim, SPIDER_NAME)
        logs = [self.ends(process) for process in processes]
        self.is_whole(site, kills * IN_HAND)
        shares = site.shares()
        if count >= 3 and SPIDER_NAME == "Walk" and (not kills or pages >= 2000):  # of a small site the most is fetched while others begin again
            self.assertLessEqual(max(shares.values()) * 2, sum(shares.values()), shares)
        return logs


class Long(Crawls):
    """By arguments."""

    origin = "Scrapy from PyPI"

    def test_crawl(self):
        begin = time.monotonic()
        self.crawl_with_kills(*SIZE)
        print(f"{SIZE[1]} processes, {SIZE[2]} kills: {time.monotonic() - begin:.0f} s")


class Either:
    """What is asked of each Scrapy."""

    def test_killed_processes_lose_nothing(self):
        self.crawl_with_kills(*self.size)

    def test_interrupted_process_gives_back_and_a_restart_goes_on(self):
        site = self.site(200 if IS_LONG else 80)
        first = self.start()
        self.answered(site, 25)
        first.send_signal(signal.SIGINT)
        log = self.ends(first)
        left = self.stat(log, "tamis/left")
        self.assertGreater(left, 0)
        log = self.ends(self.start())
        self.assertIn(f"Resuming crawl ({left:.0f} requests scheduled)", log)
        self.is_whole(site, 0)
        count = len(site.answers)
        log = self.ends(self.start())
        self.assertIn("TAMIS_START_AGAIN", log, "a warning says why nothing was fetched")
        self.assertEqual(len(site.answers), count)
        if IS_LONG:
            self.ends(self.start(TAMIS_START_AGAIN=True))
            self.assertEqual(len(site.answers), count + 1)


class PyPI(Either, Crawls):
    origin, size = "Scrapy from PyPI", (600, 3, 4) if IS_LONG else (200, 3, 2)

    @long_form
    def test_processes_share_the_work(self):
        self.crawl_with_kills(300, 3, 0)

    @long_form
    def test_requests_of_all_sorts(self):
        site = self.site(10)
        for page in range(10):  # whatever the seed
            site.links[f"/{page}"] = []
        site.missing = site.failing = site.failing_once = set()
        log = self.ends(self.start(spider="Lambda", SCHEDULER_DEBUG=True), errors=1)
        self.assertEqual(site.fetched(), {"/": 1, "/1": 1, "/2": 1, "/3": 2, "/4": 1})
        self.assertEqual([self.stat(log, f"scheduler/{name}") for name in ("unserializable", "dequeued", "enqueued",
                                                                           "enqueued/memory")], [1, 6, 6, 1])
        self.assertEqual((self.stat(log, "dupefilter/filtered"), self.stat(log, "tamis/new")), (1, 3))
        self.assertIn("Unable to serialize request", log)

    @long_form
    def test_request_that_kills_its_process_is_set_aside(self):
        site = self.site(40, slowest=0)
        site.links["/0"] = ["/7"]
        for kinds in (site.missing, site.failing, site.failing_once):
            kinds -= {"/0", "/7"}
        site.links["/"] += ["/0"]
        for _ in range(20):
            process = self.start(spider="Poison", TAMIS_MAX_DEATHS=2)
            if process.wait(100) == 0:
                break
        log = self.ends(process)
        self.assertIn("set aside", log)
        self.assertEqual(self.stat(log, "tamis/aside"), 1)
        self.assertEqual(set(site.fetched()), site.reachable())

    @long_form
    def test_stopped_process_keeps_its_requests_until_the_lease_ends(self):
        site = self.site(150, 2)
        stopped, other = self.start(0, TAMIS_LEASE=2), self.start(1, TAMIS_LEASE=2)
        self.answered(site, 40)
        stopped.send_signal(signal.SIGSTOP)
        self.ends(other)
        fetched, reachable = set(site.fetched()), site.reachable()
        stopped.send_signal(signal.SIGCONT)
        self.assertEqual(fetched, reachable)
        self.ends(stopped)
        self.is_whole(site, IN_HAND)

    def killed_and_restarted(self, **settings):
        """With the filter alone: a start page that links to all others, a kill, a restart.  The log, and what was missed."""
        site = self.site(120)
        site.links["/"] = [f"/{page}" for page in range(120)]
        for page in range(120):
            site.links[f"/{page}"] = []
        site.missing = site.failing = site.failing_once = set()
        first = self.start(spider="Filtered", **settings)
        self.answered(site, 40)
        first.kill()
        first.wait()
        return self.ends(self.start(spider="Filtered", **settings)), site.reachable() - set(site.fetched())

    @long_form
    def test_filter_alone_loses_what_was_scheduled_and_warns(self):
        log, missed = self.killed_and_restarted()
        self.assertIn("SCHEDULER = 'tamis.scrapy.Scheduler'", log)
        self.assertGreater(len(missed), 20)

    @long_form
    def test_filter_that_marks_at_the_response_loses_nothing_that_is_linked_again(self):
        log, missed = self.killed_and_restarted(TAMIS_SEEN_WHEN="response")
        self.assertNotIn("WARNING", log)
        self.assertEqual(missed, set())

    @long_form
    def test_settings_that_cannot_be(self):
        self.site(1)
        for settings, words in (({"TAMIS_STORE": "redis://127.0.0.1:1"}, "give a directory"),
                                ({"TAMIS_SEEN_WHEN": "never"}, "TAMIS_SEEN_WHEN is 'scheduled' or 'response'")):
            process = self.start(**settings)
            process.wait(100)
            with open(process.log, encoding="utf-8") as file:
                self.assertIn(words, file.read())


class Debian(Either, Crawls):
    origin, size = "Debian's Scrapy", (300, 2, 2)


if __name__ == "__main__":
    SIZE = [int(word) for word in sys.argv[1:4]] if len(sys.argv) >= 4 and sys.argv[1].isdigit() else None
    if SIZE and len(sys.argv) > 4:
        SEED = int(sys.argv[4])
    if SIZE and len(sys.argv) > 5:
        SPIDER_NAME = sys.argv[5]
    Long.python = PyPI.python = pypi("scrapy")
    has_scrapy = subprocess.run(["/usr/bin/python3", "-c", "import scrapy"], capture_output=True, check=False)
    Debian.python = "/usr/bin/python3" if has_scrapy.returncode == 0 else None
    if PyPI.python is None and Debian.python is None:
        skip("PyPI cannot be reached, and python3-scrapy is not installed")
    tests = ["Long"] if SIZE else [*(arg for arg in sys.argv[1:] if arg[0] != "-")]
    if not tests:
        tests = ["PyPI", "Debian"] if IS_LONG else ["Debian" if PyPI.python is None else "PyPI"]
    unittest.main(argv=[sys.argv[0], *tests])
