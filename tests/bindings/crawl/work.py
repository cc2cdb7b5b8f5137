# SPDX-License-Identifier: BSD-2-Clause
"""The queue of README.md, for crawlers in Python."""
import glob
import os
import time

FILE_URLS = 10
OVER_SECONDS = 1


class Work:
    def __init__(self, store, directory, name):
        self.queued, self.finished = store["queued"], store["finished"]
        self.directory, self.name, self.count, self.empty_since = directory, name, 0, None
        for part in ("claimed", "found"):
            os.makedirs(self.path(part, name), exist_ok=True)
            for file in os.scandir(self.path(part, name)):
                if file.name.endswith(".new"):
                    os.unlink(file.path)
                else:
                    os.rename(file.path, self.path("queue", file.name))

    def path(self, *parts):
        return os.path.join(self.directory, *parts)

    def claim(self):
        """Returns (file, its URLs that are to be fetched), or None if there is none now."""
        for file in sorted(os.listdir(self.path("queue"))):
            mine = self.path("claimed", self.name, file)
            try:
                os.rename(self.path("queue", file), mine)
            except FileNotFoundError:
                continue  # another crawler has it
            self.empty_since = None
            with open(mine) as lines:
                urls = lines.read().split()
            return mine, [url for url, done in zip(urls, self.finished.contains_many(urls)) if not done]
        return None

    def is_over(self):
        if any(glob.glob(self.path(part)) for part in ("queue/*", "claimed/*/*", "found/*/*")):
            self.empty_since = None
        elif self.empty_since is None:
            self.empty_since = time.monotonic()
        return self.empty_since is not None and time.monotonic() - self.empty_since > OVER_SECONDS

    def put(self, links):
        self.count += 1
        pid = f"{self.name}-{os.getpid()}-{self.count}"
        found = self.path("found", self.name, pid)
        with open(found, "w") as file:
            file.write("\n".join(links))
        new = [link for link, is_new in zip(links, self.queued.add_many(links)) if is_new]
        for i in range(0, len(new), FILE_URLS):
            with open(f"{found}-{i}.new", "w") as file:
                file.write("\n".join(new[i:i + FILE_URLS]))
            os.rename(f"{found}-{i}.new", self.path("queue", f"{pid}-{i}"))
        os.unlink(found)

    def finish(self, file, urls):
        self.finished.add_many(urls)
        os.unlink(file)
