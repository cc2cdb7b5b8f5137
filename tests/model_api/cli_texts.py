# SPDX-License-Identifier: BSD-2-Clause
"""cli_texts.py TAMIS STORE SEED: what the texts of `tamis` say of STORE, which a sequence of the model has left, is what
--json says, which cli_shown.c holds to the library; then cli_lines.py, in a store of its own.  Prints the first thing that is
wrong, and ends with status 1."""
import csv
import fnmatch
import io
import json
import math
import os
import re
import tempfile

from cli_lines import Lines
from cli_run import STORE, chance, objects, run, same, wrong


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
    rate = -math.expm1(sum(math.log1p(-min(s["fp_rate_now"], 1 - 1e-16)) for s in alive))
    if abs(known["fp_rate_now"] - rate) > 1e-9 * rate + 1e-300:
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


def a_past_slice():
    """Of a window with a slice that is past and one that is alive, the sums are those of the latter."""
    clock = os.environ["TAMIS_MODEL_CLOCK"]
    run("create", "of it", "-n", "100", "--window", "10s", "--slices", "2")
    for seconds, keys in (0, ["a"]), (7, ["b"]), (16, []):
        os.environ["TAMIS_MODEL_CLOCK"] = str(int(clock) + seconds * 10**9)
        if keys:
            run("add", "of it", *keys)
    [known] = objects("info", "of it", "--json")
    same(("info", "of it", "--json"), [s["live"] for s in known["segments"]], [False, True])
    sums("of it", known)
    run("drop", "-q", "of it")
    os.environ["TAMIS_MODEL_CLOCK"] = clock


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


def compared(a, b):
    [told] = objects("compare", a, b, "--json")
    text = dict(line.split(": ", 1) for line in run("compare", a, b).stdout.decode().splitlines())
    for field in ("items_a", "items_b", "items_union", "items_both"):
        same(("compare", field), text[field].split()[0], str(told[field]))
    same(("compare", a, b), text["items_both"].split("take ")[-1], f"{told['error']})")
    near(("compare", a, b), text["jaccard"], told["jaccard"])


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
        if words[0] == "import" and "://" not in STORE:
            again = ("import", "of it", "--from", "tamis", path, "--publish", "--if-changed", "--keep", str(now["keep"] + 1))
            same(again, run(*again).stderr, b"")
            same(again, run(*again).stderr, b"tamis: 'of it' is this list already; generation 2 stays in force\n")
            same(again, [objects("info", "of it", "--json")[0][f] for f in ("keep", "items")], [now["keep"] + 1, known["items"]])
        if words[0] == "create":
            same(words, [now["items"], now["durable"], now["pages"]], [0, known["durable"], known["pages"]])
            first = known["segments"][0]
            if known["slices"] == 0 and known["hash_set"] == "xxh3" and known["generation"] == 1:
                same(words, [now[f] for f in ("m_bits", "k", "capacity")], [first[f] for f in ("m_bits", "k", "capacity")])
            run("create", "of it", "--like", name, "--if-missing")
        alike = known["segments"][0]["bit_order"] == now["segments"][0]["bit_order"]  # a spec has no order of bits
        if words[0] == "create" and alike and "://" not in STORE and known["slices"] == 0 and len(known["segments"]) == 1:
            run("add", "of it", *(f"key {i}" for i in range(min(known["capacity"], chance.randrange(20)))))
            compared(name, "of it")
            [now] = objects("info", "of it", "--json")
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
            a_past_slice()
            the_store(known, scratch)
        lines = Lines(scratch, f"{scratch}/store")
        for _ in range(16):
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
