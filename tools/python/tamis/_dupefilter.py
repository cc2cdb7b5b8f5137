# SPDX-License-Identifier: BSD-2-Clause
"""tamis.scrapy.DupeFilter, and the settings that it shares with the Scheduler."""

from __future__ import annotations

import logging
import os
from typing import Any

from scrapy import signals
from scrapy.dupefilters import BaseDupeFilter

from ._errors import InvalidError
from ._filter import Filter
from ._remote import RemoteFilter, is_url
from ._store import Store, seconds_of

logger = logging.getLogger("tamis.scrapy")


def default_name(crawler: Any) -> str:
    """The name of the filter: "scrapy-" and the name of the spider, which need not be that of its class."""
    return f"scrapy-{(crawler.spider or crawler.spidercls).name}"


def store_path(settings: Any) -> str:
    """The directory or URL of the store."""
    return str(settings.get("TAMIS_STORE") or os.environ.get("TAMIS_STORE") or "~/.local/state/tamis")


class DupeFilter(BaseDupeFilter):
    """Answers whether any process has seen a request before.  The settings:

    TAMIS_STORE      the directory of the store, or the URL of a Redis server or cluster with tamis.so
                     (docs/cluster.md; needs the package redis); otherwise $TAMIS_STORE, or ~/.local/state/tamis
    TAMIS_FILTER     the name of the filter: "scrapy-" and the spider's name, which the spider may have set itself
    TAMIS_CAPACITY   requests for which the rate holds, before the filter grows: 1,000,000
    TAMIS_FP_RATE    share of new requests that are taken for seen, and are missed: 0.0001
    TAMIS_WINDOW     such as "30d": requests are forgotten after that, so pages are fetched again; none
    TAMIS_KEY_RULE   such as "url:sort": the key of a GET request without a body is its URL by this rule (docs/keys.md), so that
                     programs in other languages can share the filter; all other requests, and all without this setting,
                     have Scrapy's fingerprint as their key
    TAMIS_DURABLE    whether a power cut may not bring back what was scheduled: False
    TAMIS_SEEN_WHEN  "scheduled": at most one process fetches a request, and a killed one loses what it had scheduled;
                     "response": it is marked when its response has come, so it may be fetched again, but is not
                     lost before; "scheduled"
    """

    __module__ = "tamis.scrapy"  # where users import it from

    def __init__(self, seen: Filter | RemoteFilter, crawler: Any) -> None:
        self.seen = seen
        self.crawler = crawler
        rule = crawler.settings.get("TAMIS_KEY_RULE")
        self.takes_urls = rule is not None and rule != "bytes"
        self.tells_each = crawler.settings.getbool("DUPEFILTER_DEBUG")
        self.tells_first = True
        self.new = self.filtered = 0
        self.when = str(crawler.settings.get("TAMIS_SEEN_WHEN") or "scheduled")
        if self.when not in ("scheduled", "response"):
            raise InvalidError(f"TAMIS_SEEN_WHEN is 'scheduled' or 'response', not {self.when!r}")
        self.scheduled: set[bytes] = set()  # by this process, and not answered yet; for "response"
        if self.when == "response":
            crawler.signals.connect(self.mark, signal=signals.response_received)

    @classmethod
    def from_crawler(cls, crawler: Any) -> DupeFilter:
        settings = crawler.settings
        path = store_path(settings)
        spec = (settings.get("TAMIS_FILTER") or default_name(crawler),
                settings.getint("TAMIS_CAPACITY", 1_000_000), settings.getfloat("TAMIS_FP_RATE", 0.0001))
        window = settings.get("TAMIS_WINDOW")
        options = {"window": seconds_of(window) if window else None, "durable": settings.getbool("TAMIS_DURABLE"),
                   "key_rule": settings.get("TAMIS_KEY_RULE")}
        if is_url(path):
            return cls(RemoteFilter(path, *spec, **options), crawler)
        return cls(Store(os.path.expanduser(path)).open_or_create(*spec, **options), crawler)

    def key_of(self, request: Any) -> bytes:
        """The key of a request in the filter.  It is the same for all requests that are to be fetched once."""
        if self.takes_urls and request.method == "GET" and not request.body:
            return bytes(request.url.encode())
        return bytes(self.crawler.request_fingerprinter.fingerprint(request))

    def request_seen(self, request: Any) -> bool:
        key = self.key_of(request)
        if self.when == "scheduled":
            is_new = self.seen.add(key)
        else:
            is_new = key not in self.scheduled and key not in self.seen
            if is_new:
                self.scheduled.add(key)
        self.new += is_new
        self.filtered += not is_new
        self.crawler.stats.inc_value("tamis/new" if is_new else "tamis/seen")
        return not is_new

    def mark(self, request: Any, **_: Any) -> None:
        """A response has come, to this request and to those that were redirected to it."""
        for url in (request.url, *request.meta.get("redirect_urls", ())):
            asked = request if url == request.url else request.replace(url=url)
            key = self.key_of(asked)
            self.scheduled.discard(key)
            self.seen.add(key)

    def close(self, reason: str) -> None:
        """At the end of the crawl: the filter is brought to the disk, and the stats get how full it is."""
        if self.filtered and not self.new:
            logger.warning("nothing was new in this crawl: all %d requests were seen before, by this spider or another. If a "
                           "process was stopped or killed, what it had scheduled is fetched by nobody; SCHEDULER = "
                           "'tamis.scrapy.Scheduler' keeps it for the next one (docs/python.md, Scrapy). To crawl all again, "
                           "give another TAMIS_FILTER, or a TAMIS_WINDOW", self.filtered)
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
