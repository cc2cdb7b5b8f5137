# SPDX-License-Identifier: BSD-2-Clause
"""command.py TAMIS [MODE...]: the runner of the command `tamis`, which a script of a shell has for a binding.

A handle is a name: of a directory, of a filter in it, or of keys that are gathered for a build.  The command says in words what is
wrong and has no codes, so an error of it counts as whatever error is expected.
"""

import json
import os
import subprocess
import sys
import tempfile

STATES = ("full", "degraded", "unclean", "damaged", "over")  # TAMIS_STATE_*, from bit 0 on
STRIDES = (7368787, 15485863, 32452843, 49979687, 67867967, 86028121, 104395301)
OPTIONS = {"capacity": "-n", "fp_rate": "-p", "kind": "--kind", "k": "-k", "m_bits": "-m", "hash_set": "--hash-set", "seed": "--seed",
           "key_rule": "--key-rule", "on_full": "--on-full", "slices": "--slices", "counter_bits": "--counter-bits",
           "pages": "--pages", "memory_bytes": "--memory", "threads": "--threads"}


# A command that ends keeps nothing open.
NO_HANDLES = ("a closed filter", "a closed store", "a closed build", "a file that is cut under an open filter",
              "more filters than the system lets open", "a dropped filter", "a filter that another process drops",
              "names change", "builds that cannot be")


class Lacks(Exception):
    """The command cannot do what a step asks."""


class Failed(Exception):
    """The command failed, and said why."""


def hexadecimal(key):
    return key.encode().hex() if isinstance(key, str) else key["hex"]


def lines_of(keys):
    return "".join(f"{hexadecimal(key)}\n" for key in keys)


def options(call, given, allowed=OPTIONS):
    """The words of the command line for the fields of a spec."""
    given, words = dict(given or {}), []
    for flag in given.pop("flags", []):
        word = {"DURABLE": "--durable", "FROM_FIRST": "--window-from=first", "IF_CHANGED": "--if-changed", "KEEP": None,
                "NEWER": "--newer-than-mine"}.get(flag, flag)
        if word and not word.startswith("--"):
            raise Lacks(f"{call}({flag})")
        words += [word] if word else []
    if "window_items" in given:
        given.pop("capacity", None)  # which is as many
    for name, value in given.items():
        if name == "window_ns":
            words += ["--window", f"{value // 10**9}s"]
        elif name == "window_items":
            words += ["--window", f"{value}keys"]
        elif name == "keep":
            words += ["--keep", str(value)]
        elif name in allowed:
            words += [OPTIONS[name], str(value)]
        else:
            raise Lacks(f"{call}({name})")
    return words


def stat_of(info):
    """An object of `tamis info` with the names that bindings give."""
    words = [] if info["state"] in ("ok", "") else info["state"].replace(",", " ").split()
    info["state"] = sum(1 << STATES.index(word) for word in words if word in STATES)
    info["window_ns"] = round(info.pop("window_seconds") * 10**9)
    if "segments" in info:
        info["segment_count"] = len(info.pop("segments"))
    return info


class Store:
    def __init__(self, path, options_=()):
        self.path, self.options = path, list(options_)


class Filter:
    def __init__(self, store, name):
        self.store, self.name = store, name


class Build:
    def __init__(self, store, name, words):
        self.store, self.name, self.words = store, name, words
        self.keys, self.against, self.except_ = "", "", ""


class Runner:
    def __init__(self, tamis):
        self.tamis, self.handles, self.message = tamis, {}, ""

    def run(self, store, *words, input_="", may_be=(0,)):
        """What the command prints."""
        command = [self.tamis, *(["--store", store.path, *store.options] if store else []), *words]
        if any("\0" in word for word in command):
            raise Failed("an argument has a NUL in it")
        done = subprocess.run(command, input=input_.encode(), capture_output=True, check=False)
        if done.returncode not in may_be:
            raise Failed(done.stderr.decode())
        return done.stdout.decode()

    def objects(self, *words, **how):
        return [json.loads(line) for line in self.run(*words, "--json", **how).splitlines()]

    # Stores.

    def tamis_store_open(self, _, path, flags):
        for flag in set(flags) - {"CREATE"}:
            raise Lacks(f"tamis_store_open({flag})")
        if "CREATE" not in flags or "://" in path or not path:
            self.run(Store(path), "list", "-q", may_be=(0, 1))
        return Store(path)

    def tamis_store_list_live(self, store, prefix):
        if not os.path.exists(store.path):
            return []
        return [stat_of(each) for each in self.objects(store, "list", *([prefix] if prefix else []), may_be=(0, 1))]

    tamis_store_list = tamis_store_list_live

    def tamis_store_verify(self, store, name):
        problems = self.objects(store, "verify", *([name] if name else []), may_be=(0, 2))
        if name == "none":
            raise Failed(self.run(store, "verify", name))
        return len(problems)

    def tamis_store_repair(self, _, path, flags):
        names = {"DRY_RUN": "--dry-run", "REBUILD": "--rebuild"}
        for flag in set(flags) - names.keys():
            raise Lacks(f"tamis_store_repair({flag})")
        return len(self.objects(Store(path), "repair", *(names[flag] for flag in flags)))

    def tamis_store_backup(self, store, path):
        self.run(store, "backup", path)
        return len(self.objects(Store(path), "list"))

    def tamis_store_close(self, _):
        pass

    # Filters.

    def tamis_filter_close(self, _):
        pass

    def tamis_filter_create(self, store, name, spec):
        self.run(store, "create", *options("tamis_filter_create", spec), "--", name)
        return Filter(store, name)

    def tamis_filter_open_or_create(self, store, name, spec):
        self.run(store, "create", name, "--if-missing", *options("tamis_filter_open_or_create", spec))
        return Filter(store, name)

    def tamis_filter_create_many(self, store, names, spec, flags):
        for flag in set(flags) - {"IF_MISSING"}:
            raise Lacks(f"tamis_filter_create_many({flag})")
        words = ["--if-missing"] if flags else []
        before = len(self.tamis_store_list(store, ""))
        self.run(store, "create", "--names", "-", *words, *options("tamis_filter_create_many", spec),
                 input_="".join(f"{name}\n" for name in names))
        return len(self.tamis_store_list(store, "")) - before

    def tamis_filter_open(self, store, name, flags):
        for flag in flags:
            raise Lacks(f"tamis_filter_open({flag})")
        self.run(store, "info", name, "capacity")
        return Filter(store, name)

    def tamis_filter_exists(self, store, name):
        try:
            self.run(store, "info", name, "capacity")
        except Failed:
            return 0
        return 1

    def tamis_filter_drop(self, store, name):
        self.run(store, "drop", name)

    def tamis_filter_rename(self, store, old_name, new_name):
        self.run(store, "rename", old_name, new_name)

    def tamis_filter_set_pages(self, store, name, pages):
        self.run(store, "pages", name, pages)

    def tamis_filter_rotate(self, filter_):
        self.run(filter_.store, "rotate", filter_.name)

    def tamis_filter_sync(self, filter_):
        self.run(filter_.store, "sync", filter_.name)

    # Keys.

    def answers(self, filter_, command, keys, field):
        came = self.objects(filter_.store, command, filter_.name, "--hex", input_=lines_of(keys), may_be=(0, 1))
        return [answer[field] for answer in came]

    def tamis_filter_add_batch(self, filter_, keys):
        return self.answers(filter_, "add", keys, "new")

    def tamis_filter_contains_batch(self, filter_, keys):
        return self.answers(filter_, "check", keys, "present")

    def tamis_filter_remove_batch(self, filter_, keys):
        came = self.objects(filter_.store, "remove", filter_.name, "--hex", input_=lines_of(keys), may_be=(0, 2))
        if len(came) != len(keys):
            raise Failed("it cannot remove")
        return [answer["removed"] for answer in came]

    def tamis_filter_count_batch(self, filter_, keys):
        return self.answers(filter_, "count", keys, "count")

    def tamis_filter_add(self, filter_, key):
        return self.tamis_filter_add_batch(filter_, [key])[0]

    def tamis_filter_contains(self, filter_, key):
        return self.tamis_filter_contains_batch(filter_, [key])[0]

    def tamis_filter_remove(self, filter_, key):
        return self.tamis_filter_remove_batch(filter_, [key])[0]

    def tamis_filter_count(self, filter_, key):
        return self.tamis_filter_count_batch(filter_, [key])[0]

    # Looking inside, merging, streams.

    def tamis_filter_stat(self, filter_):
        return stat_of(self.objects(filter_.store, "info", filter_.name)[0])

    def tamis_filter_items(self, filter_):
        return int(self.run(filter_.store, "info", filter_.name, "items"))

    def tamis_filter_fill(self, filter_, index):
        segments = self.objects(filter_.store, "info", filter_.name)[0]["segments"]
        if index >= len(segments):
            raise Failed("no such segment")
        return {**segments[index], "ones": round(segments[index]["fill"] * segments[index]["m_bits"])}

    tamis_filter_segment = tamis_filter_fill

    def explained(self, *words, key):
        found = self.objects(*words, "--hex", input_=lines_of([key]))[0]
        return {"hashes": ",".join(found["hashes"]), "positions": found["positions"]}

    def tamis_filter_explain(self, filter_, index, key):
        if index:
            raise Failed("no such segment")
        return self.explained(filter_.store, "explain", filter_.name, key=key)

    def tamis_explain(self, _, hash_set, m_bits, k, seed, key):
        return self.explained(None, "explain", "--hash-set", hash_set, "-m", str(m_bits), *(["-k", str(k)] if k else []),
                              *(["--seed", str(seed)] if seed else []), key=key)

    def tamis_size(self, _, sizing):
        if len(sizing.keys() - {"kind"}) < 2:
            raise Failed("calc takes 1 % where the library asks for a rate")
        found = self.objects(None, "calc", "--on-full", "refuse", *options("tamis_size", sizing))[0]
        return {**found, "predicted_rate": found["true_rate"]}

    def tamis_filter_merge(self, filter_, sources, flags):
        if flags:
            raise Failed("no such flag")
        self.run(filter_.store, "merge", filter_.name, *(self.handles[source].name for source in sources))

    def tamis_filter_create_merged(self, store, name, sources, flags):
        for flag in set(flags) - {"INTERSECT"}:
            raise Lacks(f"tamis_filter_create_merged({flag})")
        names = [self.handles[source].name for source in sources]
        if self.tamis_filter_exists(store, name):
            raise Failed("it is there")
        self.run(store, "merge", *(["--intersect"] if flags else []), name, *names)
        return Filter(store, name)

    def tamis_filter_compare(self, filter_, other):
        return self.objects(filter_.store, "compare", filter_.name, self.handles[other].name)[0]

    def tamis_filter_import(self, store, name, format_, spec, file):
        self.run(store, "import", name, "--from", format_, file, *options("tamis_filter_import", spec))
        return Filter(store, name)

    def tamis_filter_publish(self, store, name, format_, spec, file):
        words = options("tamis_filter_publish", spec)
        before = [each["generation"] for each in self.objects(store, "generations", name)]
        self.run(store, "import", name, "--from", format_, "--publish", "-q", file, *words)
        after = [each["generation"] for each in self.objects(store, "generations", name)]
        return {"published": max(after) != max(before), "generation": max(after)}

    def tamis_filter_export(self, filter_, format_, flags, file):
        names = {"WITH_KEY": "--with-key", "WITH_DIGEST": "--digest"}
        for flag in set(flags) - names.keys():
            raise Lacks(f"tamis_filter_export({flag})")
        self.run(filter_.store, "export", filter_.name, "--to", format_, file, *(names[flag] for flag in flags))

    # Builds.

    def tamis_build_begin(self, store, name, spec):
        given = dict(spec or {})
        about = options("tamis_build_begin", given.pop("filter", None))
        return Build(store, name, about + options("tamis_build_begin", given))

    def tamis_build_add(self, build, keys):
        build.keys += lines_of(keys)

    def tamis_build_against(self, build, keys):
        build.against += lines_of(keys)

    def tamis_build_except(self, build, keys):
        build.except_ += lines_of(keys)

    def tamis_build_publish(self, build):
        words = list(build.words)
        with tempfile.TemporaryDirectory() as directory:
            for option, lines in (("--against", build.against), ("--except", build.except_)):
                if lines:
                    words += [option, os.path.join(directory, option)]
                    with open(words[-1], "w", encoding="ascii") as file:
                        file.write(lines)
            return self.objects(build.store, "build", build.name, "--hex", *words, input_=build.keys)[0]

    def tamis_build_close(self, _):
        pass

    def tamis_filter_generations(self, store, name):
        found = self.objects(store, "generations", name)
        return [{**each, "in_force": each["state"] == "in-force"} for each in found]

    def tamis_filter_rollback(self, store, name, generation):
        self.run(store, "rollback", name, *([str(generation)] if generation else []))

    def tamis_filter_except(self, store, name, keys):
        before = len(self.tamis_filter_exceptions(store, name))
        self.run(store, "except", name, "add", "--hex", input_=lines_of(keys))
        return len(self.tamis_filter_exceptions(store, name)) - before

    def tamis_filter_unexcept(self, store, name, keys):
        before = self.tamis_filter_exceptions(store, name)
        self.run(store, "except", name, "remove", "--hex", input_=lines_of(keys), may_be=(0, 1))
        return [int(hexadecimal(key) in before) for key in keys]

    def tamis_filter_exceptions(self, store, name):
        return self.run(store, "except", name, "list", "--hex", may_be=(0, 1)).splitlines()

    # The library.

    def tamis_version(self, _):
        return self.run(None, "version").split()[1]

    def tamis_last_error(self, _):
        return self.message

    # The loop.

    def answer(self, step):
        if step.get("case") in NO_HANDLES:
            return {"cannot": "a command that ends keeps nothing open"}
        return {"value": None} if "case" in step else self.call(step)

    def call(self, step):
        function = getattr(self, step["call"], None)
        if function is None:
            return {"lacks": step["call"]}
        with_ = {"format_" if name == "format" else name: value for name, value in step.get("with", {}).items()}
        try:
            value = function(self.handles[step["on"]] if "on" in step else None, **with_)
        except Lacks as lacks:
            return {"lacks": str(lacks)}
        except Failed as failed:
            self.message = str(failed)
            return {"error": "ANY", "message": self.message}
        if isinstance(value, (Store, Filter, Build)):
            self.handles[step.get("as")] = value
            value = None
        return {"value": value}


def functions():
    return sorted(name for name in dir(Runner) if name.startswith("tamis_"))


def race(tamis, store, name, first, count, seed, out):
    """The command itself takes the place of this process, and writes its NEW keys to the file."""
    start, stride = seed * 104729, STRIDES[seed % len(STRIDES)]
    with tempfile.TemporaryFile() as keys, open(out, "ab") as new:
        keys.write("".join(f"key-{first + (start + i * stride) % count}\n" for i in range(count)).encode())
        keys.seek(0)
        print("ready", flush=True)
        sys.stdin.readline()
        os.dup2(keys.fileno(), 0)
        os.dup2(new.fileno(), 1)
        os.execv(tamis, [tamis, "--store", store, "add", "--new", name])


def found(tamis, store, name, first, count):
    keys = "".join(f"key-{number}\n" for number in range(first, first + count))
    done = subprocess.run([tamis, "--store", store, "check", "-c", name], input=keys.encode(), stdout=subprocess.PIPE, check=True)
    print(int(done.stdout))


def main(tamis, words):
    if words[:1] == ["functions"]:
        print(json.dumps(functions()))
    elif words[:1] == ["race"]:
        race(tamis, words[1], words[2], *(int(word) for word in words[3:6]), words[7])
    elif words[:1] == ["found"]:
        found(tamis, words[1], words[2], int(words[3]), int(words[4]))
    else:
        runner = Runner(tamis)
        for line in sys.stdin:
            step = json.loads(line)
            print(json.dumps(runner.answer(step)), flush=True)


main(sys.argv[1], sys.argv[2:])
