# SPDX-License-Identifier: BSD-2-Clause
"""pulled.py MODULE TAMIS: the list of every night in a server, as docs/redis.md has it: by TAMIS.LOAD and RENAME, and by
`tamis pull` into the server's own store.  Clients that ask meanwhile get the answers of one list, never of both.

Seen to fail with BF.EXISTS of one key after the other in the place of one BF.MEXISTS: then some answers are of one list,
and some of the other.
"""
import os

from harness import beside, refused, run, same, served, store_of, tamis

NIGHTS = 6
COUNT = 2000


def keys_of(night):
    return [f"night {night} key {i}" for i in range(COUNT)]


def stream(redis, night):
    """The list of one night, from another store.  Its path."""
    builder = os.path.join(redis.directory, "builder")
    path = os.path.join(redis.directory, "tonight")
    tamis("build", "--store", builder, "list", "--kind", "blocked", "-p", "1e-9", text="".join(f"{key}\n" for key in keys_of(night)))
    tamis("export", "--store", builder, "list", "--to", "tamis", "--digest", path, "--force")
    return path


def asked(client, torn):
    """Asks for one key in 20 of each two nights that follow each other: the answers are all yes for one of them."""
    sample = [keys_of(night)[::20] for night in range(NIGHTS)]
    while True:
        answers = client.good("BF.MEXISTS", "list", *(key for keys in sample for key in keys))
        each = [answers[night * len(sample[0]):(night + 1) * len(sample[0])] for night in range(NIGHTS)]
        whole = [sum(part) for part in each]
        if sorted(whole) != [0] * (NIGHTS - 1) + [len(sample[0])]:
            torn.append(whole)
        yield


def a_list_is_loaded_and_renamed():
    with served() as (redis, client):
        torn = []

        def load(night):
            with open(stream(redis, night), "rb") as file:
                client.good("TAMIS.LOAD", "list:new", file.read())
            client.good("RENAME", "list:new", "list")

        load(0)
        with beside(asked(redis.client(), torn)):
            for night in range(1, NIGHTS):
                load(night)
        same(torn, [], "answers of two lists")
        same(client.good("BF.MEXISTS", "list", *keys_of(NIGHTS - 1)), [1] * COUNT, "the last list")

        # A list that was cut makes nothing, and takes nothing away.
        with open(stream(redis, 0), "rb") as file:
            data = file.read()
        refused(client("TAMIS.LOAD", "list:new", data[:-100]), "ERR", "half a list")
        same(client.good("EXISTS", "list:new"), 0, "no key of half a list")
        same(client.good("BF.MEXISTS", "list", *keys_of(NIGHTS - 1)), [1] * COUNT, "the list in force")


def a_list_is_pulled_into_the_store_of_the_server():
    with served() as (redis, client):
        torn = []

        def pull(night):
            tamis("pull", "--store", store_of(redis), "list", "file://" + stream(redis, night), "-q")

        pull(0)
        client.good("TAMIS.ATTACH", "list", "list")
        with beside(asked(redis.client(), torn)):
            for night in range(1, NIGHTS):
                pull(night)
        same(torn, [], "answers of two lists")
        same(client.good("BF.MEXISTS", "list", *keys_of(NIGHTS - 1)), [1] * COUNT, "the last list")
        tamis("rollback", "--store", store_of(redis), "list")
        same(client.good("BF.MEXISTS", "list", *keys_of(NIGHTS - 2)), [1] * COUNT, "after a rollback")


run(a_list_is_loaded_and_renamed, a_list_is_pulled_into_the_store_of_the_server)
