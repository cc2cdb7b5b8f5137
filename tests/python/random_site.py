# SPDX-License-Identifier: BSD-2-Clause
"""A site made of a seed, for crawl tests: random links, redirects and chains of them, errors, and answers in 0 to 50 ms.

    /N          page N with 0 to 9 links, to pages and redirects.  One in 25 is not found; with `failing` one in 25 answers 500 the
                first time, one in 50 always 503
    /r/N        a redirect, to a page or to a redirect of a lower number; nine in a hundred as many as pages
    /ready      a crawler that runs; / is answered when all have asked for it
"""

import asyncio
import collections
import random
import threading

SLOWEST = 0.05


class Site:
    def __init__(self, seed, pages, crawlers=1, slowest=SLOWEST, failing=True):
        self.random, self.slowest = random.Random(seed), slowest
        rng = random.Random(seed)
        self.redirects = [f"/{rng.randrange(pages)}" if not i or rng.random() < 0.6 else f"/r/{rng.randrange(i)}"
                          for i in range(max(1, pages * 9 // 100))]
        self.links = {f"/{page}": self.links_of(rng, pages) for page in range(pages)}
        kinds = {f"/{page}": rng.random() for page in range(1, pages)}
        self.missing = {path for path, kind in kinds.items() if kind < 0.04}
        self.failing_once = {path for path, kind in kinds.items() if failing and 0.04 <= kind < 0.08}
        self.failing = {path for path, kind in kinds.items() if failing and 0.08 <= kind < 0.1}
        self.links["/"] = ["/0", "/1"]
        self.answers = []  # (path, status, crawler)
        self.waiting_for = crawlers
        self.gate = threading.Event()
        self.changed = threading.Condition()

    def links_of(self, rng, pages):
        return [f"/r/{rng.randrange(len(self.redirects))}" if rng.random() < 0.1 else f"/{rng.randrange(pages)}"
                for _ in range(rng.randrange(10))]

    def next_of(self, path):
        """What a crawler finds there."""
        if path.startswith("/r/"):
            return [self.redirects[int(path[3:])]]
        return [] if path in self.missing or path in self.failing else self.links[path]

    def reachable(self):
        found, todo = {"/"}, ["/"]
        while todo:
            new = set(self.next_of(todo.pop())) - found
            found |= new
            todo += new
        return found

    def fetched(self):
        """{path: how often it was fetched}: answers of 500 are tried again, and so are those of 503, three times at most."""
        hits = collections.Counter(path for path, status, _ in self.answers if status < 500)
        for path, count in collections.Counter(path for path, status, _ in self.answers if status == 503).items():
            hits[path] = (count + 2) // 3
        return hits

    def shares(self):
        """{crawler: how many answers it got}."""
        return collections.Counter(crawler for _, _, crawler in self.answers)

    # The server, in a thread.

    def start(self):
        """Returns the URL."""
        started = threading.Event()
        self.loop = asyncio.new_event_loop()

        async def serve():
            self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=500)
            started.set()

        def run():
            asyncio.set_event_loop(self.loop)
            self.loop.run_until_complete(serve())
            self.loop.run_forever()
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
            self.loop.run_until_complete(asyncio.sleep(0))
            self.server.close()
            self.loop.close()

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()
        started.wait()
        return "http://127.0.0.1:%d" % self.server.sockets[0].getsockname()[1]

    def stop(self):
        self.gate.set()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    async def serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                path = head.split(" ", 2)[1]
                crawler = next((line[12:] for line in head.split("\r\n") if line.lower().startswith("user-agent: ")), "")
                writer.write(await self.answer(path, crawler))
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, path, crawler):
        if path == "/ready":
            self.waiting_for -= 1
            if self.waiting_for <= 0:
                self.gate.set()
            return self.response(200, "")
        while path == "/" and not self.gate.is_set():
            await asyncio.sleep(0.01)
        await asyncio.sleep(self.random.random() * self.slowest)
        status, extra = self.status_of(path)
        body = "".join(f'<a href="{link}">x</a> ' for link in self.next_of(path)) if status == 200 else ""
        self.answers.append((path, status, crawler))
        with self.changed:
            self.changed.notify_all()
        return self.response(status, body, extra)

    def status_of(self, path):
        if path.startswith("/r/"):
            return 302, f"Location: {self.redirects[int(path[3:])]}\r\n"
        if path in self.failing_once:
            self.failing_once.discard(path)
            return 500, ""
        return 404 if path in self.missing else 503 if path in self.failing else 200, ""

    @staticmethod
    def response(status, body, extra=""):
        body = f"<html>{body}</html>"
        return (f"HTTP/1.1 {status} X\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n{extra}\r\n{body}").encode()
