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
import re
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


def segment_texts(name, segments):
    lines = run("info", name, "segments").stdout.decode().splitlines()
    same(("info", name, "segments"), len(lines), len(segments))
    for line, s in zip(lines, segments):
        head, size = line.rsplit(", ", 1)
        if "slice_start" not in s:
            head, fill = head.rsplit(", ", 1)
            near(("info", name, "segments"), fill.split(" set")[0], s["fill"])
            near(("info", name, "segments"), size, s["size_bytes"])
        wanted = f"{s['file']} {s['kind']} {s['hash_set']}, {s['m_bits']} {'counters' if s['counter_bits'] else 'bits' if s['m_bits'] > 1 else 'bit'}, k {s['k']}, "
        same(("info", name, "segments"), head.startswith(wanted), True, line)
        same(("info", name, "segments"), f"{s['items']} of {s['capacity']} item" in line, True, line)


def field_texts(name, known):
    whole = dict(line.split(": ", 1) for line in run("info", name, "--all").stdout.decode().splitlines()
                 if ": " in line and not line.startswith("segments"))
    for field, value in known.items():
        if field == "segments":
            segment_texts(name, value)
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
    share = whole["fill"].split("(")[1].split(" % of the ")
    near(("info", name, "fill"), share[0] + " %", known["fill"])
    kinds = {"fuse": "fingerprints are not 0", "counting": "counters are above 0"}
    same(("info", name, "fill"), share[1], kinds.get(known["kind"], "bits are set") + ")")
    size, cell = whole["m_bits"].split("(")[1][:-1], known["fingerprint_bits"] or known["counter_bits"]
    if cell:
        same(("info", name, "m_bits"), size, f"{'fingerprints' if known['fingerprint_bits'] else 'counters'} of {cell} bits")
    else:
        near(("info", name, "m_bits"), size, known["m_bits"] / 8)
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


COLUMNS = ["kind", "capacity", "items", "used", "rate", "rate-now", "bits", "size", "state", "fp_rate", "m_bits", "k", "size_bytes",
           "generation", "created_at", "on_full", "window_items", "slices", "live_slices", "keep", "exceptions", "durable", "pages",
           "unclean_since"]


def all_rows(known):
    """What `list` has of each filter, under the names of all columns."""
    rows = objects("list", "--json", status=(0, 1))
    same(("list", "--json"), [r["name"] for r in rows], sorted(known, key=str.encode))
    for row in rows:
        same(("list", "--json"), row["items_as_of"], "now")
        for field in set(row) & set(known[row["name"]]) - {"fp_rate_now", "note"}:
            same(("list", "--json", field), row[field], known[row["name"]][field])
        room = row["window_items"] or row["capacity"]
        row.update({"used": float(f"{row['items'] / room:.15g}") if room else 0, "rate": row["fp_rate"], "rate-now": row["fp_rate_now"],
                    "bits": row["m_bits"] * (row["counter_bits"] or 1), "size": row["size_bytes"]})
    return rows


def condition(rows):
    """An argument of --where, and which rows it takes; a missing time meets no condition but !=."""
    column, row = chance.choice(["name", *COLUMNS]), chance.choice(rows)
    value = row[column]
    if column == "state":
        return "state!=ok", [r["state"] != "ok" for r in rows]
    if column in ("kind", "name", "on_full", "pages") and chance.random() < 0.5:
        return f"{column}~{value[0]}*", [r[column].startswith(value[0]) for r in rows]
    if value is None or isinstance(value, (bool, float)) or column.endswith("_at"):
        return f"items>={row['items']}", [r["items"] >= row["items"] for r in rows]
    sign, test = chance.choice([("=", lambda a: a == value), ("!=", lambda a: a != value), ("<", lambda a: a < value),
                                ("<=", lambda a: a <= value), (">", lambda a: a > value), (">=", lambda a: a >= value)])
    if isinstance(value, str):
        sign, test = chance.choice([("=", lambda a: a == value), ("!=", lambda a: a != value)])
    return f"{column}{sign}{value}", [test(r[column]) for r in rows]


def shown_cell(words, column, text, value):
    """A cell of the table is the value, as exactly as it is said."""
    if value is None or value == "":
        same((*words, column), text, "-")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        near((*words, column), "0.99" if text == "99%" and value < 1 else text, 0.99 if text == "99%" and value < 1 else value)
    else:
        same((*words, column), text, in_words(value))


def a_list(rows):
    """`list` with options by chance: which filters, in which order, in which form."""
    words, shown = ["list"], rows
    for _ in range(chance.choice([0, 0, 1, 2])):
        what, takes = condition(rows)
        words += ["--where", what]
        shown = [row for row, take in zip(rows, takes) if take and row in shown]
    if chance.random() < 0.4:
        name = chance.choice(rows)["name"]
        pattern = chance.choice([name[0] + "*", "*" + name[-1], name, name[:2], "?" * len(name), "[" + name[0] + "z]*", "nix"])
        words.append(pattern)
        shown = [r for r in shown if fnmatch.fnmatchcase(r["name"], pattern) or r["name"].startswith(pattern)]
    if chance.random() < 0.6:
        column = chance.choice(["name", *chance.choice([COLUMNS[:8], [c for c in COLUMNS if c not in ("state", "durable", "unclean_since")]])])
        words += ["--sort", column]
        shown = sorted(shown, key=lambda r: r[column] if isinstance(r[column], str) else -r[column])
    if chance.random() < 0.4:
        words.append("--reverse")
        shown = shown[::-1]
    columns = ["name", *chance.sample(COLUMNS, 4)]
    form = chance.choice(["--json", "--csv", "-q", "--human", "--color=never"])
    words += [form] + (["-o", ",".join(columns)] if form != "-q" else [])
    total = form not in ("-q", "--csv") and chance.random() < 0.5
    text = run(*words, *["--total"] * total, status=0 if shown else 1).stdout.decode()
    if not shown:
        return same(words, text.strip(), "")
    if form == "--json":
        told = [json.loads(line) for line in text.splitlines()]
        sums = {"filters": len(shown), "not_ok": sum(r["state"] != "ok" for r in shown)}
        sums.update({c: sum(r[c] for r in shown) for c in ("capacity", "items", "bits", "size_bytes")})
        same(words, told.pop()["total"] if total else sums, sums)
        return same(words, [list(r.items()) for r in told], [[(c, r[c]) for c in columns] for r in shown])
    if form == "-q":
        return same(words, text.splitlines(), [r["name"] for r in shown])
    if form == "--csv":
        table = list(csv.reader(io.StringIO(text)))
        wanted = [["" if r[c] is None else r[c] if isinstance(r[c], float) else in_words(r[c]) for c in columns] for r in shown]
        told = [[float(cell) if isinstance(is_, float) else cell for cell, is_ in zip(*pair)] for pair in zip(table[1:], wanted)]
        return same(words, [table[0], *told], [columns, *wanted])
    table = [re.split(r"  +", line.strip()) for line in text.splitlines()]
    same(words, table[0], [c.upper() for c in columns])
    same(words, [line[0] for line in table[1:]], [r["name"] for r in shown] + [f"{len(shown)} filter{'s' * (len(shown) > 1)}"] * total)
    for line, row in zip(table[1:], shown):
        for column, cell in zip(columns, line):
            shown_cell(words, column, cell, row[column])
    for column in [c for c in ("capacity", "items", "bits") if total and c in columns and form != "--human"]:
        same((*words, column), str(sum(r[column] for r in shown)) in table[-1], True)
    return None


# ---- Commands that tell what they did, as a text and as JSON ---------------------------------------------------------------


def generations(name, known):
    rows = objects("generations", name, "--json")
    text = [line.split() for line in run("generations", name).stdout.decode().splitlines()[1:]]
    same(("generations", name), [line[:4] + line[-2:] for line in text],
         [[str(r["generation"]), r["state"], r["kind"], str(r["items"]), str(r["found"]), r["published_at"]] for r in rows])
    for line, row in zip(text, rows):
        near(("generations", name), line[4], row["fp_rate"])
        near(("generations", name), " ".join(line[5:7]), row["size_bytes"])
    now, older = known["generation"], [r["generation"] for r in rows if r["generation"] < known["generation"]]
    if not older:
        return
    said = run("rollback", name).stderr.decode()
    same(("rollback", name), said, f"tamis: generation {older[-1]} of '{name}' is in force, instead of generation {now}\n")
    same(("rollback", name), [r["generation"] for r in objects("generations", name, "--json") if r["state"] == "in-force"], older[-1:])
    same(("rollback", name, "--json"), objects("rollback", name, str(now), "--json"),
         [{"name": name, "generation": now, "before": older[-1]}])
    again = objects("generations", name, "--json")
    same(("generations", name), [{**r, "published_at": 0} for r in again], [{**r, "published_at": 0} for r in rows])


def synced(name):
    silent = run("sync", name)
    same(("sync", name), silent.stdout + silent.stderr, b"")
    [told] = objects("sync", name, "--json", *["--accept"] * chance.choice([0, 1]))
    [now] = objects("info", name, "--json")
    same(("sync", name, "--json"), told, {field: now[field] for field in ("name", "items", "checkpointed_at")})
    run("sync", "--accept", name)
    same(("sync", "--accept", name), objects("info", name, "--json")[0]["unclean_since"], None)


def exceptions(name, known):
    listed = objects("except", name, "list", "--json")
    same(("except", name, "list"), len(listed), known["exceptions"])
    same(("except", name, "list"), run("except", name, "list", "--hex").stdout.decode().split("\n")[:-1],
         [o["key_hex"] if "key_hex" in o else o["key"].encode().hex() for o in listed])


def explained(name):
    key = b"key-%d" % chance.randrange(1000)
    told = objects("explain", name, key.decode(), "--json")
    text = run("explain", name, key.decode()).stdout.decode().splitlines()
    same(("explain", name), text, ["\t".join([key.decode(), ",".join(map(str, o["hashes"])), ",".join(map(str, o["positions"]))])
                                   for o in told])
    same(("explain", name, "--hex"), run("explain", name, "-z", "--hex", key.hex()).stdout,
         b"".join((key.hex() + line[len(key):]).encode() + b"\0" for line in text))


def compared(name):
    [told] = objects("compare", name, name, "--json")
    text = dict(line.split(": ", 1) for line in run("compare", name, name).stdout.decode().splitlines())
    for field in ("items_a", "items_b", "items_union", "items_both"):
        same(("compare", field), text[field].split()[0], str(told[field]))
    same(("compare", name), text["items_both"].split("take ")[-1], f"{told['error']})")
    near(("compare", name), text["jaccard"], told["jaccard"])


# What a filter has of one that it was made like, or of one that it is a copy of.
SHAPE = ["kind", "hash_set", "seed", "on_full", "window_seconds", "window_items", "window_from", "slices", "counter_bits",
         "key_rule"]
# What `info` has counted since, or the end of the command has changed.
LATER = ["segments", "fp_rate_now", "checkpointed_at", "note"]


def made_of(name, known, scratch):
    """Filters that are made of this one: by --like, by a merge, by a stream."""
    path, makes = f"{scratch}/stream", [("import", "of it", "--from", "tamis", f"{scratch}/stream")]
    if known["fingerprint_bits"] == 0:
        makes.append(("create", "of it", "--like", name))
    if known["fingerprint_bits"] == 0 and known["slices"] == 0:
        makes.append(("merge", "of it", name))
    for words in makes:
        if words[0] == "import":
            [told] = objects("export", name, "--to", "tamis", "--with-key", path, "--json")
            same(("export", name), told, {"name": name, "format": "tamis", "to": path, "bytes": os.path.getsize(path)})
            run("export", name, "--to", "tamis", "--with-key", path, status=2)  # it is there
        [told] = objects(*words, "--json")
        [now] = objects("info", "of it", "--json")
        fields = [f for f in told if f not in LATER and ("://" not in STORE or f in now and not f.endswith("_at"))]
        same((*words, "--json"), [(f, told[f]) for f in fields], [(f, now[f]) for f in fields])
        same(words, [now[f] for f in SHAPE], [known[f] for f in SHAPE])
        if words[0] == "import":
            same(words, now["items"], known["items"])
        if words[0] == "create":
            same(words, [now["items"], now["durable"], now["pages"]], [0, known["durable"], known["pages"]])
            first = known["segments"][0]
            if known["slices"] == 0 and known["hash_set"] == "xxh3" and known["generation"] == 1:
                same(words, [now[f] for f in ("m_bits", "k", "capacity")], [first[f] for f in ("m_bits", "k", "capacity")])
            run("create", "of it", "--like", name, "--if-missing")
        if words[0] == "create" and "://" not in STORE:
            with open(path, "w", encoding="utf-8") as file:
                file.write("of it\nof it too\n")
            run("create", "--names", path, "--like", name, "--if-missing")
            same(("create", "--names"), run("list", "-q", "of it*").stdout, b"of it\nof it too\n")
            run("drop", "-q", "of it too")
        size = run("list", "-o", "size", "of it").stdout.decode().splitlines()[1].strip()
        same(("drop",), run("drop", "of it").stdout.decode(), f"dropped of it: {now['items']} item{'s' * (now['items'] != 1)}, {size}\n")
        if os.path.exists(path):
            os.remove(path)


def other_texts(name, known, scratch):
    generations(name, known)
    exceptions(name, known)
    explained(name)
    if known["slices"] == 0 and len(known["segments"]) == 1 and known["fingerprint_bits"] == 0:
        compared(name)
    made_of(name, known, scratch)
    synced(name)


def the_store(known, scratch):
    """What is said of the store as a whole."""
    rows = objects("doctor", "--json", status=(0, 1))
    done = run("doctor", status=1 if rows else 0)
    for row in rows:
        same(("doctor",), row["what"] in done.stdout.decode() and (row["command"] or "") in done.stdout.decode(), True, done.stdout)
    same(("doctor",), f"checked {len(known)} filter{'s' * (len(known) != 1)}: " in done.stderr.decode(), True, done.stderr)
    same(("verify",), run("verify").stderr.decode(), f"tamis: checked {len(known)} filter{'s' * (len(known) != 1)}: no problem found\n")
    same(("verify", "--json"), run("verify", "--json").stdout, b"")
    same(("sync", "--json"), [o["name"] for o in objects("sync", "--json")], sorted(known, key=str.encode))
    tops = objects("top", "--once", "--json", "--interval", "20ms")
    text = run("top", "--once", "--interval", "20ms").stdout.decode().splitlines()[2:]
    same(("top",), [[o["name"], o["kind"], str(o["items"])] for o in tops],
         [[line[:len(o["name"])], *line[len(o["name"]):].split()[0:3:2]] for line, o in zip(text, tops)])
    same(("top",), [o["items"] for o in tops], [known[o["name"]]["items"] for o in tops])
    a_backup(known, scratch)


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
    said = run("restore", copy, store=f"{again}2").stderr.decode()
    same(("restore",), said, f"tamis: {len(known)} filter{'s' * (len(known) != 1)} restored into {again}2\n")


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


def is_text(key):
    try:
        return "\0" not in key.decode()
    except UnicodeDecodeError:
        return False


def some_input(options, odd):
    """Lines, the last one perhaps without its end."""
    plain = [b"", b"a", b" ", b"\t ", b"#a", b" #", b"b\r", b"\r", b"\xff\xfe\x01", "é".encode(), b"-n", b"x" * 5000, b"a\tb",
             b'"q"', b"\\", b"end\r\r"]
    lines = []
    if odd and "-z" not in options:
        plain.append(b"a\0b")
    for _ in range(chance.choice([0, 1, 3, 40, 300])):
        line = chance.choice(plain) if chance.random() < 0.3 else b"key %d" % chance.randrange(200)
        if "--hex" in options:
            line = line.hex().encode() if chance.random() < 0.9 or "--comments" not in options else b"# note"
        if "--crlf" in options and chance.random() < 0.7:
            line += b"\r"
        lines.append(line)
    if odd and chance.random() < 0.03 and "--hex" not in options:
        lines.append(b"y" * 3000000)  # longer than any buffer
    end = b"\0" if "-z" in options else b"\n"
    data = end.join(lines) + (end if lines and chance.random() < 0.7 else b"")
    return data if data[:2] not in (b"\xff\xfe", b"\xfe\xff") else b"k\n" + data


class Lines:
    """A store of its own, and what must be in it."""

    def __init__(self, scratch, store):
        self.scratch, self.store = scratch, store
        self.plain, self.counted, self.excepted, self.turn = set(), {}, set(), 0
        self.never, self.generation = {"built": set(), "durable": set()}, {"built": 0, "durable": 1}
        self.run("create", "plain", "-n", "10k", "-p", "1e-9")
        if "://" not in store:
            self.run("create", "durable", "-n", "50", "--durable")
        self.run("create", "counted", "-n", "10k", "-p", "1e-9", "--kind", "counting", "--counter-bits", "16")

    def run(self, *words, **options):
        return run(*words, store=self.store, **options)

    def source(self, by_option=True, odd=True):
        """Options, words that name files, standard input, and the keys that are meant."""
        options = [o for o in ("-z", "--hex", "--crlf", "--comments", "--skip-blank") if chance.random() < 0.25]
        if "-z" in options and "--crlf" in options:
            options.remove("--crlf")
        if by_option and chance.random() < 0.2:
            return self.arguments([o for o in options if o in ("-z", "--hex")])
        parts = [some_input(options, odd and by_option) for _ in range(chance.choice([1, 1, 2, 3]))]
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

    def arguments(self, options):
        """Keys as arguments, which may look like options behind `--`."""
        keys = [chance.choice([b"", b"-n", b"--", b"--json", b"\xff\xfe", b"a b", b"key %d" % chance.randrange(200)])
                for _ in range(chance.choice([1, 2, 9]))]
        self.records = [key.hex().encode() if "--hex" in options else key for key in keys]
        return options, ["--", *self.records], b"", keys

    def printed(self, chosen, options):
        """The records that were read, as they were, if they are chosen."""
        end = b"\0" if "-z" in options else b"\n"
        return b"".join(record + end for record, wanted in zip(self.records, chosen) if wanted)

    def told(self, keys, options, name, values):
        """The lines of --json; a value of None has none."""
        return b"".join(json.dumps({"key_hex": key.hex()} if "--hex" in options or not is_text(key) else {"key": key.decode()},
                                   ensure_ascii=False, separators=(",", ":")).encode()[:-1] + f',"{name}":{value}}}\n'.lower().encode()
                        for key, value in zip(keys, values) if value is not None)

    def add(self):
        options, files, stdin, keys = self.source()
        which = chance.sample(["--new", "--seen"], chance.choice([0, 1, 1]))
        json_too, stats, fresh = chance.random() < 0.5, chance.random() < 0.5, []
        for key in keys:
            fresh.append(key not in self.plain)
            self.plain.add(key)
        words = ["add", *which, *["--json"] * json_too, *["--stats"] * stats, "plain", *options, *files]
        done = self.run(*words, stdin=stdin)
        shown = [(new if "--new" in which else not new) if which else json_too for new in fresh]
        same(words, done.stdout, self.told(keys, options, "new", [new if show else None for new, show in zip(fresh, shown)])
             if json_too else self.printed(shown, options), stdin)
        if stats:
            wanted = (f'{{"keys":{len(keys)},"new":{sum(fresh)},' if json_too else
                      f"{len(keys)} key{'s' * (len(keys) != 1)}, {sum(fresh)} new, ")
            same(words, wanted.encode() in done.stderr, True, done.stderr)

    def check(self):
        options, files, stdin, keys = self.source()
        hits = [key in self.plain and key not in self.excepted for key in keys]
        how = [o for o in ("-v", "-c", "-q") if chance.random() < 0.4]
        answers = chance.random() < 0.2 and not how and not {"--comments", "--skip-blank"} & set(options)
        json_too = chance.random() < 0.3 and "-q" not in how and not answers
        chosen = [hit != ("-v" in how) for hit in hits]
        wanted = sum(chosen)
        words = ["check", *how, *["--json"] * json_too, *["--answer", "OK,not there"] * answers, "plain", *options, *files]
        done = self.run(*words, stdin=stdin, status=0 if wanted else 1)
        end = b"\0" if "-z" in options else b"\n"
        text = self.printed(chosen, options)
        if answers:
            text = b"".join((b"OK" if hit else b"not there") + end for hit in hits)
        elif json_too:
            text = self.told(keys, options, "present", [hit if "-v" not in how or not hit else None for hit in hits])
        if "-c" in how:
            text = (b'{"count":%d}\n' if json_too else b"%d\n") % wanted
        same(words, done.stdout, b"" if "-q" in how else text, stdin)

    def count(self):
        options, files, stdin, keys = self.source()
        what, json_too = chance.choice(["add", "remove", "count"]), chance.random() < 0.3
        values, done_to = [], []
        for key in keys:
            now = self.counted.get(key, 0)
            values.append(now)
            done_to.append(now > 0)
            self.counted[key] = now + 1 if what == "add" else max(now - 1, 0) if what == "remove" else now
        gone = done_to.count(False) if what == "remove" else 0
        words = [what, *["--json"] * (json_too and what != "add"), "counted", *options, *files]
        done = self.run(*words, stdin=stdin, status=2 if gone else 0)
        end = b"\0" if "-z" in options else b"\n"
        text = b"".join((key.hex().encode() if "--hex" in options else key) + b"\t%d" % value + end for key, value in zip(keys, values))
        if json_too:
            text = self.told(keys, options, "count", values) if what == "count" else self.told(keys, options, "removed", done_to)
        same(words, done.stdout, text if what == "count" or json_too and what == "remove" else b"", stdin)
        if what == "remove":
            same(words, done.stderr.count(b"is not in 'counted'"), gone, done.stderr)

    def exceptions(self):
        options, files, stdin, keys = self.source(odd=False)
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
        """Known good keys are absent whatever the rate is; exceptions and durability stay from build to build."""
        name = chance.choice(sorted(self.never))
        options, files, stdin, keys = self.source(by_option=False)
        strangers, path = [b"stranger %d" % i for i in range(200)], f"{self.scratch}/good"
        self.never[name] |= {b"key %d" % chance.randrange(200)}
        for what, good in ("against", strangers), ("except", sorted(self.never[name])):
            with open(f"{path}-{what}", "wb") as file:
                end = b"\0" if "-z" in options else b"\n"
                file.write(b"".join((key.hex().encode() if "--hex" in options else key) + end for key in good))
        lines = [] if {"-z", "--hex"} & set(options) else ["--format", "lines"]  # else `"q"` is taken for JSON
        kind = ["--kind", chance.choice(["blocked", "bloom"])] if name == "durable" else []
        words = ["build", name, "--json", *kind, "--allow-empty", "-p", "10%", "--keep", str(chance.randrange(3)), "--against",
                 f"{path}-against", "--except", f"{path}-except", *lines, *options, *files]
        for _ in range(chance.choice([1, 2])):  # the same keys are published again
            [told] = [json.loads(line) for line in self.run(*words, stdin=stdin).stdout.splitlines()]
            self.generation[name] += 1
            same(words, (told["published"], told["generation"]), (True, self.generation[name]))
        same(words, (told["keys"], told["distinct"], told["conflicts"]), (len(keys), len(set(keys)), 0), stdin)
        same(words, told["exceptions"], len(self.never[name]) + told["found"])
        hits = [key for key in keys if key not in self.never[name]]
        done = self.run("check", "-z", name, stdin=b"\0".join([*keys, *strangers, b""]), status=0 if hits else 1)
        same(words, done.stdout, b"".join(key + b"\0" for key in hits), stdin)
        same(words, self.run("info", name, "durable").stdout, b"true\n" if name == "durable" else b"false\n")

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
                 (("list", "-q", "--total"), "--total"), (("list", "--json", "--csv"), "--csv"), (("list", "--json", "--human"), "--human"),
                 (("list", "--live", "--recorded"), "--live"), (("add", "--new", "--seen", "plain", "x"), "--seen"),
                 (("generations", "plain", "counted"), "counted"), (("info", "plain", "items", "--all"), "--all"),
                 (("list", "--where", "colour=1"), "colour"), (("list", "--sort", "colour"), "colour")]
        for words, named in chance.sample(cases, 14):
            done = self.run(*words, status=2)
            said = done.stderr.decode()
            same(words, [done.stdout, said.startswith("tamis: "), named in said, said.endswith("\n")], [b"", True, True, True], done.stderr)
        same(("list", "--json"), self.run("list", "--json").stdout, before)


def main():
    with tempfile.TemporaryDirectory(prefix="tamis-texts-") as scratch:
        known = {name: objects("info", name, "--json")[0] for name in
                 run("list", "-q", status=(0, 1)).stdout.decode().splitlines()}
        rows = all_rows(known)
        for _ in range(12 if rows else 0):
            a_list(rows)
        for name in chance.sample(sorted(known), min(2, len(known))):
            field_texts(name, known[name])
            sums(name, known[name])
            other_texts(name, known[name], scratch)
        if known:
            the_store(known, scratch)
        lines = Lines(scratch, f"{scratch}/store")
        for _ in range(12):
            chance.choice([lines.add, lines.check, lines.count, lines.exceptions, lines.build, lines.uniq, lines.add, lines.check])()
        lines.errors()


def on_a_server():
    """Keys by lines on a server without a key, and what its texts say: the cases of tests/cli that a model replaced ran there too."""
    with tempfile.TemporaryDirectory(prefix="tamis-texts-") as scratch:
        lines = Lines(scratch, STORE)
        for _ in range(40):
            chance.choice([lines.add, lines.check, lines.count])()
        known = {name: objects("info", name, "--json")[0] for name in ("counted", "plain")}
        rows = all_rows(known)
        for _ in range(20):
            a_list(rows)
        for name in known:
            field_texts(name, known[name])
            explained(name)
            made_of(name, known[name], scratch)
        run("rename", "plain", "renamed")
        same(("list", "-q"), run("list", "-q").stdout, b"counted\nrenamed\n")


if "://" in STORE:
    on_a_server()
else:
    main()
