# SPDX-License-Identifier: BSD-2-Clause
"""frontier_users_test.py: tamis.scrapy.Scheduler under what users of Scrapy do.

Spiders that use errbacks, delays, middlewares, the cache, robots.txt and requests of their own run at once in one process on
one store, and then in a second one; a project with scrapy.cfg is run by the command scrapy.  Each spider's queue must be empty at
its end, and it must have got what it would with Scrapy's own scheduler.  It was seen to fail with a close() that does not tell the
queue what was done.
"""

import collections
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import unittest

import tamis
from support import StoreTest, pypi, skip

PAGES = 12

SPIDERS = '''
import json, os
import scrapy
from scrapy.exceptions import CloseSpider, IgnoreRequest
from scrapy.utils.defer import maybe_deferred_to_future

SITE = os.environ["SITE"]
DEAD = "http://127.0.0.1:1/"

class Walk(scrapy.Spider):
    """Each spider has its own folder of the site, and tells at its end what came."""
    name = "walk"

    @property
    def start_urls(self):
        return [f"{SITE}/{self.name}/"]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.events = []

    def parse(self, response):
        self.events.append("page " + response.url.rsplit("/", 1)[1])
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)

    def closed(self, reason):
        stats = {name: value for name, value in self.crawler.stats.get_stats().items() if isinstance(value, (int, str))}
        with open(os.environ["RESULTS"], "a") as file:
            file.write(json.dumps([self.name, reason, self.events, stats]) + "\\n")

class Errbacks(Walk):
    name = "errbacks"
    custom_settings = {"RETRY_ENABLED": False}

    def parse(self, response):
        for url in (DEAD, response.urljoin("missing"), response.urljoin("broken")):
            yield scrapy.Request(url, callback=self.parse_page, errback=self.failed, cb_kwargs={"number": 7})

    def parse_page(self, response, number):
        self.events.append("no page")

    def failed(self, failure):
        self.events.append("failed %d" % failure.request.cb_kwargs["number"])
        if failure.request.url == DEAD:
            yield scrapy.Request(f"{SITE}/errbacks/3", callback=self.parse_page, cb_kwargs={"number": 8})

class Slow(Walk):
    name = "slow"
    custom_settings = {"CONCURRENT_REQUESTS": 1, "DOWNLOAD_DELAY": 0.02}

class Unreachable(Walk):
    name = "unreachable"
    custom_settings = {"RETRY_TIMES": 1}
    start_urls = [DEAD, DEAD + "2"]

class Closes(Walk):
    name = "closes"

    def parse(self, response):
        yield from super().parse(response)
        if len(self.events) >= 4 and "page " in self.events:  # the first run; callbacks take turns, so it may be 5
            raise CloseSpider("enough")

class Counted(Walk):
    name = "counted"
    custom_settings = {"CLOSESPIDER_PAGECOUNT": 4, "CONCURRENT_REQUESTS": 2}

class Ignored(Walk):
    """What a middleware ignores on its way out, on its way back, and what one of spiders does."""
    name = "ignored"
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {"spiders.Ignore": 1}, "SPIDER_MIDDLEWARES": {"spiders.IgnoreResponse": 1}}

class Ignore:
    def process_request(self, request, spider=None):
        if request.url.endswith("/3"):
            raise IgnoreRequest("3")

    def process_response(self, request, response, spider=None):
        if request.url.endswith("/4"):
            raise IgnoreRequest("4")
        return response

class IgnoreResponse:
    def process_spider_input(self, response, spider=None):
        if response.url.endswith("/5"):
            raise IgnoreRequest("5")

class Inner(Walk):
    """A request within a callback, and one within a pipeline."""
    name = "inner"
    custom_settings = {"ITEM_PIPELINES": {"spiders.Files": 1}}

    async def parse(self, response):
        for request in super().parse(response):
            yield request
        answer = await download(self.crawler, scrapy.Request(response.url + "?inner"))
        yield {"url": response.url, "status": answer.status}

async def download(crawler, request):
    if hasattr(crawler.engine, "download_async"):
        return await crawler.engine.download_async(request)
    return await maybe_deferred_to_future(crawler.engine.download(request))

class Files:
    @classmethod
    def from_crawler(cls, crawler):
        made = cls()
        made.crawler = crawler
        return made

    async def process_item(self, item, spider=None):
        answer = await download(self.crawler, scrapy.Request(item["url"] + "?file"))
        self.crawler.spider.events.append("file %d" % answer.status)
        return item

class Unstorable(Walk):
    """Its first request cannot be stored, as no name leads to its callback."""
    name = "unstorable"

    def start_requests(self):
        yield scrapy.Request(f"{SITE}/unstorable/", dont_filter=True, callback=lambda response: self.parse(response))

    async def start(self):
        for request in self.start_requests():
            yield request

class Robots(Walk):
    name = "robots"
    custom_settings = {"ROBOTSTXT_OBEY": True}

class Cached(Walk):
    name = "cached"
    custom_settings = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": os.environ["RESULTS"] + ".cache"}
'''
PROGRAM = '''
import json, sys, spiders
from scrapy.crawler import CrawlerProcess
process = CrawlerProcess(json.loads(sys.argv[1]))
for name in sys.argv[2:]:
    process.crawl(getattr(spiders, name))
process.start()
'''
ALL = ["Errbacks", "Slow", "Unreachable", "Closes", "Counted", "Ignored", "Inner", "Unstorable", "Robots", "Cached", "Walk"]
REFUSED = """
import json, os, sys
from scrapy import Request, signals
from scrapy.utils.test import get_crawler
from tamis.scrapy import Scheduler
settings = json.loads(sys.argv[1])
for name, bad in ("TAMIS_LEASE", 0), ("TAMIS_LEASE", "abc"), ("TAMIS_LEASE", -1), ("TAMIS_LEASE", "nan"), ("TAMIS_MAX_DEATHS", -1):
    try:
        Scheduler.from_crawler(get_crawler(settings_dict={**settings, name: bad}))
        print("taken:", name, bad)
    except ValueError as error:
        print(error)
print(os.path.exists(settings["TAMIS_STORE"] + "/queues"))
crawler = get_crawler(settings_dict={**settings, "TAMIS_SEEN_WHEN": "response"})
crawler.spider = crawler._create_spider("x")
scheduler = Scheduler.from_crawler(crawler)
crawler.signals.send_catch_log(signals.response_received, request=Request("http://a.example/", dont_filter=True), spider=crawler.spider)
print(len(scheduler.frontier.filter))
"""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.hits[self.path] += 1
        page = self.path.rsplit("/", 1)[1]
        number = int(page) if page.isdigit() else 0
        body = "".join(f'<a href="{link}">x</a>' for link in (2 * number + 1, 2 * number + 2, 2 * number + 2, 1)
                       if link < PAGES).encode()
        if self.path == "/robots.txt":
            body = b"User-agent: *\nDisallow: /robots/2\n"
        self.send_response({"missing": 404, "broken": 500}.get(page, 200))
        self.send_header("Content-Type", "text/plain" if page == "robots.txt" else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Users(StoreTest):
    python = None

    def setUp(self):
        super().setUp()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.hits = collections.Counter()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.results = os.path.join(self.directory, "results")
        self.write("spiders.py", SPIDERS)
        self.settings = {"SCHEDULER": "tamis.scrapy.Scheduler", "TAMIS_STORE": self.path, "TELNETCONSOLE_ENABLED": False,
                         "ROBOTSTXT_OBEY": False, "DOWNLOAD_DELAY": 0, "LOG_LEVEL": "INFO"}

    def write(self, name, text):
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def run_it(self, *command, directory=None):
        """{spider: (reason, events, stats)}, and the log."""
        self.write(self.results, "")
        environment = {**os.environ, "SITE": "http://127.0.0.1:%d" % self.server.server_port, "RESULTS": self.results}
        done = subprocess.run([self.python, *command], cwd=directory or self.directory, env=environment, timeout=250,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        with open(self.results, encoding="utf-8") as file:
            return {name: rest for name, *rest in map(json.loads, file)}, done.stdout

    def crawl(self, *names):
        return self.run_it("-c", PROGRAM, json.dumps(self.settings), *names)

    def pages(self, *without):
        return sorted(f"page {page or ''}" for page in range(PAGES) if page not in without)

    def test_spiders_of_all_sorts(self):
        results, log = self.crawl(*ALL)
        self.assertNotRegex(log, r"tamis/_?\w+\.py", "no traceback is through the package")
        self.assertEqual(len(results), len(ALL))
        for name in ("slow", "walk", "cached", "unstorable"):
            self.assertEqual(sorted(results[name][1]), self.pages(), name)
        self.assertEqual(sorted(results["errbacks"][1]), ["failed 7"] * 3 + ["no page"])
        self.assertEqual(results["unreachable"][1], [])
        self.assertEqual(sorted(results["ignored"][1]), self.pages(3, 4, 5, 7, 8, 9, 10, 11))
        self.assertEqual(sorted(results["robots"][1]), self.pages(2, 5, 6, 11))
        self.assertEqual(sorted(results["inner"][1]), sorted(["file 200"] * PAGES + self.pages()))
        for name, (reason, _, stats) in results.items():
            if name in ("closes", "counted"):
                self.assertIn(reason, ("enough", "closespider_pagecount"), name)
                self.assertGreater(stats["tamis/left"], 0, name)
            else:
                self.assertEqual((reason, stats["tamis/left"], stats["tamis/aside"]), ("finished", 0, 0), name)
        first = {name: results[name][1] for name in ("closes", "counted")}
        before = self.server.hits.copy()

        results, log = self.crawl("Closes", "Cached", "Unreachable", "Unstorable")  # again
        self.assertNotRegex(log, r"tamis/_?\w+\.py", "no traceback is through the package")
        self.assertEqual(set(results["closes"][1]) | set(first["closes"]), set(self.pages()))
        self.assertEqual(results["closes"][2]["tamis/left"], 0)
        self.assertEqual(results["cached"][1], [])
        # What cannot be stored is lost with its process, so a start like that comes again.  It was marked as seen by the first.
        self.assertEqual(results["unstorable"][1], ["page "])
        again = [path for path, count in self.server.hits.items() if count > 1 and before[path] and path.startswith("/closes")
                 and count > before[path]]
        self.assertEqual(again, [], "what was closed in order is not fetched again")

    def test_spiders_of_two_classes_share_no_queue_unless_they_are_told_to(self):
        """The second took the requests of the first, and its callbacks of the same names had the pages.  Seen to fail so without
        claim()."""
        self.settings.update(TAMIS_QUEUE="shared", TAMIS_FILTER="shared")
        left = self.crawl("Closes")[0]["closes"][2]["tamis/left"]
        self.assertGreater(left, 0)
        before = self.server.hits.copy()
        results, log = self.crawl("Walk")
        self.assertEqual((results, self.server.hits), ({}, before), log)
        self.assertIn(f"the queue 'shared' has {left} requests of the spider spiders.Closes, whose callbacks spiders.Walk need not "
                      "have: give one of them another TAMIS_QUEUE", log)
        self.assertIn("set TAMIS_SPIDER = 'spiders.Closes' here", log)
        self.settings["TAMIS_SPIDER"] = "spiders.Closes"
        results, log = self.crawl("Walk")
        self.assertEqual(results["walk"][2]["tamis/left"], 0, log)
        self.assertEqual({path for path in self.server.hits if path.startswith("/closes")},
                         {f"/closes/{page or ''}" for page in range(PAGES)}, "Walk has ended the crawl of Closes")
        del self.settings["TAMIS_SPIDER"]
        results, log = self.crawl("Cached")  # nothing is left, so it is taken
        self.assertEqual(results["cached"][2]["tamis/left"], 0, log)
        results, log = self.crawl("Slow", "Robots")  # at once, in one process
        self.assertEqual(len(results), 1, log)
        self.assertRegex(log, r"the queue 'shared' is in use by process \d+, a crawl of the spider spiders.Slow, whose callbacks "
                              "spiders.Robots need not have")

    def test_numbers_are_looked_at_when_the_crawl_starts(self):
        """With a lease of 0 each take() failed: the crawl did nothing, and did not end.  And with TAMIS_SEEN_WHEN, which is for the
        filter alone, an answer to a request that is not to be filtered was marked in it."""
        done = subprocess.run([self.python, "-c", REFUSED, json.dumps(self.settings)], cwd=self.directory, text=True,
                              capture_output=True, check=True)
        self.assertEqual(re.sub("[^\\n]*Warning.*", "", done.stdout).splitlines(), [
            "TAMIS_LEASE is a number from 0.1 on, not 0", "TAMIS_LEASE is a number from 0.1 on, not 'abc'",
            "TAMIS_LEASE is a number from 0.1 on, not -1", "TAMIS_LEASE is a number from 0.1 on, not 'nan'",
            "TAMIS_MAX_DEATHS is a number from 0 on, not -1", "False", "0"])

    def commands_that_look_at_a_page(self, project):
        """They saw the page the first time only, check said OK without a check, and shell waited for ever."""
        page = "http://127.0.0.1:%d/walk/" % self.server.server_port
        path = os.path.join(project, "crawls/spiders/walk.py")
        with open(path, encoding="utf-8") as file:
            spider = file.read()
        self.write(path, spider.replace("response):\n", f'response):\n        """@url {page}\n        @returns requests 4 4"""\n', 1))
        for command, said in ((["fetch", page], 'href="1"'), (["shell", page, "-c", "response.text"], 'href="1"'),
                              (["parse", "--spider", "walk", page], page + "2"), (["check", "walk"], "Ran 1 contract")):
            done = subprocess.run([self.python, "-m", "scrapy", *command], cwd=project, timeout=100, text=True, check=False,
                                  env={**os.environ, "SITE": page.rpartition("/walk")[0], "RESULTS": self.results},
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertIn(said, done.stdout, command)

    def test_project(self):
        self.write("project/scrapy.cfg", "[settings]\ndefault = crawls.settings\n")
        self.write("project/crawls/__init__.py", "")
        self.write("project/crawls/settings.py", 'SPIDER_MODULES = ["crawls.spiders"]\n'
                   + "".join(f"{name} = {value!r}\n" for name, value in self.settings.items()))
        self.write("project/crawls/spiders/__init__.py", "")
        self.write("project/crawls/spiders/walk.py", "\n".join(SPIDERS.split("class Errbacks")[0].split("\n")))
        project = os.path.join(self.directory, "project")
        results, log = self.run_it("-m", "scrapy", "crawl", "walk", directory=project)
        self.assertEqual(sorted(results["walk"][1]), self.pages(), log)
        with tamis.Frontier(self.path, "scrapy-walk") as frontier:
            frontier.push("work of a crawl")
            before = frontier.counts(), len(frontier.filter)
        self.commands_that_look_at_a_page(project)
        with tamis.Frontier(self.path, "scrapy-walk") as frontier:
            self.assertEqual((frontier.counts(), len(frontier.filter)), before)
            frontier.done(frontier.take())
        with tamis.Frontier(self.path, "scrapy-walk") as frontier:
            self.assertFalse(frontier.pending())


def pythons():
    """Debian's Scrapy where it is, as frontier_crawl_test.py has that of PyPI; with TAMIS_TEST_LONG=1 both."""
    debian = "/usr/bin/python3"
    found = [debian] if subprocess.run([debian, "-c", "import scrapy"], capture_output=True, check=False).returncode == 0 else []
    if not found or os.environ.get("TAMIS_TEST_LONG") == "1":
        found.append(pypi("scrapy"))
    return [python for python in found if python]


if __name__ == "__main__":
    found = pythons()
    if not found:
        skip("PyPI cannot be reached, and python3-scrapy is not installed")
    for number, python in enumerate(found):
        globals()[f"Users{number}"] = type(f"Users{number}", (Users,), {"python": python})
    unittest.main(argv=sys.argv + [f"Users{number}" for number in range(len(found))])
