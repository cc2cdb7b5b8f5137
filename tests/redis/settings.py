# SPDX-License-Identifier: BSD-2-Clause
"""settings.py MODULE TAMIS: RedisBloom's names of settings, which are ours by other names.

Redis 8 has them registered; for other servers a filter of commands turns CONFIG GET and CONFIG SET of them.
"""
import os
import tempfile

from harness import MODULE, refused, run, same, served, server

OLD = {"bf-error-rate": ("default-rate", "0.01", "0.02"), "bf-initial-size": ("default-capacity", "100", "200"),
       "bf-expansion-factor": ("expansion", "2", "3"), "cf-initial-size": ("cf-capacity", "1024", "2048"),
       "cf-bucket-size": ("cf-bucket-size", "2", "3"), "cf-max-iterations": ("cf-max-iterations", "20", "30"),
       "cf-expansion-factor": ("cf-expansion", "1", "2"), "cf-max-expansions": ("cf-max-expansions", "32", "64")}


def settings(client, *names):
    """What CONFIG GET tells of each, whatever it calls them."""
    values = []
    for name in names:
        pair = client.good("CONFIG", "GET", name)
        same(len(pair), 2, f"CONFIG GET {name}")
        values.append(pair[1].decode())
    return values


def registers_old_names(client):
    """Does the server take names without the module's before them?  Valkey says that it is Redis 7.2."""
    version = client.good("INFO", "server").split(b"redis_version:")[1].split(b".")[0]
    return int(version) >= 8


def old_names_are_those_of_ours():
    """Seen to fail without the filter of commands, and on Redis 8 without the registration: CONFIG GET answers []."""
    with served() as (_, client):
        ours = ["tamis." + own for own, _, _ in OLD.values()]
        same(settings(client, *OLD), [standard for _, standard, _ in OLD.values()], "the defaults")
        for old, (own, _, other) in OLD.items():
            client.good("CONFIG", "SET", old.upper(), other)
            same(settings(client, old, "tamis." + own), [other, other], old)
        client.good("CONFIG", "SET", *[word for own, standard, _ in OLD.values() for word in ("tamis." + own, standard)])
        same(settings(client, *OLD, *ours), 2 * [standard for _, standard, _ in OLD.values()], "set by our names")
        for wrong in ("0", "-1", "x", "1e99", ""):
            refused(client("CONFIG", "SET", "cf-bucket-size", 3, "bf-initial-size", wrong), "ERR CONFIG SET failed", wrong)
        refused(client("CONFIG", "SET", "bf-error-rate", "1.0"), "ERR CONFIG SET failed", "a rate of 1")
        same(settings(client, *OLD), [standard for _, standard, _ in OLD.values()], "what is refused changes nothing")
        client.good("MULTI")
        client.good("CONFIG", "SET", "bf-initial-size", 1000)
        same(client.good("EXEC"), ["OK"], "in a transaction")
        client.good("BF.ADD", "k", "x")
        same(client.good("BF.INFO", "k", "CAPACITY")[0] >= 1000, True, "and a filter is made by it")
        refused(client("CONFIG", "SET", "bf-initial-size"), "ERR wrong number", "no value")
        same(client.good("CONFIG", "GET", "maxmemory"), [b"maxmemory", b"0"], "other settings are left alone")
        if registers_old_names(client):
            same({name.decode() for name in client.good("CONFIG", "GET", "[bc]f-*")[::2]}, set(OLD), "they are listed")
            same(b"in the range [1, 1073741824]" in client("CONFIG", "SET", "bf-initial-size", 0).encode(), True,
                 "as RedisBloom says it")


def restarted(text):
    """What a server has by a redis.conf of this text, by old names and by ours; and after CONFIG REWRITE and a restart."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "redis.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"loadmodule {MODULE}\n{text}\n")
        with server(directory=directory, config=path) as redis:
            first = settings(redis.client(), "bf-expansion-factor", "tamis.expansion", "bf-error-rate", "tamis.default-rate")
            redis.client().good("CONFIG", "REWRITE")
            client = redis.restart()
            same(settings(client, "bf-expansion-factor", "tamis.expansion", "bf-error-rate", "tamis.default-rate"), first,
                 "as rewritten")
            return first


def lines_of_a_configuration_are_taken_by_either_name():
    """Seen to fail on Redis 8 without `is_loading` of settings.c: the default of the one name came after the other's line."""
    with served() as (_, client):
        registers = registers_old_names(client)
    same(restarted(""), ["2", "2", "0.01", "0.01"], "none")
    same(restarted("tamis.expansion 3\ntamis.default-rate 0.03"), ["3", "3", "0.03", "0.03"], "ours")
    if registers:
        same(restarted("bf-expansion-factor 4\nbf-error-rate 0.04"), ["4", "4", "0.04", "0.04"], "RedisBloom's")


def the_module_may_be_called_as_redisblooms():
    """Its clients look for a module called bf; settings and INFO have that name then."""
    with served("module-name", "bf") as (_, client):
        same([b"name", b"bf"] in [module[:2] for module in client.good("MODULE", "LIST")], True, "MODULE LIST")
        client.good("CONFIG", "SET", "bf.default-capacity", 300, "bf-error-rate", "0.02")
        same((settings(client, "bf.default-rate", "bf-initial-size"), client.good("CONFIG", "GET", "tamis.*")), (["0.02", "300"], []), "settings")
        client.good("BF.ADD", "k", "x")
        same(b"bf_memory_filters:1\r\n" in client.good("INFO", "bf"), True, "INFO")
        refused(client("MODULE", "LOAD", MODULE, "module-name", "bf"), "ERR Error loading the extension")
        refused(client("MODULE", "LOAD", MODULE, "module-name", "redis"), "ERR Error loading the extension")


run(old_names_are_those_of_ours, the_module_may_be_called_as_redisblooms, lines_of_a_configuration_are_taken_by_either_name)
