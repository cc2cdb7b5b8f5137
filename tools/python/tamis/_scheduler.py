# SPDX-License-Identifier: BSD-2-Clause
"""Scrapy's scheduler on a Frontier; users name it tamis.scrapy.Scheduler.

    spider ---enqueue_request()---> inbox --+                                      +--> ready ---next_request()---> engine
                                            +-- one transaction, each TICK at most-+
    engine: request has left the slot ------+     (new requests, parents that are done)

A request is done when it has left the engine's slot: its callback or errback was consumed to the end, its items went through
the pipelines, or a middleware has dropped it or put another one in its place.  What it has yielded is in the inbox then,
or in the frontier before, so the transaction that ends a parent has its children.
"""

from __future__ import annotations

import itertools
import logging
import os
import pickle
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from scrapy import signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.core.scheduler import Scheduler as OwnOfScrapy
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.misc import load_object
from scrapy.utils.request import request_from_dict

from . import Frontier, Item  # which says what to do where there is no sqlite3
from ._dupefilter import DupeFilter, store_path
from ._errors import BusyError, Error, InvalidError, MismatchError, UnsupportedError
from ._remote import is_url

logger = logging.getLogger(__name__)
TICK = 0.025  # seconds: how late others see what was found, and how late an idle process sees their work
LOOK = 0.25  # seconds: how often an idle process looks for dead owners when nobody has changed the queue
HANDFUL = 16  # requests that are taken at once; beyond it they would wait here while others are idle
FULL = 500  # new requests that are not kept in memory for a whole tick
TRIES = 15  # of two seconds, if another has the lock, at the start and at the end
HIGHEST = (1 << 63) - 1


def looks_at_pages(crawler: Any) -> bool:
    """Whether this is no crawl, but scrapy's command fetch, view, parse, check, shell or bench: these replace what the spider
    starts with, and shell has settings of its own.  They must neither take the crawl's work nor be told that a page was seen."""
    starts = (getattr(crawler.spider or crawler.spidercls, name, None) for name in ("start", "start_requests"))
    of_shell = (crawler.settings.getpriority(name) for name in ("DUPEFILTER_CLASS", "LOGSTATS_INTERVAL"))
    return (any((getattr(start, "__module__", None) or "").startswith("scrapy.commands.") for start in starts)
            or SETTINGS_PRIORITIES["command"] in of_shell)


def setting(settings: Any, name: str, default: float, least: float) -> float:
    """The number that a setting has.  A bad one ends the crawl at its start, by InvalidError: else each request would fail."""
    value = settings.get(name, default)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not least <= number < float("inf"):
        raise InvalidError(f"{name} is a number from {least:g} on, not {value!r}")
    return number


def claim(frontier: Frontier, spider: str) -> None:
    """Makes the queue that of this spider.  Raises MismatchError where it has requests of another one: a request has the name
    of its callback alone, and another class has none of that name, or one that is for other pages."""
    for tries_left in reversed(range(TRIES)):
        try:
            found = frontier._claim(spider)
            break
        except BusyError:
            if not tries_left:
                raise
    if found is None:
        return
    other, left, aside, pid = found
    has = (f"is in use by process {pid}, a crawl" if not left else
           f"has {left} requests" + (f" ({aside} of them set aside)" if aside else ""))
    raise MismatchError(f"the queue {frontier.name!r} {has} of the spider {other}, whose callbacks {spider} need not have: give "
                        f"one of them another TAMIS_QUEUE, or let the crawl of {other} end first. If this is the same spider under "
                        f"a new name, or both are to share the queue, set TAMIS_SPIDER = {other!r} here")


class Scheduler(BaseScheduler):
    """A queue of requests that all processes of the store share, with the filter of tamis.scrapy.DupeFilter in it.

    Its settings are those of the DupeFilter, and

    TAMIS_QUEUE        the name of the queue: that of the filter
    TAMIS_SPIDER       whose requests the queue has, and takes no others while it has any: the spider's class, with its module
    TAMIS_LEASE        seconds after which the requests of a process that was stopped are handed out again: 60
    TAMIS_MAX_DEATHS   a request is set aside when so many processes died that had it in hand; 0: never: 20
    TAMIS_START_AGAIN  whether each start of a process fetches the spider's start requests again: False

    Commands that look at a page, such as `scrapy shell`, get Scrapy's own scheduler.  docs/python.md of the source says what is
    fetched twice, and docs/frontier.md why nothing is lost.
    """

    def __init__(self, crawler: Any, dupefilter: Any, frontier: Frontier, lease: float) -> None:
        settings = crawler.settings
        self.crawler, self.df, self.frontier = crawler, dupefilter, frontier
        self.stats = crawler.stats
        self.lease = lease
        self.starts_again = settings.getbool("TAMIS_START_AGAIN")
        self.tells_unserializable = settings.getbool("SCHEDULER_DEBUG")
        self.spider: Any = None
        self._sync_after, frontier._done_limit = frontier._done_limit, 1 << 62  # the reactor does not wait for it: _sync()
        self._inbox: list[tuple[bytes | None, bytes, int]] = []
        self._inbox_keys: dict[bytes, Any] = {}  # the request of each, to tell of it if it was not new
        self._ready: deque[tuple[Any, Item]] = deque()
        self._in_hand: dict[Any, Item] = {}  # requests that the engine has
        self._done: list[Item] = []
        self._memory: list[tuple[int, int, Any]] = []  # requests that cannot be stored; the highest priority last
        self._order = itertools.count(0, -1)
        self._next_take = self._next_look = self._next_renewal = 0.0
        self._trouble = ""
        self._loop: Any = None
        self._syncing: threading.Thread | None = None

    @classmethod
    def from_crawler(cls, crawler: Any) -> Scheduler | OwnOfScrapy:
        if looks_at_pages(crawler):
            logger.info("this is no crawl, so the queue of tamis.scrapy.Scheduler is left alone")
            return OwnOfScrapy.from_crawler(crawler)
        settings, path = crawler.settings, store_path(crawler.settings)
        if is_url(path):
            raise UnsupportedError("tamis.scrapy.Scheduler keeps its queue in a directory, and TAMIS_STORE is a Redis "
                                   "server; give a directory, or use tamis.scrapy.DupeFilter alone")
        if settings.get("JOBDIR"):
            logger.info("JOBDIR is not needed for requests: tamis.scrapy.Scheduler keeps them in the store")
        chosen = load_object(settings["DUPEFILTER_CLASS"])
        if not issubclass(chosen, DupeFilter):
            if not chosen.__module__.startswith("scrapy."):
                logger.warning("DUPEFILTER_CLASS %s is not used: tamis.scrapy.Scheduler decides with its queue what is new",
                               settings["DUPEFILTER_CLASS"])
            chosen = DupeFilter
        lease, max_deaths = setting(settings, "TAMIS_LEASE", 60, 0.1), setting(settings, "TAMIS_MAX_DEATHS", 20, 0)
        dupefilter = chosen.from_crawler(crawler)
        if dupefilter.when == "response":
            logger.warning("TAMIS_SEEN_WHEN is not used: tamis.scrapy.Scheduler loses nothing without it")
            crawler.signals.disconnect(dupefilter.mark, signal=signals.response_received)
        name = settings.get("TAMIS_QUEUE") or dupefilter.seen.name
        frontier = Frontier(os.path.expanduser(path), name, filter=dupefilter.seen, busy_timeout=2,
                            max_deaths=int(max_deaths))
        spider = crawler.spidercls
        try:
            claim(frontier, str(settings.get("TAMIS_SPIDER") or f"{spider.__module__}.{spider.__qualname__}"))
        except Error:
            frontier.close()
            dupefilter.seen.close()
            raise
        return cls(crawler, dupefilter, frontier, lease)

    # What the engine calls.

    def open(self, spider: Any) -> Any:
        self.spider = spider
        slot = self._slot
        if getattr(slot, "start_requests", None) is not None:  # before Scrapy 2.13, which marks them itself
            slot.start_requests = self._marked(slot.start_requests)
        count = len(self.frontier)
        if count:
            logger.info("Resuming crawl (%d requests scheduled)", count, extra={"spider": spider})
        self._loop = self._start_loop()
        return self.df.open()

    def enqueue_request(self, request: Any) -> bool:
        key = self._key_of(request)
        if key is not None and (key in self._inbox_keys or key in self.frontier.filter):
            self._tell_filtered(request)
            return False
        try:
            priority = max(-HIGHEST, min(request.priority, HIGHEST))
            entry = key, pickle.dumps(request.to_dict(spider=self.spider), protocol=4), priority
        except (ValueError, pickle.PicklingError, AttributeError, TypeError, RecursionError) as error:
            return self._keep_in_memory(key, request, error)
        self._inbox.append(entry)
        if key is not None:
            self._inbox_keys[key] = request
        if len(self._inbox) >= FULL:
            self._exchange(0)
        return True

    def next_request(self) -> Any:
        if self._memory:
            self._count("dequeued", "memory")
            return self._memory.pop()[2]
        if not self._ready and time.monotonic() >= self._next_take:
            self._exchange(HANDFUL)
        if not self._ready:
            return None
        request, item = self._ready.popleft()
        self._in_hand[request] = item
        self._count("dequeued", "tamis")
        return request

    def has_pending_requests(self) -> bool:
        if self._memory or self._ready or self._inbox:
            return True
        self._collect()
        if self._done and not self._exchange(0):
            return True
        try:
            return self.frontier.pending()
        except Error as error:
            self._tell_trouble(error)
            return True

    def __len__(self) -> int:
        return len(self._memory) + len(self._inbox) + len(self.frontier)

    def close(self, reason: str) -> Any:
        if self._loop is not None:
            self._loop.stop()
        if self._syncing is not None:
            self._syncing.join()
        self._collect()
        for _ in range(TRIES):
            if self._exchange(0):
                break
        else:
            logger.error("%d requests could not be put into the queue (%s); the pages that link to them will be fetched again",
                         len(self._inbox), self._trouble, extra={"spider": self.spider})
        if self.stats.get_value("tamis/seen") and not self.stats.get_value("scheduler/dequeued"):
            logger.warning("this process had nothing to fetch: its start requests were seen before, and the queue is empty. To "
                           "fetch them again, set TAMIS_START_AGAIN; to crawl all again, give another TAMIS_FILTER, or a "
                           "TAMIS_WINDOW (docs/python.md, Scrapy)", extra={"spider": self.spider})
        if self._memory:
            logger.warning("%d requests that cannot be stored are lost (SCHEDULER_DEBUG tells why)", len(self._memory),
                           extra={"spider": self.spider})
        try:
            counts = self.frontier.counts()
            if counts["aside"]:
                logger.warning("%d requests are set aside; tamis.Frontier(...).aside() lists them", counts["aside"],
                               extra={"spider": self.spider})
            self.stats.set_value("tamis/aside", counts["aside"])
            self.stats.set_value("tamis/given_again", self.frontier.given_again)
            self.frontier.close()
            self.stats.set_value("tamis/left", counts["waiting"] + counts["out"] + counts["later"])
        except Error as error:
            logger.error("the queue was not closed in order: %s", error, extra={"spider": self.spider})
        return self.df.close(reason)

    # Which requests are one, and which are not looked at.

    def _key_of(self, request: Any) -> bytes | None:
        """The key by which a request is filtered; None for one that is to pass."""
        if request.dont_filter and not self._is_start(request):
            return None
        return self.df.key_of(request)  # type: ignore[no-any-return]

    def _is_start(self, request: Any) -> bool:
        """Whether it passes Scrapy's filter only because each start of a process makes it anew, as it is or redirected.
        Its own retries, and a redirection to itself, are to pass."""
        meta = request.meta
        if self.starts_again or not meta.get("is_start_request"):
            return False
        hops = meta.get("redirect_times", 0)
        if hops <= meta.get("tamis_start", -1) or request.url in meta.get("redirect_urls", ()):
            return False
        meta["tamis_start"] = hops  # in all that is made of this request: they are no start requests
        return True

    @staticmethod
    def _marked(requests: Iterable[Any]) -> Iterator[Any]:
        for request in requests:
            request.meta["is_start_request"] = True
            yield request

    def _tell_filtered(self, request: Any) -> None:
        self.stats.inc_value("tamis/seen")
        self.df.log(request, self.spider)

    def _keep_in_memory(self, key: bytes | None, request: Any, error: Exception) -> bool:
        if self.tells_unserializable:
            logger.warning("Unable to serialize request: %s - reason: %s - it stays in the memory of this process; no more "
                           "unserializable requests will be logged (stats being collected)", request, error,
                           extra={"spider": self.spider})
            self.tells_unserializable = False
        self.stats.inc_value("scheduler/unserializable")
        # A start request is made again at each start.  Were it marked, and its process killed, the next one had no start.
        if key is not None and not request.dont_filter and not self.frontier.filter.add(key):
            self._tell_filtered(request)
            return False
        self._memory.append((request.priority, next(self._order), request))
        self._memory.sort(key=lambda kept: kept[:2])
        self._count("enqueued", "memory")
        return True

    def _count(self, what: str, where: str) -> None:
        self.stats.inc_value(f"scheduler/{what}")
        self.stats.inc_value(f"scheduler/{what}/{where}")

    # Between this process and the frontier.

    @property
    def _slot(self) -> Any:
        engine = self.crawler.engine
        return getattr(engine, "_slot", None) or getattr(engine, "slot", None)

    def _start_loop(self) -> Any:
        try:
            from scrapy.utils.asyncio import create_looping_call as make
        except ImportError:  # before Scrapy 2.13
            from twisted.internet.task import LoopingCall as make
        loop = make(self._tick)
        loop.start(TICK, now=False)
        return loop

    def _tick(self) -> None:
        """Runs once a TICK: puts what was found into the frontier, and wakes an idle engine if others have left work."""
        now = time.monotonic()
        self._collect()
        if self._inbox or self._done:
            self._exchange(0)
        if self._in_hand and now >= self._next_renewal:
            self._renew(now)
        if not self._ready and not self._memory:
            self._look(now)

    def _look(self, now: float) -> None:
        """Wakes the engine if another process has changed the queue, or if one may have died."""
        try:
            if self.frontier.changed() or now >= self._next_look:
                self._next_take = min(now, self._next_take)
                slot = self._slot
                if slot is not None:
                    slot.nextcall.schedule()
        except Error as error:
            self._tell_trouble(error)

    def _collect(self) -> None:
        """Requests that have left the engine are done."""
        slot = self._slot
        if slot is not None and self._in_hand:
            gone = [request for request in self._in_hand if request not in slot.inprogress]
            self._done += [self._in_hand.pop(request) for request in gone]

    def _exchange(self, wanted: int) -> bool:
        """New requests and done ones go into the frontier, and up to `wanted` come out.  False: it could not be done now,
        and all is kept for the next time."""
        self._collect()
        try:
            self._send()
            if wanted:
                self._take(wanted)
        except Error as error:
            self._next_take = time.monotonic() + 1
            self._tell_trouble(error)
            return False
        self._trouble = ""
        return True

    def _send(self) -> None:
        if not self._inbox and not self._done:
            return
        inbox, done = self._inbox, self._done
        answers, ended = self.frontier._push(inbox, done)
        requests, self._inbox, self._inbox_keys, self._done = self._inbox_keys, [], {}, []
        lost = len(ended) - sum(ended)
        if lost:
            self.stats.inc_value("tamis/done_by_others", lost)
        for (key, _, _), is_new in zip(inbox, answers):
            if is_new:
                self._count("enqueued", "tamis")
                if key is not None:
                    self.stats.inc_value("tamis/new")
            elif key is not None:
                self._tell_filtered(requests[key])
                self.crawler.signals.send_catch_log(signals.request_dropped, request=requests[key], spider=self.spider)
        self._sync()

    def _take(self, wanted: int) -> None:
        """Takes up to `wanted` requests.  Where few wait it takes fewer, and leaves half of them for the other owners."""
        now = time.monotonic()
        available, owners = self.frontier._available(2 * wanted)
        if not available and now < self._next_look:
            return
        is_scarce = owners > 1 and available < 2 * wanted
        if is_scarce:
            wanted = max(1, available // (2 * owners))
        items = self.frontier.take(wanted, lease=self.lease)
        if is_scarce or not items:
            self._next_take = now + TICK
        if not items:
            self._next_look = now + LOOK
        for item in items:
            request = self._request_of(item)
            if request is not None:
                self._ready.append((request, item))

    def _request_of(self, item: Item) -> Any:
        try:
            return request_from_dict(pickle.loads(item.payload), spider=self.spider)  # type: ignore[arg-type]
        except Exception as error:
            logger.error("a request of the queue cannot be read and is set aside: %s", error, exc_info=True,
                         extra={"spider": self.spider})
            self.frontier.failed(item, aside=True, note=f"cannot be read: {error}")
            return None

    def _renew(self, now: float) -> None:
        self._next_renewal = now + self.lease / 4
        try:
            self.frontier.renew([*self._in_hand.values(), *(item for _, item in self._ready)], lease=self.lease)
        except Error as error:
            self._tell_trouble(error)

    def _sync(self) -> None:
        """Once enough is done, a thread brings the filter to the disk, and then deletes the done entries."""
        if self.frontier._done_kept >= self._sync_after and (self._syncing is None or not self._syncing.is_alive()):
            self._syncing = threading.Thread(target=self._checkpoint, daemon=True)
            self._syncing.start()

    def _checkpoint(self) -> None:
        try:
            self.frontier.checkpoint()
        except Error as error:
            logger.error("the filter was not brought to the disk: %s", error)

    def _tell_trouble(self, error: Error) -> None:
        """Logs a trouble once: what has met it is tried again each second, and would log the same."""
        if str(error) != self._trouble:
            self._trouble = str(error)
            logger.log(logging.WARNING if isinstance(error, BusyError) else logging.ERROR,
                       "the queue cannot be used now, nothing is lost, and it is tried again: %s", error,
                       extra={"spider": self.spider})
