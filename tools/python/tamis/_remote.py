# SPDX-License-Identifier: BSD-2-Clause
"""A filter on a Redis server with the module tamis.so, or on a cluster of such, by the client of the package redis
(Debian's python3-redis, or PyPI's).

docs/cluster.md has the rules: a filter is one key, or a hash that describes it and a key `name:{i}` for each shard.
"""

from __future__ import annotations

import os
import time
from typing import Any

from . import _tamis
from ._errors import ExistsError, InvalidError, MismatchError, NotFoundError, UnsupportedError
from ._store import rule_of

SCHEMES = ("redis://", "rediss://", "unix://")
SHARD_BYTES = 128 << 20  # the command makes shards of what is larger


def is_url(store: str) -> bool:
    return store.startswith(SCHEMES)


def _client(url: str) -> tuple[Any, bool]:
    """The client of the server, or of the cluster that it belongs to."""
    try:
        import redis
        import redis.cluster
    except ImportError as error:
        raise UnsupportedError(f"{url.split('@')[-1]!r} is a Redis server, and the Python package redis is missing; "
                               "install python3-redis, or `pip install redis`") from error
    options: dict[str, Any] = {"socket_timeout": 10, "socket_connect_timeout": 5}
    if os.environ.get("REDISCLI_AUTH") and "@" not in url:
        options["password"] = os.environ["REDISCLI_AUTH"]
    single = redis.Redis.from_url(url, **options)
    if not single.info("cluster").get("cluster_enabled"):
        return single, False
    single.close()
    return redis.cluster.RedisCluster.from_url(url, **options), True


class RemoteFilter:
    """What tamis.scrapy needs of a filter: add(), `in`, fill() and close()."""

    def __init__(self, url: str, name: str, capacity: int, fp_rate: float, window: float | None = None,
                 durable: bool = False, key_rule: str | None = None, wait: float = 30) -> None:
        import redis.exceptions

        self._client, self._is_cluster = _client(url)
        self._lost = (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError, redis.exceptions.TryAgainError,
                      redis.exceptions.ClusterDownError, redis.exceptions.BusyLoadingError)
        self._redis_error = redis.exceptions.ResponseError
        self._name, self._wait, self._shards = name, wait, 0
        self._key_rule = None if key_rule == "bytes" else key_rule and rule_of(key_rule)
        self.doubts = 0
        """Keys that were told as new because a connection broke, and another answer may have been lost."""
        try:
            self._open(capacity, fp_rate, window, durable)
        except BaseException:
            self._client.close()
            raise

    def _ask_once(self, command: str, key: str, *words: Any) -> Any:
        where = {}
        if self._is_cluster:  # a node that is named is asked once: what is asked twice is to be known here
            where["target_nodes"] = self._client.get_node_from_key(key)
        return self._client.execute_command(command, key, *words, **where)

    def _ask(self, command: str, key: str, *words: Any) -> tuple[Any, bool]:
        """The answer, and whether one before it may have been lost."""
        end, pause, was_lost = time.monotonic() + self._wait, 0.01, False
        while True:
            try:
                return self._ask_once(command, key, *words), was_lost
            except self._lost:
                was_lost = True
                if time.monotonic() > end:
                    raise
            except self._redis_error as error:
                if not str(error).startswith(("LOADING", "MASTERDOWN", "NOREPLICAS", "READONLY", "MOVED", "ASK")) \
                        or time.monotonic() > end:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, 1)
            try:
                if self._is_cluster:
                    self._client.nodes_manager.initialize()
            except Exception:  # no node answers; the next round tells
                pass

    def _open(self, capacity: int, fp_rate: float, window: float | None, durable: bool) -> None:
        kind = self._text(self._ask("TYPE", self._name)[0])
        if kind == "hash":
            fields = [self._text(field) for field in self._ask("HMGET", self._name, "tamis", "state", "shards", "key_rule")[0]]
            if fields[0] not in ("1", "2"):
                raise InvalidError(f"{self._name!r} is a hash of another program, or of a newer Tamis")
            if fields[1] != "ready":
                raise InvalidError(f"{self._name!r} is {fields[1]}; `tamis --store URL info {self._name}` says what ends it")
            self._shards = int(fields[2] or 0)
            self._agree(fields[3])
        elif kind == "none":
            self._make(capacity, fp_rate, window, durable)
        elif kind in ("string", "list", "set", "zset", "stream"):
            raise ExistsError(f"{self._name!r} is a {kind} on the server, not a filter; choose another TAMIS_FILTER")
        else:
            self._look_at_rule()

    def _agree(self, has: str | None) -> None:
        """Raises MismatchError where the filter has another key rule than the one that was asked for."""
        has = None if has == "bytes" else has
        if has != self._key_rule:
            raise MismatchError(f"{self._name!r} is there already with key rule {has or 'bytes'}, not {self._key_rule or 'bytes'}; "
                                "choose another name, or ask for what it is")

    def _look_at_rule(self) -> None:
        """A filter of Redis' own module has no TAMIS.INFO, and no rule."""
        try:
            answer = self._ask("TAMIS.INFO", self._name)[0]
        except self._redis_error:
            return self._agree(None)
        pairs = answer.items() if isinstance(answer, dict) else zip(answer[::2], answer[1::2])
        self._agree({self._text(name): self._text(value) for name, value in pairs}.get("key rule"))

    def _make(self, capacity: int, fp_rate: float, window: float | None, durable: bool) -> None:
        rule = f" --key-rule '{self._key_rule}'" if self._key_rule else ""
        if capacity * 20 * max(fp_rate ** -0.05, 1) / 8 > SHARD_BYTES:
            raise NotFoundError(f"{self._name!r} is not there, and is too large for one key; make it by "
                                f"`tamis --store URL create {self._name} -n {capacity} -p {fp_rate}{rule}`, in shards")
        words: list[Any] = [fp_rate, capacity]
        words += ["WINDOW", window] if window else []
        words += ["DURABLE"] if durable else []
        words += ["KEYRULE", self._key_rule] if self._key_rule else []
        try:
            self._ask("TAMIS.RESERVE", self._name, *words)
        except self._redis_error as error:
            if "exists" not in str(error):  # another process has made it meanwhile
                raise
            self._look_at_rule()

    @staticmethod
    def _text(value: Any) -> str | None:
        return value.decode() if isinstance(value, bytes) else value

    def _key_of(self, key: bytes) -> str:
        if not self._shards:
            return self._name
        return "%s:{%d}" % (self._name, _tamis.shard(key, self._shards, self._key_rule))

    def add(self, key: bytes) -> bool:
        """True: it was new.  A key in doubt is told as new: it is rather fetched twice than never."""
        answer, was_lost = self._ask("BF.INSERT", self._key_of(key), "NOCREATE", "ITEMS", key)
        is_new = bool(answer[0])
        if was_lost and not is_new:
            self.doubts += 1
            return True
        return is_new

    def __contains__(self, key: bytes) -> bool:
        return bool(self._ask("BF.EXISTS", self._key_of(key), key)[0])

    def _of(self, key: str) -> dict[str, Any]:
        answer = self._ask("BF.INFO", key)[0]
        pairs = answer.items() if isinstance(answer, dict) else zip(answer[::2], answer[1::2])
        return {str(self._text(name)): value for name, value in pairs}

    def fill(self) -> float:
        keys = ["%s:{%d}" % (self._name, i) for i in range(self._shards)] or [self._name]
        infos = [self._of(key) for key in keys]
        items, capacity = (sum(int(info[name]) for info in infos) for name in ("Number of items inserted", "Capacity"))
        return items / max(1, capacity)

    def close(self) -> None:
        self._client.close()
