# SPDX-License-Identifier: BSD-2-Clause
"""The runner of the Python package: README.md beside this folder says what a runner is."""

import contextlib
import itertools
import json
import os
import sys

import tamis

STATES = ("full", "degraded", "unclean", "damaged", "over")  # TAMIS_STATE_*, from bit 0 on
STRIDES = (7368787, 15485863, 32452843, 49979687, 67867967, 86028121, 104395301)


class Lacks(Exception):
    """The binding cannot do what a step asks."""


class Words(list):
    """Flags, which keep in mind which of them somebody has asked for: one that nobody asks for is a lack."""

    step = []  # those of this step

    def __init__(self, words):
        super().__init__(words)
        self.asked = set()
        Words.step.append(self)

    def __contains__(self, word):
        self.asked.add(word)
        return super().__contains__(word)

    @staticmethod
    def of(given):
        return {**given, "flags": Words(given["flags"])} if isinstance(given.get("flags"), list) else given


# ---- What a step gives, and what it gets ------------------------------------------------------

def key(value):
    return value if isinstance(value, str) else bytes.fromhex(value["hex"])


def keys(values):
    return [key(value) for value in values]


def spec(call, given, allowed=None):
    """The arguments of Store.create() and the like."""
    given = dict(given or {})
    flags = given.pop("flags", [])
    if "OWNED" in flags:
        raise Lacks(f"{call}(OWNED)")
    if "window_ns" in given:
        given["window"] = given.pop("window_ns") / 10**9
    if "secret" in given:
        given["secret"] = bytes.fromhex(given["secret"])
    if "DURABLE" in flags:
        given["durable"] = True
    if "FROM_FIRST" in flags:
        given["window_from"] = "first"
    for name in given.keys() - (allowed or given.keys()):
        raise Lacks(f"{call}({name})")
    return given


def stat_of(stat):
    fields = {name: getattr(stat, name) for name in stat.__slots__}
    fields["state"] = sum(1 << STATES.index(state) for state in fields.pop("states"))
    return fields


def result_of(result):
    fields = {name: getattr(result, name) for name in result.__slots__}
    if "key_digest" in fields:
        fields["key_digest"] = fields["key_digest"].hex()
    return fields


# ---- The calls ----------------------------------------------------------------------------

class Runner:
    def __init__(self):
        self.handles, self.message = {}, ""

    def forget(self):
        for name in self.handles:
            self.close(name)
        self.handles = {}

    def close(self, name):
        if name in self.handles:
            with contextlib.suppress(tamis.Error):  # of a filter whose file the case has cut
                self.handles[name].close()

    def named(self, name):
        return self.handles[name]

    # Stores.

    def tamis_store_open(self, _, path, flags):
        return tamis.Store(path, create="CREATE" in flags, read_only="READ_ONLY" in flags,
                           force_network_fs="FORCE_NETWORK_FS" in flags)

    def tamis_store_open_with(self, _, path, flags, mode=0, busy_timeout_ms=0):
        timeout = {"busy_timeout": max(busy_timeout_ms, 0) / 1000} if busy_timeout_ms else {}
        return tamis.Store(path, create="CREATE" in flags, read_only="READ_ONLY" in flags, mode=mode or None, **timeout)

    def tamis_store_close(self, store):
        store.close()

    def tamis_store_list_live(self, store, prefix):
        return [stat_of(stat) for stat in store.list(prefix)]

    tamis_store_list = tamis_store_list_live

    def tamis_store_verify(self, store, name):
        return store.verify(name)

    # Filters.

    def tamis_filter_create(self, store, name, spec_):
        return store.create(name, **spec("tamis_filter_create", spec_))

    def tamis_filter_open_or_create(self, store, name, spec_):
        return store.open_or_create(name, **spec("tamis_filter_open_or_create", spec_))

    def tamis_filter_create_many(self, store, names, spec_, flags):
        given = spec("tamis_filter_create_many", spec_)
        return store.create_many(names, **given, if_missing="IF_MISSING" in flags)

    def tamis_filter_open(self, store, name, flags):
        return store.open(name, read_only="READ_ONLY" in flags, no_sync="NO_SYNC" in flags, populate="POPULATE" in flags)

    def tamis_filter_exists(self, store, name):
        return name in store

    def tamis_filter_created_at(self, filter_):
        return str(filter_.stat.created_at)

    def tamis_filter_close(self, filter_):
        filter_.close()

    def tamis_filter_drop(self, store, name):
        store.drop(name)

    def tamis_filter_rename(self, store, old_name, new_name):
        store.rename(old_name, new_name)

    def tamis_filter_set_pages(self, store, name, pages):
        store.set_pages(name, pages)

    def tamis_filter_rotate(self, filter_):
        filter_.rotate()

    def tamis_filter_sync(self, filter_):
        filter_.sync()

    def tamis_filter_accept(self, filter_):
        filter_.accept()

    # Keys.

    def tamis_filter_add(self, filter_, key_):
        return filter_.add(key(key_))

    def tamis_filter_contains(self, filter_, key_):
        return key(key_) in filter_

    def tamis_filter_contains_name(self, filter_, key_):
        found = filter_.contains_name(key(key_))
        return found.decode() if isinstance(found, bytes) else found

    def tamis_filter_add_batch(self, filter_, keys_):
        return list(filter_.add_many(keys(keys_)))

    def tamis_filter_contains_batch(self, filter_, keys_):
        return list(filter_.contains_many(keys(keys_)))

    def tamis_filter_remove(self, filter_, key_):
        return filter_.remove(key(key_))

    def tamis_filter_count(self, filter_, key_):
        return filter_.count(key(key_))

    def tamis_filter_remove_batch(self, filter_, keys_):
        return list(filter_.remove_many(keys(keys_)))

    def tamis_filter_count_batch(self, filter_, keys_):
        return filter_.count_many(keys(keys_))

    def tamis_shard(self, _, key_, shards):
        return tamis.shard(key(key_), shards)

    # Looking inside, merging, streams.

    def tamis_filter_stat(self, filter_):
        return stat_of(filter_.stat)

    def tamis_filter_items(self, filter_):
        return len(filter_)

    def tamis_filter_merge(self, filter_, sources, flags):
        for flag in flags:
            raise Lacks("tamis_filter_merge(flags)" if flag == "INTERSECT" else f"tamis_filter_merge({flag})")
        for source in sources:
            filter_.merge(self.named(source))

    def tamis_filter_create_merged(self, store, name, sources, flags):
        return store.merge(name, *(self.named(source) for source in sources), intersect="INTERSECT" in flags)

    def tamis_filter_import(self, store, name, format_, spec_, file):
        given = spec("tamis_filter_import", spec_, {"hash_set", "m_bits", "k", "capacity", "fp_rate"})
        return store.import_(name, file, format_, **given)

    def tamis_filter_publish(self, store, name, format_, spec_, file):
        given = spec_ or {}
        if "except" in given:
            raise Lacks("tamis_filter_publish(except)")
        before = max((each.generation for each in store.generations(name)), default=0) if name in store else 0
        about = spec("tamis_filter_publish", given.get("import"), {"hash_set", "m_bits", "k", "capacity", "fp_rate"})
        flags = given.get("flags", [])
        store.import_(name, file, format_, publish=True, if_changed="IF_CHANGED" in flags, newer="NEWER" in flags,
                      keep=given["keep"] if "KEEP" in flags else None, **about).close()
        now = max(each.generation for each in store.generations(name))
        return {"published": now != before, "generation": now}

    def tamis_filter_export(self, filter_, format_, flags, file):
        if "WITHOUT_EXCEPTIONS" in flags:
            raise Lacks("tamis_filter_export(WITHOUT_EXCEPTIONS)")
        filter_.export(file, format_, with_key="WITH_KEY" in flags, digest="WITH_DIGEST" in flags)

    # Builds.

    def tamis_build_begin(self, store, name, spec_):
        given = spec_ or {}
        flags = given.get("flags", [])
        about = spec("tamis_build_begin", given.get("filter"), {"capacity", "fp_rate", "kind", "hash_set", "seed", "key_rule"})
        return store.build(name, **about, memory_bytes=given.get("memory_bytes", 0), threads=given.get("threads", 0),
                           if_changed="IF_CHANGED" in flags, keep=given["keep"] if "KEEP" in flags else None)

    def tamis_build_add(self, build, keys_):
        build.add_many(keys(keys_))

    def tamis_build_against(self, build, keys_):
        build.against(keys(keys_))

    def tamis_build_except(self, build, keys_):
        build.except_many(keys(keys_))

    def tamis_build_publish(self, build):
        return result_of(build.publish())

    def tamis_build_close(self, build):
        build.close()

    def tamis_filter_generations(self, store, name):
        return [result_of(each) for each in store.generations(name)]

    def tamis_filter_rollback(self, store, name, generation):
        store.rollback(name, generation)

    # The library.

    def tamis_version(self, _):
        return tamis.version()

    def tamis_simd(self, _):
        return tamis.simd()

    def tamis_error_name(self, _, error):
        names = {each.code: each.name for each in tamis.Error.__subclasses__()}
        return names.get(error, "TAMIS_?")

    def tamis_last_error(self, _):
        return self.message

    # The loop.

    def call(self, step):
        function = getattr(self, step["call"], None)
        if function is None:
            return {"lacks": step["call"]}
        on = self.handles[step["on"]] if "on" in step else None
        # Words that mean something else in Python or in this file.
        with_ = {{"key": "key_", "keys": "keys_", "spec": "spec_", "format": "format_"}.get(name, name): value
                 for name, value in step.get("with", {}).items()}
        try:
            value = function(on, **with_)
            for word in (word for words in Words.step for word in words if word not in words.asked):
                raise Lacks(f"{step['call']}({word})")
        except Lacks as lacks:
            return {"lacks": str(lacks)}
        except tamis.ClosedError as error:
            return {"error": "CLOSED", "message": str(error)}
        except (tamis.Error, ValueError, TypeError, OverflowError) as error:
            self.message = str(error)
            answer = {"error": getattr(error, "name", "INVALID"), "message": str(error)}
            if getattr(error, "answers", None) is not None:
                answer["answers"] = list(error.answers)
            return answer
        if isinstance(value, (tamis.Store, tamis.Filter, tamis.Build)):
            if "as" in step:
                self.close(step["as"])
                self.handles[step["as"]] = value
            value = None
        return {"value": value}

    def answer(self, step):
        if "case" in step:
            self.forget()
            return {"value": None}
        return self.call(step)


def functions():
    return sorted(name for name in dir(Runner) if name.startswith("tamis_"))


def order(count, seed):
    """The numbers below count in an order of the seed, each once."""
    start, stride = seed * 104729, STRIDES[seed % len(STRIDES)]
    return ((start + i * stride) % count for i in range(count))


def race(path, name, first, count, seed, batch, out):
    seen = tamis.Store(path, create=False)[name]
    print("ready", flush=True)
    sys.stdin.readline()
    numbers = (first + number for number in order(count, seed))
    file = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    while chunk := list(itertools.islice(numbers, batch)):
        answers = [seen.add(f"key-{chunk[0]}")] if batch == 1 else seen.add_many([f"key-{number}" for number in chunk])
        os.write(file, "".join(f"{number}\n" for number in itertools.compress(chunk, answers)).encode())


def found(path, name, first, count):
    seen, hits = tamis.Store(path, create=False)[name], 0
    for begin in range(first, first + count, 4096):
        hits += sum(seen.contains_many([f"key-{number}" for number in range(begin, min(begin + 4096, first + count))]))
    print(hits)


def main(words):
    if words[:1] == ["functions"]:
        print(json.dumps(functions()))
    elif words[:1] == ["race"]:
        race(words[1], words[2], *(int(word) for word in words[3:7]), words[7])
    elif words[:1] == ["found"]:
        found(words[1], words[2], int(words[3]), int(words[4]))
    else:
        runner = Runner()
        for line in sys.stdin:
            Words.step = []
            print(json.dumps(runner.answer(json.loads(line, object_hook=Words.of))), flush=True)


main(sys.argv[1:])
