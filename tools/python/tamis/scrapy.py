# SPDX-License-Identifier: BSD-2-Clause
"""Scrapy's queue of requests, and its memory of those that it has seen, which many spiders and processes share.

In settings.py:

    SCHEDULER = "tamis.scrapy.Scheduler"
    TAMIS_STORE = "/var/lib/crawl"

All processes work on one queue, and what a process had in hand when it died is given to the others (_scheduler.py).

With DUPEFILTER_CLASS = "tamis.scrapy.DupeFilter" in place of SCHEDULER they share the memory alone.  A request is marked when
it is scheduled: of all processes one schedules it.  What a process has scheduled and not fetched when it is killed is in its
own memory, and nobody fetches it then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dupefilter import DupeFilter as DupeFilter
from ._dupefilter import default_name as default_name
from ._dupefilter import store_path as store_path

if TYPE_CHECKING:
    from ._scheduler import Scheduler as Scheduler

if not TYPE_CHECKING:

    def __getattr__(name):
        """The Scheduler alone needs sqlite3, so it is loaded when it is asked for."""
        if name != "Scheduler":
            raise AttributeError(f"module 'tamis.scrapy' has no attribute '{name}'")
        from ._scheduler import Scheduler as scheduler

        return scheduler
