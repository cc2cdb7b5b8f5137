# SPDX-License-Identifier: BSD-2-Clause
"""own_commands.py MODULE TAMIS: TAMIS.*, INFO and COMMAND DOCS, settings, and local processes beside clients.

It was seen to fail for a TAMIS.DETACH that left TAMIS_FILTER_OWNED.
"""
import subprocess
import time

from harness import (MODULE, TAMIS, are_made, eventually, filters, has_filters, refused, run, same, served, server, store_of,
                     tamis, together)


def fields(flat):
    return dict(zip(flat[::2], flat[1::2]))


def filters_are_attached_and_detached():
    with served() as (redis, client):
        tamis("create", "--store", store_of(redis), "tonight", "-n", "1000")
        tamis("add", "--store", store_of(redis), "tonight", text="a\nb\n")
        client.good("TAMIS.ATTACH", "key", "tonight")
        same(client.good("BF.MEXISTS", "key", "a", "c"), [1, 0], "what a local process has added")
        client.good("BF.ADD", "key", "c")
        same(tamis("add", "--new", "--store", store_of(redis), "tonight", text="c\nd\n"), "d\n", "and the other way")
        refused(client("TAMIS.ATTACH", "other", "tonight"), "ERR a key of this server has that filter")
        refused(client("TAMIS.ATTACH", "other", "none"), "ERR the filter cannot be attached: ")
        client.good("RENAME", "key", "renamed")
        refused(client("TAMIS.ATTACH", "other", "tonight"), "ERR a key of this server has that filter", "after RENAME")
        client.good("DEL", "renamed")
        has_filters(redis, ["tonight"], "the key goes, and the filter stays")
        client.good("TAMIS.ATTACH", "tonight")
        same(client.good("BF.EXISTS", "tonight", "d"), 1, "by the key's own name")
        same(client.good("TAMIS.DETACH", "tonight"), b"tonight", "the name of what stays")
        client.good("BF.ADD", "mine", "x")
        are_made(client)
        client.good("TAMIS.DETACH", "mine")
        same((client.good("EXISTS", "mine"), filters(redis)), (0, ["mine", "tonight"]), "TAMIS.DETACH")
        client = redis.restart(kill=True)
        time.sleep(0.5)
        same(client.good("TAMIS.ORPHANS", "LIST"), [], "what was detached is no orphan")


def attached_filters_are_attached_again():
    for mode in ("content", "reference"):
        with served("rdb", mode, save="900 1") as (redis, client):
            tamis("create", "--store", store_of(redis), "tonight", "-n", "1000")
            tamis("build", "--store", store_of(redis), "list", text="a\nb\n")
            client.good("TAMIS.ATTACH", "k", "tonight")
            client.good("TAMIS.ATTACH", "l", "list")
            client.good("BF.ADD", "k", "x")
            refused(client("BF.ADD", "l", "x"), "ERR problem inserting into filter: ")
            client = redis.restart()
            same(client.good("BF.MEXISTS", "l", "a", "zz"), [1, 0], "a static filter")
            same(tamis("add", "--new", "--store", store_of(redis), "tonight", text="x\ny\n"), "y\n", mode)
            same(client.good("BF.EXISTS", "k", "y"), 1, "they share the filter after a restart")
            client.good("DEL", "k", "l")
            has_filters(redis, ["list", "tonight"], "they stay")


def orphans_are_listed_and_dropped():
    with served("drop-orphans", "no") as (redis, client):
        client.good("BF.ADD", "k", "x")
        client.good("BF.ADD", "l", "x")
        are_made(client)
        client = redis.restart(kill=True)
        eventually(lambda: len(client.good("TAMIS.ORPHANS", "LIST")) == 2, "both keys are gone")
        client.good("TAMIS.ORPHANS", "DROP", "k")
        client.good("BF.ADD", "k", "y")
        refused(client("TAMIS.ORPHANS", "DROP", "k"), "ERR no orphan has that name")
        client.good("TAMIS.ATTACH", "l")
        same((client.good("BF.EXISTS", "l", "x"), client.good("TAMIS.ORPHANS", "LIST")), (1, []), "a key's again")
        client.good("DEL", "l")
        has_filters(redis, ["k"], "and goes with it")  # Valkey frees in another thread


def filters_of_other_sorts_are_made():
    with served() as (redis, client):
        client.good("TAMIS.RESERVE", "w", "0.01", 1000, "WINDOW", 3600, "SLICES", 4)
        client.good("BF.ADD", "w", "x")
        client.good("TAMIS.ROTATE", "w")
        info = fields(client.good("TAMIS.INFO", "w"))
        same((info["segments"], info["slices"], info["items"]), (2, 4, 1), "a window")
        client.good("TAMIS.RESERVE", "p", "0.01", 1000, "HASHSET", "php:bkdr,sdbm,js", "KIND", "bloom")
        same(fields(client.good("TAMIS.INFO", "p"))["hash set"], b"php:bkdr,sdbm,js", "a hash set of PHP")
        for key in ("a", "b"):
            client.good("TAMIS.RESERVE", key, "0.01", 100000, "SEED", 7, "ONFULL", "warn")
        client.good("BF.MADD", "a", "1", "2")
        client.good("TAMIS.RESERVE", "h", "0.01", 1000, "PAGES", "huge")
        same(fields(client.good("TAMIS.INFO", "h"))["pages"], b"huge", "pages")
        spec = client.good("TAMIS.SPEC", "h")
        same(spec[spec.index(b"PAGES") + 1], b"huge", "TAMIS.SPEC tells them")
        same(b"PAGES" in client.good("TAMIS.SPEC", "a"), False, "nobody has asked for any")
        refused(client("TAMIS.RESERVE", "q", "0.01", 100, "PAGES", "large"), "ERR PAGES is auto, small or huge")
        client.good("TAMIS.MERGE", "b", "a")
        same(client.good("BF.MEXISTS", "b", "1", "2", "3"), [1, 1, 0], "TAMIS.MERGE")
        refused(client("TAMIS.MERGE", "b", "p"), "ERR the filters cannot be merged: ")
        refused(client("TAMIS.ROTATE", "a"), "ERR the window cannot be moved: ")
        refused(client("TAMIS.RESERVE", "q", "0.01", 100, "KIND", "none"), "ERR bad kind")
        refused(client("TAMIS.RESERVE", "q", "0.01", 100, "COLOUR", "1"), "ERR unknown option")
        refused(client("TAMIS.RESERVE", "q", "0.01", 1 << 40), "ERR the filter would be larger")
        same(client.good("TAMIS.SYNC", "a"), "OK", "TAMIS.SYNC")
        client.good("TAMIS.RESERVE", "counting", "0.01", 1000, "KIND", "counting")
        client.good("TAMIS.ADD", "counting", "x", "x")
        same((client.good("TAMIS.SYNC", "counting"), client.good("TAMIS.COUNT", "counting", "x")), ("OK", [2]), "one that counts")
        client.good("MULTI")
        client.good("TAMIS.SYNC", "a")
        same(client.good("EXEC"), ["OK"], "TAMIS.SYNC in MULTI")
        three = redis.client(3)
        same(three.good("TAMIS.INFO", "a")["kind"], b"blocked", "a map in RESP3")


def a_key_rule_is_obeyed_by_every_command():
    with served() as (redis, client):
        client.good("TAMIS.RESERVE", "hosts", "1e-6", 1000, "KEYRULE", "name")
        same(client.good("TAMIS.ADD", "hosts", "ADS.Example.", "ads.example", "b.example"), [1, 0, 1], "TAMIS.ADD")
        same(client.good("BF.ADD", "hosts", "Ads.EXAMPLE"), 0, "BF.ADD")
        same(client.good("BF.MADD", "hosts", "B.example.", "c.example"), [0, 1], "BF.MADD")
        same(client.good("TAMIS.CHECK", "hosts", "C.Example.", "example"), [1, 0], "TAMIS.CHECK")
        same(client.good("BF.MEXISTS", "hosts", "B.EXAMPLE", "example"), [1, 0], "BF.MEXISTS")
        same(tamis("add", "--new", "--store", store_of(redis), "hosts", text="C.EXAMPLE.\nD.example\n"), "D.example\n", "the command")
        same(client.good("TAMIS.ADD", "hosts", "d.example."), [0], "and the other way")
        same(fields(client.good("TAMIS.INFO", "hosts"))["key rule"], b"name", "TAMIS.INFO")
        refused(client("TAMIS.RESERVE", "other", "0.01", 1000, "KEYRULE", "colour"), "ERR ")
        for kind, hash_set in (("blocked", "xxh3"), ("bloom", "redisbloom"), ("bloom", "xxh3")):
            client.good("TAMIS.RESERVE", "pages", "1e-6", 1000, "KEYRULE", "url:sort", "KIND", kind, "HASHSET", hash_set)
            client.good("TAMIS.ADD", "pages", "http://example.com/?a&b")
            client.good("RESTORE", "restored", 0, client.good("DUMP", "pages"))
            client.good("COPY", "pages", "copied")
            chunk = client.good("BF.SCANDUMP", "pages", 0)
            while chunk[0] != 0:
                client.good("BF.LOADCHUNK", "loaded", *chunk)
                chunk = client.good("BF.SCANDUMP", "pages", chunk[0])
            for key in ("pages", "restored", "copied", "loaded"):
                same(client.good("TAMIS.CHECK", key, "HTTP://Example.com?b&a", "x"), [1, 0], (key, hash_set))
                same(fields(client.good("TAMIS.INFO", key))["key rule"], b"url:sort", (key, hash_set))
                client.good("DEL", key)
        client.good("TAMIS.RESERVE", "seen", "1e-6", 1000, "KEYRULE", "url:sort,drop=utm_*")
        urls = "HTTP://Example.COM:80/a/../b?b=2&a=1&utm_source=x#f", "http://example.com/b?a=1&b=2"
        same(client.good("TAMIS.ADD", "seen", *urls), [1, 0], "two spellings of a URL")
        same(client.good("EXISTS", "other"), 0, "what was refused is not there")


def names_are_asked_for_with_their_parents():
    """TAMIS.PARENTS tells where in a name the part begins that is listed; an exception that is nearer beats it."""
    with served() as (_, client):
        client.good("TAMIS.RESERVE", "ads", "1e-9", 1000, "KEYRULE", "name")
        client.good("TAMIS.ADD", "ads", "bad.example", "x.good.bad.example", "192.0.2.1")
        client.good("TAMIS.EXCEPT", "ads", "ADD", "good.bad.example")
        same(client.good("TAMIS.PARENTS", "ads", "Bad.Example.", "a.b.bad.example", "example", "notbad.example", "good.bad.example",
                         "y.good.bad.example", "x.good.bad.example", "a.192.0.2.1", "a bad.example", ""),
             [0, 4, -1, -1, -1, -1, 0, -1, -1, -1], "TAMIS.PARENTS")
        client.good("BF.ADD", "plain", "bad.example")
        same(client.good("TAMIS.PARENTS", "plain", "x.bad.example", "x.BAD.example"), [2, -1], "a filter without a rule")
        client.good("TAMIS.RESERVE", "counts", "0.001", 100, "KIND", "counting")
        client.good("TAMIS.ADD", "counts", "bad.example")
        same(client.good("TAMIS.PARENTS", "counts", "x.bad.example"), [2], "a filter that counts")
        refused(client("TAMIS.PARENTS", "none", "x"), "ERR not found")
        refused(client("TAMIS.PARENTS", "ads"), "ERR wrong number of arguments")


def a_small_filter_is_shared_on_request():
    """The command says where a filter of the server's memory is, and TAMIS.SHARE brings it to the store with all items."""
    with served() as (redis, client):
        client.good("CONFIG", "SET", "tamis.share-from", 65536)
        client.good("BF.MADD", "small", "a", "b")
        client.good("TAMIS.RESERVE", "shared", "0.01", 100)
        ask = [TAMIS, "check", "--store", store_of(redis), "small"]
        done = subprocess.run(ask, input="a\n", capture_output=True, text=True, check=False)
        same(done.returncode, 2, "a filter of the server's memory")
        if f"(process {redis.process.pid})" not in done.stderr or "'TAMIS.SHARE small'" not in done.stderr:
            raise AssertionError(done.stderr)
        client.good("TAMIS.SHARE", "small")
        same(tamis("check", "--store", store_of(redis), "small", text="a\nb\nc\n"), "a\nb\n", "in the store")
        client.good("TAMIS.SHARE", "small")
        refused(client("TAMIS.SHARE", "none"), "ERR not found")
        redis.stop()
        done = subprocess.run(ask[:-1] + ["none"], input="a\n", capture_output=True, text=True, check=False)
        same((done.returncode, "TAMIS.SHARE" in done.stderr), (2, False), "without a server")


def the_server_tells_of_itself():
    with served() as (_, client):
        client.good("BF.MADD", "k", "a", "b", "a")
        client.good("BF.EXISTS", "k", "a")
        are_made(client)
        stats = fields(client.good("TAMIS.STATS"))
        same([stats[name] for name in ("filters", "items", "added_keys", "new_keys", "asked_keys")], [1, 2, 3, 2, 1],
             "TAMIS.STATS")
        same(b"tamis_new_keys:2\r\n" in client.good("INFO", "tamis"), True, "INFO tamis")
        docs = client.good("COMMAND", "DOCS", "bf.insert")
        same(docs[0] == b"bf.insert" and b"Adds items" in docs[1][1], True, "COMMAND DOCS")
        (info,) = client.good("COMMAND", "INFO", "bf.madd")
        same(info[1:6], [-3, ["write", "denyoom", "module"], 1, 1, 1], "COMMAND INFO")
        same(client.good("COMMAND", "GETKEYS", "tamis.merge", "a", "b", "c"), [b"a", b"b", b"c"], "keys")
        same(client.good("CONFIG", "GET", "tamis.*")[::2] != [], True, "CONFIG GET")
        client.good("CONFIG", "SET", "tamis.default-rate", "0.001")
        refused(client("CONFIG", "SET", "tamis.default-rate", "2"), "ERR CONFIG SET failed")
        refused(client("CONFIG", "SET", "tamis.default-capacity", "0"), "ERR CONFIG SET failed")
        client.good("BF.ADD", "fine", "x")
        same(fields(client.good("TAMIS.INFO", "fine"))["rate"], b"0.001", "the rate of new filters")
        refused(client("MODULE", "LOAD", MODULE), "ERR Error loading the extension")
        same(client.good("PING"), "PONG", "loading twice does no harm")


def a_store_of_nobody_is_told():
    """The server runs, filters in memory work, and each command that needs the store says what is wrong with it."""
    with served("store", "/proc/none") as (redis, client):
        refused(client("TAMIS.RESERVE", "k", "0.01", 100), "ERR could not create filter: ")
        same((client.good("BF.ADD", "k", "x"), client.good("BF.EXISTS", "k", "x")), (1, 1), "in memory")
        same("the store cannot be opened" in redis.log(), True, "the log")


def new_is_told_once_between_clients_and_processes():
    keys = [f"key {i}" for i in range(4000)]
    with server(appendonly="no") as redis:
        redis.client().good("BF.RESERVE", "k", "0.000001", 100000)
        are_made(redis.client())
        news = []

        def ask():
            client = redis.client()
            for at in range(0, len(keys), 8):
                part = keys[at:at + 8]
                news.extend(key for key, new in zip(part, client.good("BF.MADD", "k", *part)) if new)

        def local():
            done = subprocess.run([TAMIS, "add", "--new", "--store", store_of(redis), "k"],
                                  input="\n".join(keys) + "\n", capture_output=True, text=True, check=True)
            news.extend(done.stdout.split("\n")[:-1])

        together(ask, local, ask, local)
        same(len(news), len(set(news)), "at most one NEW for each key")
        same(len(keys) - len(news) < 5, True, "and one for all but false positives")
        same(redis.client().good("BF.MEXISTS", "k", *keys), [1] * len(keys), "all are in")


def users_may_have_categories():
    """Where the server lets a module make some: Redis 7.4, Valkey 8.  tests/redis/valkey.py runs this too."""
    with served() as (_, client):
        listed = client.good("ACL", "CAT")
        version = client.good("INFO", "server").split(b"redis_version:")[1].split(b"\r")[0]
        if b"bloom" not in listed:
            same(b"valkey_version:" in client.good("INFO", "server") or version >= b"7.4", False, "a newer server has @bloom")
            return
        names = {name for name in client.good("COMMAND", "LIST") if name[:3] in (b"bf.", b"cf.")}
        # Redis 7.4 has them, and leaves them out of ACL CAT bloom.
        told = {info[0]: info[6] for info in client.good("COMMAND", "INFO", *sorted(names))}
        same({name for name in names if {b"bf.": "@bloom", b"cf.": "@cuckoo"}[name[:3]] in told[name]}, names, "@bloom, @cuckoo")
        client.good("ACL", "SETUSER", "bloomer", "on", ">x", "~*", "+@bloom")
        client.good("AUTH", "bloomer", "x")
        same([client("BF.ADD", "k", "x"), client("BF.EXISTS", "k", "x")], [1, 1], "a user of @bloom")
        refused(client("CF.ADD", "c", "x"), "NOPERM", "who is none of @cuckoo")


run(filters_are_attached_and_detached, attached_filters_are_attached_again, orphans_are_listed_and_dropped,
    filters_of_other_sorts_are_made, a_key_rule_is_obeyed_by_every_command, names_are_asked_for_with_their_parents,
    a_small_filter_is_shared_on_request, the_server_tells_of_itself, a_store_of_nobody_is_told,
    new_is_told_once_between_clients_and_processes,
    users_may_have_categories)
