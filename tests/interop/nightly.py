# SPDX-License-Identifier: BSD-2-Clause
"""nightly.py TAMIS: docs/nightly.md, as it stands there, on the list of malicious URLs that Debian's
webext-ublock-origin-firefox has: a week of nights, good ones and bad ones, under a reader that
never stops.

Broken to see it fail: without --except in the recipe the whitelisted keys answer yes, without
--against some known good ones do, without --if-changed the second night publishes, without --max-shrink the list that was cut short is published.
"""
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

from command import VECTORS, Tamis, finish, make_program, same, seeded, skip

PAGE = os.path.join(os.path.dirname(VECTORS), "..", "..", "docs", "nightly.md")
PACKAGE = "webext-ublock-origin-firefox"
RATE = 2 ** -8  # of the fingerprints that -p 0.4% asks for


def blocks():
    """The files of the page: path -> text.  Their first or second line is "# PATH"."""
    with open(PAGE, encoding="utf-8") as file:
        found = re.findall(r"^```[a-z]+\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
    named = {}
    for block in found:
        name = re.match(r"(?:#!.*\n)?# (/\S+)\n", block)
        if name:
            named[name.group(1)] = block
    return named


def installed_list():
    done = subprocess.run(["dpkg", "-L", PACKAGE], capture_output=True, text=True, check=False)
    for path in done.stdout.splitlines():
        if path.endswith("/urlhaus-filter-online.txt"):
            return path
    return skip(f"{PACKAGE} is not installed")


def keys_of(text):
    """The hosts of the list, by other means than tamis build."""
    keys = []
    for line in text.splitlines():
        line = line.removeprefix("||").removesuffix("^$all")
        if line.strip() and not line.startswith("!") and "/" not in line:
            keys.append(line)
    return keys


class Recipe:
    """The machine of the recipe, in a directory."""

    def __init__(self, binary, directory, files):
        self.lists = os.path.join(directory, "etc")
        self.source = os.path.join(directory, "online.txt")
        self.script = os.path.join(directory, "blacklist-nightly")
        store = os.path.join(directory, "store")
        tools = os.path.join(directory, "bin")
        os.mkdir(self.lists)
        os.mkdir(tools)
        os.symlink(os.path.abspath(binary), os.path.join(tools, "tamis"))
        self.tamis = Tamis(binary, store)
        self.environment = {**os.environ, "PATH": tools + ":" + os.environ["PATH"],
                            "LC_ALL": "C.UTF-8", "TAMIS_STORE": store, "LISTS": self.lists,
                            "TMPDIR": directory}
        self.write(self.script, files["/usr/local/bin/blacklist-nightly"])
        make_program(PAGE, "/usr/local/bin/blacklist-nightly", self.script)
        self.write(os.path.join(self.lists, "url"), "file://" + self.source + "\n")

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def list_of(self, name, keys):
        self.write(os.path.join(self.lists, name), "".join(key + "\n" for key in keys))

    def night(self, text):
        """Exit status and what was said, of a night that finds this list; None: there is none."""
        if os.path.exists(self.source):
            os.unlink(self.source)
        if text is not None:
            self.write(self.source, text)
        done = subprocess.run([self.script], env=self.environment, capture_output=True, text=True,
                              check=False)
        same("what the recipe prints", "", done.stdout)
        return done.returncode, done.stderr

    def present(self, keys):
        done = subprocess.run(self.tamis.call + ["check", "blacklist"], capture_output=True,
                              input="".join(key + "\n" for key in keys), text=True, check=False)
        if done.returncode not in (0, 1):
            sys.exit(done.stderr)
        return done.stdout.split("\n")[:-1]

    def generation(self):
        return int(self.tamis.run("info", "blacklist", "generation")[0])


class Reader:
    """A process that has the filter open all the time."""

    def __init__(self, tamis):
        self.process = subprocess.Popen(tamis.call + ["check", "--json", "blacklist"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def blocks(self, key):
        self.process.stdin.write(key + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        same("the reader answers", key, answer["key"])
        return answer["present"]

    def end(self):
        self.process.stdin.close()
        same("the reader's exit status", 0, self.process.wait())


def strangers(rng, count):
    return [f"{rng.getrandbits(64):x}.stranger.example" for _ in range(count)]


def rate_is_held(recipe, keys):
    yes = len(recipe.present(keys))
    most = len(keys) * RATE + 5 * math.sqrt(len(keys) * RATE)
    print(f"{yes} of {len(keys)} strangers answer yes, at most {most:.0f} may")
    same("the rate is held", True, yes <= most)
    same("strangers are not all refused", True, yes > 0)  # else this would test nothing


def first_nights(recipe, rng, text, keys):
    """The list comes, and comes again."""
    white = rng.sample(keys, 3)
    good = strangers(rng, 50000)
    recipe.list_of("whitelist", white + ["www.stranger.example"])
    recipe.list_of("known-good", good)
    same("the first night", (0, ""), recipe.night(text))
    listed = [key for key in keys if key not in white]
    same("every key listed answers yes", listed, recipe.present(listed))
    same("the whitelist answers no", [], recipe.present(white + ["www.stranger.example"]))
    same("what is known to be good answers no", [], recipe.present(good))
    found = sum('"generation":1}' in line
                for line in recipe.tamis.run("except", "blacklist", "list", "--json"))
    same("some of it had to be excepted", True, 0 < found < 50000 * RATE + 5 * math.sqrt(50000 * RATE))
    rate_is_held(recipe, strangers(rng, 200000))
    status, said = recipe.night(text)
    same("the second night is the same, and cron has nothing to send", (0, ""), (status, said))
    same("and publishes nothing", 1, recipe.generation())
    return white


def bad_nights(recipe, text):
    """Nothing of what goes wrong touches what is in force."""
    before = recipe.generation()
    lines = text.splitlines(keepends=True)
    for what, broken in (("no list", None), ("an empty list", ""),
                         ("comments alone", "".join(line for line in lines if line[0] == "!")),
                         ("a list cut short", "".join(lines[:len(lines) // 6]))):
        status, said = recipe.night(broken)
        same(f"{what} is an error that is told", (True, True), (status != 0, said != ""))
        same(f"{what} publishes nothing", before, recipe.generation())


def changed_night(recipe, rng, text, keys, white, reader):
    gone = rng.sample([key for key in keys if key not in white], 100)
    fresh = [f"{rng.getrandbits(64):x}.fresh.example" for _ in range(100)]
    removed = set(gone)
    lines = [line for line in text.splitlines(keepends=True) if not removed & set(keys_of(line))]
    same("the reader knows the old list", True, reader.blocks(gone[0]))
    same("a night with changes", (0, ""),
         recipe.night("".join(lines) + "".join(f"||{host}^$all\n" for host in fresh)))
    same("is the next generation", 2, recipe.generation())
    same("new keys answer yes", fresh, recipe.present(fresh))
    same("keys that are gone answer no", True, len(recipe.present(gone)) <= 100 * RATE + 5)
    same("the reader follows", True, reader.blocks(fresh[0]))
    listed = [key for key in keys_of("".join(lines)) if key not in white]
    same("all others still answer yes", listed, recipe.present(listed))
    return gone, fresh


def back(recipe, gone, fresh, reader):
    recipe.tamis.run("rollback", "blacklist")
    same("a rollback is in force", 1, recipe.generation())
    same("with the old keys", gone, recipe.present(gone))
    same("for the reader too", True, reader.blocks(gone[0]))
    same("without the new ones", True, len(recipe.present(fresh)) <= 100 * RATE + 5)
    recipe.tamis.run("except", "blacklist", "add", gone[0])
    same("an exception by hand holds at once", [], recipe.present(gone[:1]))
    same("for the reader too", False, reader.blocks(gone[0]))


def units_are_sound(recipe, files, unit, command, program):
    """The cron line, and the units as systemd reads them; `command` begins with /usr/local/bin/ and a name, which is
    `program` here."""
    line = files[f"/etc/cron.d/{unit}"].splitlines()[-1]
    fields = re.fullmatch(r"(\d+) (\d+) \* \* \* blacklist (?:[A-Z_]+=\S+ )?(/.*)", line)
    same("the cron line", (command, True),
         (fields.group(3), int(fields.group(1)) < 60 and int(fields.group(2)) < 24) if fields
         else line)
    for name in ("service", "timer"):
        text = files[f"/etc/systemd/system/{unit}.{name}"]
        path = os.path.join(recipe.lists, f"{unit}.{name}")
        same(f"the {name} names the script or a time", 1,
             text.count(f"ExecStart={command}\n") + text.count("OnCalendar="))
        recipe.write(path, text.replace(command.split(" ", maxsplit=1)[0], program))
    if not shutil.which("systemd-analyze"):
        print("systemd-analyze is not installed; the units are not checked by it")
        return
    for name in ("service", "timer"):
        done = subprocess.run(["systemd-analyze", "verify", "--man=no",
                               os.path.join(recipe.lists, f"{unit}.{name}")],
                              capture_output=True, text=True, check=False)
        same(f"systemd-analyze verify of the {name}", (0, ""),
             (done.returncode, "".join(complaint for complaint in done.stderr.splitlines(True)
                                       if "blacklist" in complaint)))


def main():
    if not shutil.which("curl"):
        skip("curl is not installed")
    path = installed_list()
    files = blocks()
    rng = seeded()
    with open(path, encoding="utf-8") as file:
        text = file.read()
    keys = keys_of(text)
    print(f"{len(keys)} keys in {path}")
    same("the list is one", True, len(keys) > 1000)
    with tempfile.TemporaryDirectory() as directory:
        recipe = Recipe(sys.argv[1], directory, files)
        white = first_nights(recipe, rng, text, keys)
        reader = Reader(recipe.tamis)
        bad_nights(recipe, text)
        gone, fresh = changed_night(recipe, rng, text, keys, white, reader)
        back(recipe, gone, fresh, reader)
        reader.end()
        recipe.tamis.run("verify")
        same("the store has two generations", 2,
             len(recipe.tamis.run("generations", "blacklist", "--json")))
        units_are_sound(recipe, files, "blacklist", "/usr/local/bin/blacklist-nightly", recipe.script)
        pull = ("/usr/local/bin/tamis pull blacklist https://builder.example.org/blacklist.tamis --keep 7 --quiet")
        units_are_sound(recipe, files, "blacklist-pull", pull, os.path.abspath(sys.argv[1]))
        left = set(os.listdir(directory)) - {"bin", "etc", "store", "online.txt", "blacklist-nightly"}
        same("what the nights left in the temporary directory", set(), left)
    finish(40)


main()
