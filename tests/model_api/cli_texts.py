# SPDX-License-Identifier: BSD-2-Clause
"""cli_texts.py TAMIS STORE SEED: what the texts of `tamis` say of STORE, which a sequence of the model has left, is what
--json says, which cli_shown.c holds to the library; and what its keys are, by any option about lines, is what ten lines of
Python read.  Prints the first thing that is wrong, and ends with status 1."""
import csv
import fnmatch
import gzip
import io
import json
import os
import random
import subprocess
import sys
import tempfile

TAMIS, STORE, SEED = sys.argv[1], sys.argv[2], int(sys.argv[3])
chance = random.Random(SEED)


def run(*words, store=STORE, stdin=b"", status=0):
    done = subprocess.run([TAMIS, "--store", store, *words], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    last = done.stdout[-1:] if done.stdout else done.stderr[-1:] or b"\n"
    wanted = status if isinstance(status, tuple) else (status,)
    if done.returncode not in wanted or last not in (b"\n", b"\0") and b"export" not in words:
        wrong(words, stdin, f"status {done.returncode}, not {wanted}", done.stdout, done.stderr)
    return done


def wrong(words, stdin, *what):
    print(f"tamis {words!r} with {stdin[:300]!r}:", *what)
    sys.exit(1)


def same(words, told, wanted, stdin=b""):
    if told != wanted:
        wrong(words, stdin, f"told {told!r}"[:2000], f"wanted {wanted!r}"[:2000])


def objects(*words, **options):
    return [json.loads(line) for line in run(*words, **options).stdout.decode("utf-8").splitlines()]


# ---- Texts beside --json ---------------------------------------------------------------------------------------------------

def in_words(value):
    """A value of --json as `info NAME FIELD` and --csv print it."""
    return {True: "true", False: "false", None: "never"}[value] if value is None or isinstance(value, bool) else (
        value if isinstance(value, str) else json.dumps(value))


def number_in(text):
    """What a person's form of a number or a size is, and how exactly it is said; None: it is none."""
    units = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "B": 1, "k": 1e3, "M": 1e6, "G": 1e9, "%": 0.01}
    for unit, factor in units.items():
        if text.endswith(unit):
            text = text[:-len(unit)].strip()
            break
    else:
        factor = 1
    digits = text.split("e")[0]
    step = 10.0 ** -(len(digits.split(".")[1]) if "." in digits else 0)
    step *= 10.0 ** int(text.split("e")[1]) if "e" in text else 1
    return float(text) * factor, step * factor / 2 * 1.01


def near(words, text, value):
    told, within = number_in(text)
    if abs(told - value) > within + 1e-9 * abs(value):
        wrong(words, b"", f"{text!r} is not {value!r}")


def field_texts(name, known):
    whole = dict(line.split(": ", 1) for line in run("info", name, "--all").stdout.decode().splitlines()
                 if ": " in line and not line.startswith("segments"))
    for field, value in known.items():
        if field == "segments":
            same(("info", field), len(run("info", name, field).stdout.splitlines()), len(value))
            continue
        if chance.random() < 0.3:
            told = run("info", name, field).stdout.decode()
            if isinstance(value, float):
                near(("info", name, field), told.strip(), value)
                same(("info", name, field), float(told), value)
            else:
                same(("info", name, field), told, in_words(value) + "\n")
            same(("info", name, field, "--json"), json.loads(run("info", name, field, "--json").stdout), value)
        if field in whole and isinstance(value, (int, float)) and not isinstance(value, bool):
            near(("info", name, "--all"), whole[field].split(" (")[0], value)
        elif value is not None and value != "":
            same(("info", name, "--all", field), whole.get(field, "").split(" since")[0], in_words(value))
    short = run("info", name).stdout.decode().splitlines()
    for line in short:
        field, text = line.split(": ", 1) if ": " in line else (line.rstrip(":"), "")
        if field in whole and whole[field] != text:
            wrong(("info", name), b"", f"{line!r}, and --all has {whole[field]!r}")
    same(("info", name), short[0], f"name: {name}")


def sums(name, known):
    segments = known["segments"]
    alive = [s for s in segments if s.get("live", True)]
    what = ("info", name, "--json")
    same(what, known["items_estimated"], sum(s["items_estimated"] for s in alive))
    same(what, known["m_bits"], sum(s["m_bits"] for s in segments))
    refused = 1.0
    for s in alive:
        refused *= 1 - s["fp_rate_now"]
    if abs(known["fp_rate_now"] - (1 - refused)) > 1e-12:
        wrong(what, b"", f"fp_rate_now {known['fp_rate_now']} of {alive}")
    fill = sum(s["fill"] * s["m_bits"] for s in segments) / known["m_bits"]
    if known["fingerprint_bits"] == 0 and abs(known["fill"] - fill) > 1e-9:
        wrong(what, b"", f"fill {known['fill']}, not {fill}")
    note = known["note"]
    full = any(word in note for word in ("holds as many", "too many", "its share"))
    estimated = "estimate from the set bits" in note
    same(what, full, known["state"] != "ok" and known["state"].split(",")[0] in ("full", "over"))
    same(what, [known["pages"]], [o["pages"] for o in objects("pages", name, "--json")])
    return estimated


def the_list(known):
    """Rows of `list` by JSON, as CSV, as a table, chosen and sorted."""
    rows = objects("list", "--json", status=(0, 1))
    same(("list", "--json"), [r["name"] for r in rows], sorted(known, key=str.encode))
    for row in rows:
        for field in set(row) & set(known[row["name"]]) - {"fp_rate_now", "note"}:
            same(("list", "--json", field), row[field], known[row["name"]][field])
    columns = chance.sample(["kind", "capacity", "items", "size_bytes", "fp_rate", "m_bits", "k", "seed", "state", "on_full",
                             "created_at", "durable", "keep", "exceptions", "generation", "slices", "window_items"], 5)
    chosen = ",".join(["name", *columns])
    table = list(csv.reader(io.StringIO(run("list", "--csv", "-o", chosen, status=(0, 1)).stdout.decode())))
    for cells, row in zip(table[1:], rows):
        for column, cell in zip(["name", *columns], cells):
            wanted = row[column]
            same(("list", "--csv", column), float(cell) if isinstance(wanted, float) else cell,
                 wanted if isinstance(wanted, float) else in_words(wanted))
    same(("list", "--csv", chosen), len(table), len(rows) + 1 if rows else 0)
    column = chance.choice(["items", "capacity", "size_bytes", "generation"])
    least = chance.choice([r[column] for r in rows]) if rows else 0
    operator, holds = chance.choice([(">", int.__gt__), (">=", int.__ge__), ("=", int.__eq__), ("!=", int.__ne__),
                                     ("<", int.__lt__), ("<=", int.__le__)])
    pattern = chance.choice(["*", "?e*", "*a", "delta*", "[ab]*", "zeta/6"])
    shown = [r for r in rows if holds(r[column], least) and fnmatch.fnmatchcase(r["name"], pattern)]
    words = ["list", "-q", pattern, "--where", f"{column}{operator}{least}", "--sort", column]
    shown.sort(key=lambda r: -r[column])
    if chance.random() < 0.5:
        words.append("--reverse")
        shown.sort(key=lambda r: r[column])
        return
    done = run(*words, status=0 if shown else 1)
    same(words, done.stdout.decode().splitlines(), [r["name"] for r in shown])
    total = objects("list", "--json", "--total", "-o", "name,items", status=(0, 1))[-1].get("total", {})
    if rows:
        for field, wanted in (("filters", len(rows)), ("items", sum(r["items"] for r in rows)),
                              ("size_bytes", sum(r["size_bytes"] for r in rows)),
                              ("not_ok", sum(r["state"] != "ok" for r in rows))):
            same(("list", "--total", field), total.get(field), wanted)
    text = run("list", "-o", "name,kind,items,capacity,size,state", "--total", status=(0, 1)).stdout.decode().splitlines()
    if rows:
        same(("list", "--total"), len(text), len(rows) + 2)
    for line, row in zip(text[1:], rows):
        cells = line[len(row["name"]):].split()
        same(("list",), [line.startswith(row["name"]), *cells[:2]], [True, row["kind"], str(row["items"])])
        near(("list", "size"), " ".join(cells[3:5]), row["size_bytes"])


def other_texts(name, known):
    rows = objects("generations", name, "--json")
    text = [line.split() for line in run("generations", name).stdout.decode().splitlines()[1:]]
    same(("generations", name), [line[:2] for line in text], [[str(r["generation"]), r["state"]] for r in rows])
    same(("generations", name), [line[-1] for line in text], [r["published_at"] for r in rows])
    same(("generations", name), [line[-2] for line in text], [str(r["found"]) for r in rows])
    listed = objects("except", name, "list", "--json")
    same(("except", name, "list"), len(listed), known["exceptions"])
    same(("except", name, "list"), run("except", name, "list", "--hex").stdout.decode().split("\n")[:-1],
         [o["key_hex"] if "key_hex" in o else o["key"].encode().hex() for o in listed])
    key = b"key-%d" % chance.randrange(1000)
    explained = objects("explain", name, key.decode(), "--json")
    text = run("explain", name, key.decode()).stdout.decode().splitlines()
    same(("explain", name), text, ["\t".join([key.decode(), ",".join(map(str, o["hashes"])), ",".join(map(str, o["positions"]))])
                                   for o in explained])
    same(("explain", name, "--hex"), run("explain", name, "-z", "--hex", key.hex()).stdout,
         b"".join((key.hex() + line[len(key):]).encode() + b"\0" for line in text))
    if known["slices"] == 0 and len(known["segments"]) == 1 and known["fingerprint_bits"] == 0:
        [told] = objects("compare", name, name, "--json")
        text = dict(line.split(": ", 1) for line in run("compare", name, name).stdout.decode().splitlines())
        for field in ("items_a", "items_b", "items_union", "items_both"):
            same(("compare", field), text[field].split()[0], str(told[field]))
        same(("compare", name), text["items_both"].split("take ")[-1], f"{told['error']})")
        near(("compare", name), text["jaccard"], told["jaccard"])


def a_backup(known, scratch):
    copy, again = f"{scratch}/copy", f"{scratch}/again"
    [told] = objects("backup", copy, "--json")
    same(("backup",), (told["directory"], told["filters"], told["damaged"]), (copy, len(known), 0))
    run("verify", store=copy)
    rows = [objects("list", "--json", store=of, status=(0, 1)) for of in (STORE, copy)]
    for one, other in zip(*rows):
        for field in ("name", "kind", "items", "capacity", "size_bytes", "seed", "on_full", "state", "exceptions", "created_at"):
            if one["slices"] == 0 and one["counter_bits"] == 0:
                same(("backup", field), other[field], one[field])
    told = objects("restore", copy, "--json", store=again)
    same(("restore",), sorted(o["name"] for o in told), sorted(known))


# ---- Keys by lines ---------------------------------------------------------------------------------------------------------

def keys_of(data, options):
    """Keys, and the records that they stand in, which are printed."""
    pieces = data.split(b"\0" if "-z" in options else b"\n")
    if not pieces[-1]:
        pieces.pop()  # a last line without its end is a key too
    for record in pieces:
        piece = record
        if "--crlf" in options and piece.endswith(b"\r"):
            piece = piece[:-1]
        if "--comments" in options and piece.startswith(b"#") or "--skip-blank" in options and not piece.strip(b" \t"):
            continue
        yield bytes.fromhex(piece.decode()) if "--hex" in options else piece, piece if "--hex" in options else record


def some_input(options):
    """Lines, the last one perhaps without its end."""
    plain = [b"", b"a", b" ", b"\t ", b"#a", b" #", b"b\r", b"\r", b"\xff\xfe\x01", "é".encode(), b"-n", b"x" * 5000, b"a\tb",
             b'"q"', b"\\", b"end\r\r"]
    lines = []
    for _ in range(chance.choice([0, 1, 3, 40, 300])):
        line = chance.choice(plain) if chance.random() < 0.3 else b"key %d" % chance.randrange(200)
        if "--hex" in options:
            line = line.hex().encode() if chance.random() < 0.9 or "--comments" not in options else b"# note"
        if "--crlf" in options and chance.random() < 0.7:
            line += b"\r"
        lines.append(line)
    end = b"\0" if "-z" in options else b"\n"
    data = end.join(lines) + (end if lines and chance.random() < 0.7 else b"")
    return data if data[:2] not in (b"\xff\xfe", b"\xfe\xff") else b"k\n" + data


class Lines:
    """A store of its own, and what must be in it."""

    def __init__(self, scratch):
        self.scratch, self.store = scratch, f"{scratch}/store"
        self.plain, self.counted, self.excepted, self.turn = set(), {}, set(), 0
        self.run("create", "plain", "-n", "10k", "-p", "1e-9")
        self.run("create", "counted", "-n", "10k", "-p", "1e-9", "--kind", "counting", "--counter-bits", "16")

    def run(self, *words, **options):
        return run(*words, store=self.store, **options)

    def source(self, by_option=True):
        """Options, words that name files, standard input, and the keys that are meant."""
        options = [o for o in ("-z", "--hex", "--crlf", "--comments", "--skip-blank") if chance.random() < 0.25]
        if "-z" in options and "--crlf" in options:
            options.remove("--crlf")
        parts = [some_input(options) for _ in range(chance.choice([1, 1, 2, 3]))]
        if chance.random() < 0.3 and not any(part[:1] == b"\x1f" for part in parts):
            packed = [gzip.compress(part) for part in parts]
        else:
            packed = parts
            if chance.random() < 0.3:
                options.append("--raw")
        both = [pair for part in parts for pair in keys_of(part, options)]
        keys, self.records = [key for key, _ in both], [record for _, record in both]
        if len(parts) == 1 and chance.random() < 0.5:
            return options, [], packed[0], keys
        words = []
        for part in packed:
            self.turn += 1
            path = f"{self.scratch}/keys{self.turn}"
            with open(path, "wb") as file:
                file.write(part)
            words += ["--file", path] if by_option else [path]
        return options, words, b"", keys

    def printed(self, chosen, options):
        """The records that were read, as they were, if they are chosen."""
        end = b"\0" if "-z" in options else b"\n"
        return b"".join(record + end for record, wanted in zip(self.records, chosen) if wanted)

    def add(self):
        options, files, stdin, keys = self.source()
        which = chance.choice(["--new", "--seen", "--stats"])
        fresh = []
        for key in keys:
            fresh.append(key not in self.plain)
            self.plain.add(key)
        words = ["add", "plain", which, *options, *files]
        done = self.run(*words, stdin=stdin)
        shown = [which != "--stats" and new == (which == "--new") for new in fresh]
        same(words, done.stdout, self.printed(shown, options), stdin)
        if which == "--stats":
            wanted = f"{len(keys)} key{'s' * (len(keys) != 1)}, {sum(fresh)} new, "
            same(words, wanted.encode() in done.stderr, True, done.stderr)

    def check(self):
        options, files, stdin, keys = self.source()
        hits = [key in self.plain and key not in self.excepted for key in keys]
        how = [o for o in ("-v", "-c", "-q") if chance.random() < 0.4]
        chosen = [hit != ("-v" in how) for hit in hits]
        wanted = sum(chosen)
        words = ["check", *how, "plain", *options, *files]
        done = self.run(*words, stdin=stdin, status=0 if wanted else 1)
        text = self.printed(chosen, options) if "-c" not in how else b"%d\n" % wanted
        same(words, done.stdout, b"" if "-q" in how else text, stdin)

    def count(self):
        options, files, stdin, keys = self.source()
        what = chance.choice(["add", "remove", "count"])
        words = [what, "counted", *options, *files]
        gone, text = 0, []
        for key in keys:
            now = self.counted.get(key, 0)
            text.append((key.hex().encode() if "--hex" in options else key) + b"\t%d" % now)
            gone += what == "remove" and now == 0
            self.counted[key] = now + 1 if what == "add" else max(now - 1, 0) if what == "remove" else now
        done = self.run(*words, stdin=stdin, status=2 if gone else 0)
        end = b"\0" if "-z" in options else b"\n"
        same(words, done.stdout, b"".join(t + end for t in text) if what == "count" else b"", stdin)
        if what == "remove":
            same(words, done.stderr.count(b"is not in 'counted'"), gone, done.stderr)

    def exceptions(self):
        options, files, stdin, keys = self.source()
        what = chance.choice(["add", "remove"])
        was = set(self.excepted)
        missing = [key for key in keys if key not in was] if what == "remove" else []
        self.excepted = was | set(keys) if what == "add" else was - set(keys)
        repeated = what == "remove" and len(set(keys)) != len(keys)
        words = ["except", "plain", what, *options, *files]
        self.run(*words, stdin=stdin, status=(0, 1) if repeated else 1 if missing else 0)
        told = self.run("except", "plain", "list", "-z").stdout
        same(("except", "plain", "list"), told, b"".join(key + b"\0" for key in sorted(self.excepted)), stdin)

    def build(self):
        options, files, stdin, keys = self.source(by_option=False)
        words = ["build", "built", "--json", "--allow-empty", "-p", "1e-9", "--keep", str(chance.randrange(3)), *options, *files]
        [told] = [json.loads(line) for line in self.run(*words, stdin=stdin).stdout.splitlines()]
        same(words, (told["keys"], told["distinct"]), (len(keys), len(set(keys))), stdin)
        strangers = [b"stranger %d" % i for i in range(20)]
        done = self.run("check", "-z", "built", stdin=b"\0".join([*keys, *strangers, b""]), status=0 if keys else 1)
        same(words, done.stdout, b"".join(key + b"\0" for key in keys), stdin)

    def uniq(self):
        end = chance.choice([b"\n", b"\0"])
        data = end.join([b"line %d" % chance.randrange(60) for _ in range(chance.choice([1, 50, 200]))]) + end
        lines = data.split(end)[:-1]
        seen = chance.random() < 0.5
        wanted = [line for i, line in enumerate(lines) if (line in lines[:i]) == seen]
        words = ["uniq", "--stats", *["-z"] * (end == b"\0"), *["--seen"] * seen]
        done = self.run(*words, stdin=data)
        same(words, done.stdout, b"".join(line + end for line in wanted), data)
        same(words, f"{len(lines)} key{'s' * (len(lines) != 1)}, {len(set(lines))} new".encode() in done.stderr, True, done.stderr)

    def errors(self):
        garbage, there = f"{self.scratch}/garbage", f"{self.scratch}/there"
        for path in garbage, there:
            with open(path, "wb") as file:
                file.write(b"nothing of ours\n")
        before = self.run("list", "--json").stdout
        cases = [(("check", "nope", "x"), "nope"), (("add", "nope", "x"), "nope"), (("info", "nope"), "nope"),
                 (("rename", "nope", "z"), "nope"), (("rename", "plain", "counted"), "counted"), (("drop", "plain", "nope"), "nope"),
                 (("info", "plain", "colour"), "colour"), (("add", "plain", "--file", "/nowhere/f"), "/nowhere/f"),
                 (("add", "plain", "--colour"), "--colour"), (("create", "plain", "-n", "10"), "plain"),
                 (("create", "x", "-n", "10", "-p", "2"), "2"), (("create", "x", "-n", "many"), "many"),
                 (("create", "x"), "-n"), (("import", "x", "--from", "tamis", garbage), garbage),
                 (("import", "x", "--from", "tamis", "/nowhere/f"), "/nowhere/f"), (("import", "x", "--from", "nosuch", garbage), "nosuch"),
                 (("export", "plain", "--to", "tamis", there), there), (("export", "nope", "--to", "tamis", f"{there}2"), "nope"),
                 (("rollback", "plain"), "plain"), (("rotate", "plain"), "plain"), (("remove", "plain", "x"), "plain"),
                 (("count", "plain", "x"), "plain"), (("merge", "plain", "nope"), "nope"), (("merge", "plain", "counted"), "counted"),
                 (("compare", "plain", "counted"), "counted"), (("generations", "nope"), "nope"), (("sync", "nope"), "nope"),
                 (("verify", "nope"), "nope"), (("explain", "nope", "x"), "nope"), (("except", "nope", "list"), "nope"),
                 (("pages", "nope"), "nope"), (("pages", "plain", "vast"), "vast"), (("build", "x", "/nowhere/f"), "/nowhere/f"),
                 (("restore", "/nowhere/d"), "/nowhere/d"), (("add", "plain", "--hex", "zz"), "hex"), (("nosuch",), "nosuch"),
                 (("list", "--where", "colour=1"), "colour"), (("list", "--sort", "colour"), "colour")]
        for words, named in chance.sample(cases, 12):
            done = self.run(*words, status=2)
            said = done.stderr.decode()
            same(words, [done.stdout, said.startswith("tamis: "), named in said, said.endswith("\n")], [b"", True, True, True], done.stderr)
        same(("list", "--json"), self.run("list", "--json").stdout, before)


def main():
    known = {name: objects("info", name, "--json")[0] for name in
             run("list", "-q", status=(0, 1)).stdout.decode().splitlines()}
    for name in chance.sample(sorted(known), min(2, len(known))):
        field_texts(name, known[name])
        sums(name, known[name])
        other_texts(name, known[name])
    the_list(known)
    with tempfile.TemporaryDirectory(prefix="tamis-texts-") as scratch:
        if known:
            a_backup(known, scratch)
        lines = Lines(scratch)
        for _ in range(8):
            chance.choice([lines.add, lines.check, lines.count, lines.exceptions, lines.build, lines.uniq, lines.add, lines.check])()
        lines.errors()


main()
