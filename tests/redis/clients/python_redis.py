# SPDX-License-Identifier: BSD-2-Clause
"""python_redis.py PORT PROTOCOL: all calls of bf() and cf() of python3-redis, and TAMIS.* by execute_command()."""
import sys

sys.modules["hiredis"] = None  # python3-redis 4.3 refuses SCANDUMP where hiredis is installed
import redis  # noqa: E402 pylint: disable=wrong-import-position

port, protocol = int(sys.argv[1]), int(sys.argv[2])
options = {"protocol": protocol} if protocol != 2 else {}
r = redis.Redis(port=port, **options)
called = set()


def same(is_, wanted, what):
    if is_ != wanted:
        raise AssertionError(f"{what}: {is_!r}, and {wanted!r} was wanted")


class Watched:
    """Notes which calls are made."""

    def __init__(self, calls, prefix):
        self.calls, self.prefix = calls, prefix

    def __getattr__(self, name):
        called.add(self.prefix + name)
        return getattr(self.calls, name)


def offered(of, prefix):
    return {prefix + name for name in dir(of) if not name.startswith("_")}


def field(info, attribute, name):
    """By RESP3 some versions give the map as it comes."""
    if isinstance(info, dict):
        return info.get(name, info.get(name.encode()))
    return getattr(info, attribute)


def refused(call, text):
    try:
        call()
    except redis.ResponseError as error:
        same(str(error), text, "the error")
        return
    raise AssertionError(f"{text} was wanted")


def dump(of, key, to):
    iterator = 0
    while True:
        iterator, data = of.scandump(key, iterator)
        if iterator == 0:
            return
        of.loadchunk(to, iterator, data)


def bloom(bf):
    same(bf.create("b", 0.01, 1000), True, "create")
    same(bf.create("n", 0.01, 3, noScale=True), True, "create, non-scaling")
    same(bf.create("e", 0.01, 1000, expansion=4), True, "create with an expansion")
    if hasattr(bf.calls, "reserve"):
        same(bf.reserve("reserved", 0.01, 1000), True, "reserve")
    same((bf.add("b", "x"), bf.add("b", "x")), (1, 0), "add")
    same(bf.madd("b", "x", "y", b"\xff\x00"), [0, 1, 1], "madd")
    same(bf.insert("i", ["x", "y"], capacity=500, error=0.001, expansion=3), [1, 1], "insert")
    refused(lambda: bf.insert("none", ["x"], noCreate=True), "not found")
    refused(lambda: bf.create("b", 0.01, 1000), "item exists")
    same((bf.exists("b", "y"), bf.exists("b", "z"), bf.exists("none", "z")), (1, 0, 0), "exists")
    same(bf.mexists("b", "x", "z", b"\xff\x00"), [1, 0, 1], "mexists")
    full = bf.madd("n", 1, 2, 3, 4, 5)
    same(full[:3], [1, 1, 1], "madd until it is full")
    same((len(full), str(full[3])), (4, "non scaling filter is full"), "an error in the array")
    info = bf.info("i")
    same([field(info, *names) for names in (("capacity", "Capacity"), ("insertedNum", "Number of items inserted"),
                                            ("filterNum", "Number of filters"), ("expansionRate", "Expansion rate"))],
         [500, 2, 1, 3], "info")
    same(field(bf.info("n"), "expansionRate", "Expansion rate"), None, "info of one that does not grow")
    if hasattr(bf.calls, "card"):
        same(bf.card("b"), 3, "card")
    dump(bf, "b", "copy")
    same(bf.mexists("copy", "x", "y", "z"), [1, 1, 0], "scandump and loadchunk")


def cuckoo(cf):
    same(cf.create("c", 1000), True, "create")
    same(cf.create("d", 1000, expansion=2, bucket_size=4, max_iterations=50), True, "create with options")
    if hasattr(cf.calls, "reserve"):
        same(cf.reserve("creserved", 1000), True, "reserve")
    same((cf.add("c", "x"), cf.add("c", "x"), cf.addnx("c", "x"), cf.addnx("c", "y")), (1, 1, 0, 1), "add, addnx")
    same(cf.insert("j", ["x", "y"], capacity=500), [1, 1], "insert")
    same(cf.insertnx("j", ["x", "z"], nocreate=True), [0, 1], "insertnx")
    refused(lambda: cf.insert("cnone", ["x"], nocreate=True), "not found")
    same((cf.exists("c", "x"), cf.exists("c", "z")), (1, 0), "exists")
    same(cf.mexists("c", "x", "z"), [1, 0], "mexists")
    same((cf.count("c", "x"), cf.count("c", "y"), cf.count("c", "z")), (2, 1, 0), "count")
    same((cf.delete("c", "x"), cf.count("c", "x"), cf.delete("c", "z")), (1, 1, 0), "delete")
    refused(lambda: cf.delete("cnone", "x"), "Not found")
    info = cf.info("d")
    same([field(info, *names) for names in (("bucketSize", "Bucket size"), ("expansionRate", "Expansion rate"),
                                            ("maxIteration", "Max iterations"), ("filterNum", "Number of filters"))],
         [4, 2, 50, 1], "info")
    dump(cf, "c", "ccopy")
    same((cf.count("ccopy", "x"), cf.count("ccopy", "y")), (1, 1), "scandump and loadchunk")


def others():
    """What has no call of its own."""
    run = r.execute_command
    same(run("BF.CARD", "b"), 3, "BF.CARD")
    same(len(run("BF.DEBUG", "b")) >= 2, True, "BF.DEBUG")
    same(run("CF.DEBUG", "d")[:9], b"bktsize:4", "CF.DEBUG")
    same(run("CF.COMPACT", "c"), b"OK", "CF.COMPACT")
    same(run("TAMIS.RESERVE", "t", "0.001", 1000, "KIND", "bloom", "WINDOW", 3600, "SLICES", 2), b"OK", "TAMIS.RESERVE")
    same(run("BF.ADD", "t", "x"), 1, "BF.ADD to it")
    info = run("TAMIS.INFO", "t")
    info = info if isinstance(info, dict) else dict(zip(info[::2], info[1::2]))
    same((info[b"kind"], info[b"items"]), (b"bloom", 1), "TAMIS.INFO")
    same(run("TAMIS.ROTATE", "t"), b"OK", "TAMIS.ROTATE")
    same(run("TAMIS.SYNC", "t"), b"OK", "TAMIS.SYNC")
    same(run("TAMIS.RESERVE", "m", "0.01", 1000), b"OK", "TAMIS.RESERVE")
    same(run("TAMIS.RESERVE", "m2", "0.01", 1000), b"OK", "TAMIS.RESERVE")
    run("BF.ADD", "m2", "x")
    same(run("TAMIS.MERGE", "m", "m2"), b"OK", "TAMIS.MERGE")
    same(run("BF.EXISTS", "m", "x"), 1, "merged")
    same(run("TAMIS.DETACH", "m"), b"m", "TAMIS.DETACH")
    same(run("TAMIS.ATTACH", "m"), b"OK", "TAMIS.ATTACH")
    same(run("TAMIS.ORPHANS", "LIST"), [], "TAMIS.ORPHANS")
    same(len(run("TAMIS.STATS")) >= 10, True, "TAMIS.STATS")
    refused(lambda: run("TAMIS.ROLLBACK", "m"),
            "no other generation can be put in force: "
            "the filter 'm' has no generation before 1, which is in force; kept: none")
    same(r.info("tamis")["tamis_filters"] >= 5, True, "INFO tamis")
    pipe = r.pipeline(transaction=True)
    pipe.execute_command("BF.ADD", "b", "tx")
    pipe.set("plain", "1")
    pipe.execute_command("BF.EXISTS", "b", "tx")
    same(pipe.execute(), [1, True, 1], "MULTI")


def crawl():
    """One script that marks requests as seen and queues the new ones, as crawlers have it."""
    enqueue = r.register_script("""
        local new = redis.call('BF.MADD', KEYS[1], unpack(ARGV))
        local queued = {}
        for i, key in ipairs(ARGV) do
            if new[i] == 1 then
                redis.call('HSET', KEYS[2], key, '{"url": "' .. key .. '"}')
                redis.call('RPUSH', KEYS[3], key)
                table.insert(queued, key)
            end
        end
        return queued""")
    same(enqueue(keys=["seen", "data", "queue"], args=["a", "b", "a"]), [b"a", b"b"], "EVAL")
    same(enqueue(keys=["seen", "data", "queue"], args=["b", "c"]), [b"c"], "EVALSHA")
    same((r.lrange("queue", 0, -1), r.hlen("data")), ([b"a", b"b", b"c"], 3), "what is queued")


watched = Watched(r.bf(), "bf."), Watched(r.cf(), "cf.")
bloom(watched[0])
cuckoo(watched[1])
others()
crawl()
modules = sys.modules["redis.commands.bf.commands"]
same((offered(modules.BFCommands, "bf.") | offered(modules.CFCommands, "cf.")) - called, set(), "calls that were not made")
print(redis.__version__, "all calls, RESP", protocol)
