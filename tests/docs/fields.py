# SPDX-License-Identifier: BSD-2-Clause
"""fields.py PRINTER CASE [ARGUMENT...]: the table of fields (store/filter/schema.c) beside what each output shows.

PRINTER is print_fields.  The cases, with what each wants:

    table                       each row has its reasons, and places without gaps
    documents FOLDER [--write]  tamis-info.1 and redis.md of FOLDER (docs) have the table's fields; --write puts them in
    info TAMIS                  `tamis info`, info --json, list --json, the report, the help and the message about a field
    python FOLDER               FilterStat of the package in FOLDER
    php PHP EXTENSION           Tamis\\Filter::stat()
    redis MODULE TAMIS          TAMIS.INFO, and `tamis info` of a filter in shards

A field that one of them lacks fails, unless the table says why (`lacking`); so does one that is not in the table, or in
another order.  Seen to fail: table for a row without its `lacking`, and for two with one place; documents for a sentence that
was changed; info without the maker of `note` in tools/tamis/fields.c; python for a FilterStat without `keep`; php for a
fields.c that skips limits; redis without `attached` in MADE of commands/tamis_info.c.

In a sentence 'word' is a word that is printed, *name* another field, `text` what one types, page(1) a manual page, and --name
an option.
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

from tables import hold

ANYWHERE, INFO, REPLY, BINDINGS = range(4)
FILTER, SEGMENT = 1, 2
MADE = 0
Field = collections.namedtuple("Field", "of by name info reply type unit lacking sentence")
table = collections.defaultdict(list)


def read_table(printer):
    for line in subprocess.run([printer], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
        of, by, name, info, reply, kind, *texts = line.split("\t")
        table[int(of), int(by)].append(Field(int(of), int(by), name, info, reply, int(kind), *texts))


def same(shown, wanted, what):
    """Lists of names, in order."""
    if shown == wanted:
        return
    lacks, more = [n for n in wanted if n not in shown], [n for n in shown if n not in wanted]
    sys.exit(f"{what}: lacks {lacks} of the table, and has {more} besides; in order it is\n{shown}\nand not\n{wanted}")


def names_of_info(of, without=()):
    return [f.info for f in table[of, INFO] if f.info not in without]


# ---- The table itself ------------------------------------------------------------------------------------------------------

def check_table():
    for of in FILTER, SEGMENT:
        rows = table[of, ANYWHERE]
        bound = {f.name for f in table[of, BINDINGS]}
        for names in ([f.name for f in rows], [f.info for f in rows if f.info], [f.reply for f in rows if f.reply]):
            assert len(set(names)) == len(names), f"a name twice: {sorted(names)}"
        for f in rows:
            everywhere = f.info and f.reply and (of == SEGMENT or f.name in bound)
            assert f.sentence.endswith("."), f"{f.name} has no sentence"
            assert bool(f.lacking) == (not everywhere), f"{f.name}: who lacks it, and why?  {f.lacking!r}"
        for by, key in ((INFO, "info"), (REPLY, "reply")):
            assert {f.name for f in table[of, by]} == {f.name for f in rows if getattr(f, key)}, f"{of} {key}: places have gaps"
        unbound = [f.name for f in rows if f.name not in bound and f.type != MADE]
        assert of == SEGMENT or unbound == ["flags", "new_keys"], f"not in Python and PHP: {unbound}"


# ---- Documents -------------------------------------------------------------------------------------------------------------

MARKUP = re.compile(r"(\(?)(?:'([^']+)'|\*(\w+)\*|`([^`]+)`|([\w-]+)\((\d)\)|--([\w-]+)|(FIELD)\b)([.,;:)]*)$")


def token_as_mdoc(word):
    """A line of mdoc for a word with markup; None: it has none."""
    found = MARKUP.match(word)
    if not found:
        return None
    opening, value, field, typed, page, section, option, argument, closing = found.groups()
    line = (f"Sy {value}" if value else f"Va {field}" if field else f"Ql {typed}" if typed else
            f"Xr {page} {section}" if page else f"Fl -{option}" if option else f"Ar {argument}")
    if opening and closing.startswith(")"):
        line, closing = "Pq " + line, closing[1:]
    elif opening:
        line = line.replace(" ", " ( ", 1)
    return "." + line + "".join(" " + mark for mark in closing)


def sentence_as_mdoc(text):
    """Sentences as lines of mdoc, none longer than some 90 bytes."""
    lines, line = [], ""

    def end():
        nonlocal line
        if line:
            lines.append(line)
        line = ""

    for word in re.findall(r"\(?`[^`]+`\S*|\(?'[^']+'\S*|\S+", text):
        macro = token_as_mdoc(word)
        if macro:
            end()
            lines.append(macro)
            continue
        if len(line) + 1 + len(word) > 90:
            end()
        line += (" " if line else "") + word
        if word.endswith("."):
            end()
    end()
    return lines


def man_list():
    lines = []
    for f in table[FILTER, INFO]:
        lines += [f".It Va {f.info}", *sentence_as_mdoc(f.sentence)]
    return "\n".join(lines) + "\n"


def plain(text):
    """A sentence for Markdown."""
    return re.sub(r"\*(\w+)\*", r"`\1`", re.sub(r"'([^']+)'", r"`\1`", text))


def reply_table():
    lines = ["| `TAMIS.INFO` | `tamis info` | unit |", "|---|---|---|"]
    for f in table[FILTER, REPLY]:
        told = f"`{f.info}`" if f.info else plain(f.sentence)
        lines.append(f"| `{f.reply}` | {told} | {f.unit} |")
    return "\n".join(lines) + "\n"


def check_documents(folder, write=""):
    for path, begin, end, wanted in (
            ("man/tamis-info.1", '.\\" The table of fields begins: tests/docs/fields.py\n', '.\\" The table ends.\n', man_list()),
            ("redis.md", "<!-- The table of fields begins: tests/docs/fields.py -->\n", "<!-- The table ends. -->\n", reply_table())):
        hold(os.path.join(folder, path), begin, end, wanted, write)


# ---- Outputs ---------------------------------------------------------------------------------------------------------------

def check_info(tamis):
    def run(*words, text="", status=0):
        done = subprocess.run([tamis, *words], input=text, capture_output=True, text=True, check=False)
        assert done.returncode == status, (words, done)
        return done.stdout + done.stderr

    # Of filters that are large enough for huge pages, and of lists that were imported.
    of_mapping = {"missing_keys", "huge_bytes", "huge_note", "imported_at", "imported_from", "imported_digest", "imported_signed_at", "imported_signed_by",
                  "imported_signed_comment"}
    with tempfile.TemporaryDirectory() as folder:
        at = "--store", os.path.join(folder, "store")
        run("create", "window", "-n", "100", "--window", "1h", *at)
        run("build", "list", *at, text="a\nb\n")
        run("build", "list", *at, text="a\nc\n")
        for name in "window", "list":
            info = json.loads(run("info", name, "--json", *at))
            same(list(info), names_of_info(FILTER, {"shards"} | of_mapping), f"info --json of {name}")
            sliced = {"slice", "slice_start", "live"} if name == "list" else ()
            same(list(info["segments"][0]), names_of_info(SEGMENT, sliced), f"a segment of {name}")
            labels = [line.split(":")[0] for line in run("info", name, "--all", *at).splitlines()]
            skipped = {"shards"} | of_mapping # they are too small for huge pages
            same(labels, names_of_info(FILTER, skipped), f"info {name} --all")
            short = [line.split(":")[0] for line in run("info", name, *at).splitlines()]
            same(short, [label for label in labels if label in short], f"info {name}")
            assert 12 <= len(short) <= 18 and all(info[f] not in (0, False, "", None) for f in short[12:]), short
        for field in names_of_info(FILTER, {"shards"}):
            run("info", "list", field, *at)
        by_segments = {"shards", "segments", "sealed", "fill", "items_estimated"} | of_mapping
        for line in run("list", "--json", *at).splitlines():
            same(list(json.loads(line)), [*names_of_info(FILTER, by_segments), "items_as_of"], "list --json")
        page = run("report", "list", "-o", "-", *at)
        data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page).group(1))
        same(list(data["info"]), names_of_info(FILTER, {"shards"} | of_mapping), "the report")
        told = run("info", "list", "?", *at, status=2)
        same(told.partition("the fields are: ")[2].split(), names_of_info(FILTER), "the message about a field")
        helped = re.search(r"^fields:(.*?)\n\n", run("help", "info"), re.MULTILINE | re.DOTALL).group(1)
        same(helped.split(), names_of_info(FILTER), "help info")


def check_python(folder):
    sys.path.insert(0, folder)
    import dataclasses

    import tamis
    declared = ["state" if f.name == "states" else f.name for f in dataclasses.fields(tamis.FilterStat)]
    same(sorted(declared), sorted(f.name for f in table[FILTER, BINDINGS]), "FilterStat")
    with tempfile.TemporaryDirectory() as path:
        store = tamis.Store(os.path.join(path, "store"))
        store.create("seen", 1000)
        (stat,) = store.list()
        values = {name: value for name, value in dataclasses.asdict(stat).items() if value is None}
        assert stat.capacity == 1000 and set(values) == {"window_from"}, values


def check_php(php, extension):
    code = '$s = new Tamis\\Store($argv[1]); echo json_encode($s->create("seen", 1000)->stat());'
    with tempfile.TemporaryDirectory() as path:
        done = subprocess.run([php, "-n", "-d", f"extension={extension}", "-r", code, os.path.join(path, "store")],
                              capture_output=True, text=True, check=True)
    stat = json.loads(done.stdout)
    same(list(stat), [f.name for f in table[FILTER, BINDINGS]], "Tamis\\Filter::stat()")
    assert (stat["capacity"], stat["window_from"], stat["kind"]) == (1000, None, "blocked"), stat


def check_redis(module, tamis):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "redis"))
    from redis_server import Server
    with Server(module) as server:
        client = server.client()
        client.good("BF.ADD", "k", "x")
        whole = client.good("TAMIS.INFO", "k", "FILL")
        replies = [f.reply for f in table[FILTER, REPLY]]
        same(whole[::2], replies, "TAMIS.INFO FILL")
        same(client.good("TAMIS.INFO", "k")[::2], [name for name in replies if name != "segment list"], "TAMIS.INFO")
        (segment,) = whole[whole.index("segment list") + 1]
        same(segment[::2], [f.reply for f in table[SEGMENT, REPLY]], "a segment of TAMIS.INFO")
        at = "--store", f"redis://127.0.0.1:{server.port}"
        subprocess.run([tamis, "create", "s", "-n", "1000", "--shards", "2", *at], check=True)
        done = subprocess.run([tamis, "info", "s", "--json", *at], capture_output=True, text=True, check=True)
        of_mapping = {"missing_keys", "huge_bytes", "huge_note", "imported_at", "imported_from", "imported_digest", "imported_signed_at", "imported_signed_by",
                  "imported_signed_comment"}
        of_files = {"segments", "sealed", "fill", "items_estimated"} | of_mapping
        same(list(json.loads(done.stdout)), names_of_info(FILTER, of_files), "info of shards")
        done = subprocess.run([tamis, "info", "k", "--json", *at], capture_output=True, text=True, check=True)
        same(list(json.loads(done.stdout)), names_of_info(FILTER, {"shards"} | of_mapping), "info of a key")


CASES = {"table": check_table, "documents": check_documents, "info": check_info, "python": check_python, "php": check_php,
         "redis": check_redis}
read_table(sys.argv[1])
CASES[sys.argv[2]](*sys.argv[3:])
