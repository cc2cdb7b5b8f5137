# SPDX-License-Identifier: BSD-2-Clause
"""Scrapy's memory of the requests that it has seen, in a filter that many spiders and processes share.

In settings.py:

    DUPEFILTER_CLASS = "tamis.scrapy.DupeFilter"
    TAMIS_STORE = "/var/lib/crawl"

A request is told by the crawler's fingerprinter.  It is marked when it is scheduled: of all processes one schedules it,
and a crawl that is started again does not fetch it again.  What a process has scheduled and not fetched when it is killed
is in Scrapy's queue alone; JOBDIR keeps that over a stop of the spider.
"""

from __future__ import annotations

import datetime
import logging
import os
from typing import Any

from scrapy.dupefilters import BaseDupeFilter

from ._filter import Filter
from ._remote import RemoteFilter, is_url
from ._store import Store

logger = logging.getLogger(__name__)
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def seconds_of(window: Any) -> float | None:
    """A window out of the settings: seconds, a timedelta, or a number with s, m, h, d or w such as "30d"."""
    if not window:
        return None
    if isinstance(window, datetime.timedelta):
        return window.total_seconds()
    if isinstance(window, str) and window[-1:] in SECONDS:
        return float(window[:-1]) * SECONDS[window[-1]]
    return float(window)


def default_name(crawler: Any) -> str:
    """Of a filter: "scrapy-" and the name of the spider, which need not be that of its class."""
    return f"scrapy-{(crawler.spider or crawler.spidercls).name}"


class DupeFilter(BaseDupeFilter):
    """Answers whether any process has seen a request before.  The settings:

    TAMIS_STORE      the directory of the store, or the URL of a Redis server or cluster with tamis.so
                     (docs/cluster.md; needs the package redis); otherwise $TAMIS_STORE, or ~/.local/state/tamis
    TAMIS_FILTER     the name of the filter: "scrapy-" and the spider's name, which the spider may have set itself
    TAMIS_CAPACITY   requests for which the rate holds, before the filter grows: 1,000,000
    TAMIS_FP_RATE    share of new requests that are taken for seen, and are missed: 0.0001
    TAMIS_WINDOW     such as "30d": requests are forgotten after that, so pages are fetched again; none
    TAMIS_DURABLE    whether a power cut may not bring back what was scheduled: False
    """

    def __init__(self, seen: Filter | RemoteFilter, crawler: Any) -> None:
        self.seen = seen
        self.crawler = crawler
        self.tells_each = crawler.settings.getbool("DUPEFILTER_DEBUG")
        self.tells_first = True

    @classmethod
    def from_crawler(cls, crawler: Any) -> DupeFilter:
        settings = crawler.settings
        path = settings.get("TAMIS_STORE") or os.environ.get("TAMIS_STORE") or "~/.local/state/tamis"
        spec = (settings.get("TAMIS_FILTER") or default_name(crawler),
                settings.getint("TAMIS_CAPACITY", 1_000_000), settings.getfloat("TAMIS_FP_RATE", 0.0001))
        options = {"window": seconds_of(settings.get("TAMIS_WINDOW")), "durable": settings.getbool("TAMIS_DURABLE")}
        if is_url(path):
            return cls(RemoteFilter(path, *spec, **options), crawler)
        return cls(Store(os.path.expanduser(path)).open_or_create(*spec, **options), crawler)

    def request_seen(self, request: Any) -> bool:
        is_new = self.seen.add(self.crawler.request_fingerprinter.fingerprint(request))
        self.crawler.stats.inc_value("tamis/new" if is_new else "tamis/seen")
        return not is_new

    def close(self, reason: str) -> None:
        """At the end of the crawl: the filter is brought to the disk, and the stats get how full it is."""
        if isinstance(self.seen, RemoteFilter):
            fill = self.seen.fill()
            self.crawler.stats.set_value("tamis/doubt", self.seen.doubts)
        else:
            stat = self.seen.stat
            fill = stat.items / stat.capacity
        self.crawler.stats.set_value("tamis/fill", fill)
        self.seen.close()

    def log(self, request: Any, spider: Any) -> None:
        """Tells of the first request that is left out, or of each with DUPEFILTER_DEBUG."""
        if self.tells_each or self.tells_first:
            rest = "" if self.tells_each else " - set DUPEFILTER_DEBUG to see all of them"
            logger.debug("seen before: %s%s", request, rest, extra={"spider": spider})
        self.tells_first = False
        self.crawler.stats.inc_value("dupefilter/filtered")
