# SPDX-License-Identifier: BSD-2-Clause
"""What loading.py and killed_loads.py share: filters of a store that a server is started beside."""
import json

from harness import eventually, filters, same, store_of, tamis

LOGGED = {"appendonly": "yes", "appendfsync": "always"}


def add_here(redis, key, *items):
    """A local process adds."""
    tamis("add", "--store", store_of(redis), key, text="\n".join(items))


def made_at(redis):
    """The times at which the store's filters were made."""
    lines = tamis("list", "--json", "--store", store_of(redis)).splitlines()
    return {told["name"]: told["created_at"] for told in map(json.loads, lines)}


def has(client, key, items, answers=1):
    same(client.good("BF.MEXISTS", key, *items), [answers] * len(items), f"{key}: {items[:3]}")


def is_tidy(redis, client, keys):
    """The store has one filter for each key."""
    try:
        eventually(lambda: filters(redis) == sorted(keys), "one filter for each key, under its name", 10)
    except AssertionError:
        print([tamis("info", "--store", store_of(redis), name) for name in sorted(set(filters(redis)) - set(keys))])
        print("too many", sorted(set(filters(redis)) - set(keys)), "too few", sorted(set(keys) - set(filters(redis))))
        raise
    same(client.good("TAMIS.ORPHANS", "LIST"), [], "no orphans")
