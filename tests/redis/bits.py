# SPDX-License-Identifier: BSD-2-Clause
"""bits.py MODULE TAMIS: SETBIT, GETBIT, BITCOUNT and STRLEN on filters of a PHP hash set.

It was seen to fail without the filter of commands.
"""
import json

from harness import refused, run, same, served, store_of, tamis

M = 100003


def positions(redis, name, key):
    return json.loads(tamis("explain", "--json", "--store", store_of(redis), name, key))["positions"]


def made(redis, name="k"):
    tamis("create", "--store", store_of(redis), name, "--hash-set", "php:bkdr,sdbm,js", "-m", M)
    redis.client().good("TAMIS.ATTACH", name)


def bits_are_those_of_the_keys():
    with served() as (redis, client):
        made(redis)
        for position in positions(redis, "k", "one"):
            same(client.good("SETBIT", "k", position, 1), 0, "a new bit")
        same(client.good("BF.EXISTS", "k", "one"), 1, "SETBIT has added the key")
        client.good("BF.ADD", "k", "two")
        same([client.good("GETBIT", "k", at) for at in positions(redis, "k", "two")], [1, 1, 1], "and the other way")
        same(client.good("SETBIT", "k", positions(redis, "k", "two")[0], 1), 1, "the bit from before")
        bits = set(positions(redis, "k", "one") + positions(redis, "k", "two"))
        same(client.good("BITCOUNT", "k"), len(bits), "BITCOUNT")
        same(client.good("STRLEN", "k"), (M + 7) // 8, "STRLEN")
        same(client.good("GETBIT", "k", 4294967295), 0, "past the end")
        refused(client("SETBIT", "k", M, 1), "ERR the bit cannot be set: ")
        refused(client("SETBIT", "k", -1, 1), "ERR bit offset is not an integer or out of range")
        refused(client("SETBIT", "k", 1, 2), "ERR bit is not an integer or out of range")
        refused(client("SETBIT", "k", min(bits), 0), "ERR the bits of a filter are not cleared")
        client.good("MULTI")
        client.good("SETBIT", "k", 5, 1)
        client.good("GETBIT", "k", 5)
        same(client.good("EXEC"), [0, 1], "MULTI")
        same(client.good("EVAL", "return redis.call('GETBIT', KEYS[1], 5)", 1, "k"), 1, "Lua")


def other_keys_are_the_servers():
    with served(appendonly="yes", appendfsync="always") as (redis, client):
        made(redis)
        client.good("SELECT", 2)
        same((client.good("SETBIT", "k", 7, 1), client.good("GETBIT", "k", 7)), (0, 1), "a string of the same name")
        same((client.good("BITCOUNT", "k"), client.good("STRLEN", "k"), client.good("GET", "k")), (1, 1, b"\x01"), "")
        client.good("SELECT", 0)
        client.good("SETBIT", "other", 0, 1)
        same(client.good("GET", "other"), b"\x80", "another key")
        client.good("BF.ADD", "bloom", "x")
        refused(client("SETBIT", "bloom", 0, 1), "WRONGTYPE")
        client.good("SETBIT", "k", 9, 1)
        client = redis.restart(kill=True)
        same(client.good("GETBIT", "k", 9), 1, "the filter")
        client.good("SELECT", 2)
        same(client.good("GETBIT", "k", 7), 1, "the string came with the AOF")


run(bits_are_those_of_the_keys, other_keys_are_the_servers)
