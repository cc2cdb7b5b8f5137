# SPDX-License-Identifier: BSD-2-Clause
"""cli_lines.py: keys by random lines, with any option about them: what the commands take for keys is what ten lines of Python
read, what they answer is in a set of Python, and errors name their thing."""
import gzip
import json

from cli_run import chance, run, same


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
        what, json_too = chance.choice(["add", "remove", "count", "count"]), chance.random() < 0.5
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
