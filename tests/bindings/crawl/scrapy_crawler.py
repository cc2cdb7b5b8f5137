# SPDX-License-Identifier: BSD-2-Clause
"""scrapy_crawler.py STORE QUEUE NAME SITE: a crawler of README.md, by Scrapy.  (tamis.scrapy.Scheduler needs no such queue; it is for crawls of
Scrapy alone.)"""
import sys

import scrapy
import tamis
from scrapy.crawler import CrawlerProcess
from twisted.internet import task
from work import Work

STORE, QUEUE, NAME, SITE = sys.argv[1:]
FILES = 4  # in hand


class Walk(scrapy.Spider):
    name = "walk"
    custom_settings = {"DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter", "REDIRECT_ENABLED": False, "RETRY_ENABLED": False,
                       "HTTPERROR_ALLOW_ALL": True, "USER_AGENT": NAME, "TELNETCONSOLE_ENABLED": False, "LOG_LEVEL": "WARNING",
                       "ROBOTSTXT_OBEY": False}

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.stay, scrapy.signals.spider_idle)
        return spider

    def start_requests(self):
        yield scrapy.Request(SITE + "/ready", callback=self.begin)

    def begin(self, response):
        self.work, self.files = Work(tamis.Store(STORE), QUEUE, NAME), {}
        self.loop = task.LoopingCall(self.look)
        self.loop.start(0.05)

    def stay(self):
        raise scrapy.exceptions.DontCloseSpider

    def look(self):
        while len(self.files) < FILES:
            claimed = self.work.claim()
            if claimed is None:
                break
            file, urls = claimed
            self.files[file] = {"todo": set(urls), "urls": urls, "links": []}
            for url in urls:
                self.crawler.engine.crawl(scrapy.Request(url, self.parse, errback=self.fail, cb_kwargs={"file": file}))
            self.end(file)
        if not self.files and self.work.is_over():
            self.loop.stop()
            self.crawler.engine.close_spider(self, "finished")

    def parse(self, response, file):
        links = [response.urljoin(response.headers["Location"].decode())] if "Location" in response.headers else []
        if response.status == 200:
            links += [response.urljoin(link) for link in response.css("a::attr(href)").getall()]
        self.files[file]["links"] += links
        self.files[file]["todo"].discard(response.request.url)
        self.end(file)

    def fail(self, failure):
        raise failure.value

    def end(self, file):
        """All of a file is fetched: its links come into the queue before it goes."""
        if not self.files[file]["todo"]:
            self.work.put(self.files[file]["links"])
            self.work.finish(file, self.files.pop(file)["urls"])


process = CrawlerProcess()
process.crawl(Walk)
process.start()
