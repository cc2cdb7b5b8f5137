# SPDX-License-Identifier: BSD-2-Clause
"""puller.py: a store that pulls, and one that makes lists, for the tests of `tamis pull`."""
import os
import subprocess

from command import Tamis, same

KEYS = 20000


class Reader:
    """A store that pulls, and what is in force there."""

    def __init__(self, binary, directory):
        self.binary = os.path.abspath(binary)
        self.directory = directory
        self.store = os.path.join(directory, "reader")
        self.tamis = Tamis(binary, self.store)
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.lower().endswith("_proxy") and "CERT" not in name and "CA_BUNDLE" not in name}
        self.environment.update(LC_ALL="C", HOME=directory)

    def start(self, url, *options, name="list", **environment):
        return subprocess.Popen(
            [self.binary, "--store", self.store, "pull", name, url, *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**self.environment, **environment})

    def pull(self, url, *options, **environment):
        """(exit status, standard output, standard error)"""
        process = self.start(url, *options, **environment)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def in_force(self):
        if not os.path.exists(os.path.join(self.store, "catalog.mdb")):
            return None
        rows = self.tamis.run("list", "-q")
        return self.tamis.run("info", "list", "imported_digest")[0] if "list" in rows else None

    def spools(self):
        folder = os.path.join(self.store, "pulls")
        return sorted({name.split(".")[1] for name in os.listdir(folder)} if os.path.isdir(folder) else [])


class Builder:
    """Makes lists of keys from..to, as streams."""

    def __init__(self, binary, directory):
        self.tamis = Tamis(binary, os.path.join(directory, "builder"))
        self.path = os.path.join(directory, "stream")

    def list(self, first, count=KEYS, digest=True, *options):
        self.tamis.run("build", "list", "--kind", "blocked", "-n", "40000", *options,
                       lines=[f"key{i}" for i in range(first, first + count)])
        self.tamis.run("export", "list", "--to", "tamis", self.path, "--force",
                       *(["--digest"] if digest else []))
        with open(self.path, "rb") as file:
            return file.read()


def good(what, result):
    same(what, (0, ""), (result[0], result[2]))


def unchanged(what, result, generation):
    same(what, (0, f"tamis: 'list' is unchanged; generation {generation} stays in force\n"),
         (result[0], result[2]))


def bad(what, reader, words, result, before):
    status, out, err = result
    same(f"{what}: status, lines", (2, "", 1), (status, out, err.count("\n")))
    if not words in err:
        same(f"{what}: sentence", words, err)
    same(f"{what}: in force", before, reader.in_force())
    left = os.listdir(os.path.join(reader.store, "staging"))
    same(f"{what}: staging", [], left)


def check(reader, *keys):
    done = subprocess.run(reader.tamis.call + ["check", "list", *keys], capture_output=True, text=True,
                          check=False)
    return done.stdout.split()
