# SPDX-License-Identifier: BSD-2-Clause
"""What the scripts of this folder share: the command under test, the tables, keys, failing."""
import os
import random
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(HERE, "vectors")
sys.path.append(os.path.join(HERE, "..", "redis"))  # has servers and clients of Redis
SKIPPED = 77

failures = 0
checked = 0


def skip(reason):
    print("skipped:", reason, file=sys.stderr)
    sys.exit(SKIPPED)


def same(what, expected, got):
    """Count, and tell of the first few that differ."""
    global checked, failures
    checked += 1
    if expected == got:
        return
    failures += 1
    if failures <= 10:
        print(f"{what}:\n  expected {expected}\n  got      {got}", file=sys.stderr)


def finish(least):
    """The last call of each script; so few checks would mean that it went wrong."""
    print(f"{checked} checked, {failures} failed")
    sys.exit(1 if failures or checked < least else 0)


def is_long():
    """TAMIS_TEST_LONG=1 asks for the counts at which a promise was first measured."""
    return os.environ.get("TAMIS_TEST_LONG") == "1"


def scratch_in_memory():
    """Temporary files on tmpfs, where there is room: for what is not about the disk."""
    shm = "/dev/shm"
    if "TMPDIR" not in os.environ and os.access(shm, os.W_OK):
        room = os.statvfs(shm)
        if room.f_bavail * room.f_frsize >= 2**31:
            tempfile.tempdir = shm


def seeded():
    """Random numbers that a failed test can be run again with."""
    seed = int(os.environ.get("TAMIS_TEST_SEED") or time.time_ns())
    print("seed", seed)
    return random.Random(seed)


def make_program(page, path, script):
    """Makes the script a program, as the page has its reader do it for `path`; not if the page forgets it."""
    with open(page, encoding="utf-8") as file:
        says = re.search(rf"\bchmod \+x {re.escape(path)}\b", file.read())
    same(f"{os.path.basename(page)} says: chmod +x {path}", True, says is not None)
    if says:
        subprocess.run(["chmod", "+x", script], check=True)


def table(name):
    """The rows of a table of vectors/, as dictionaries."""
    with open(os.path.join(VECTORS, name), encoding="ascii") as file:
        lines = file.read().splitlines()
    columns = lines[0].split("\t")
    return [dict(zip(columns, line.split("\t"))) for line in lines[1:]]


def keys_of(rows):
    """The key column: hexadecimal, the empty key as the empty string."""
    return ["" if row["key_hex"] == "-" else row["key_hex"] for row in rows]


class Tamis:
    def __init__(self, binary, store=None):
        self.call = [os.path.abspath(binary)] + (["--store", store] if store else [])

    def run(self, *arguments, lines=()):
        """What the command prints, as lines; it must exit with 0."""
        done = subprocess.run(self.call + [str(argument) for argument in arguments],
                              input="".join(line + "\n" for line in lines),
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, arguments))}: exit {done.returncode}: {done.stderr}")
        return done.stdout.split("\n")[:-1]

    def explain(self, hash_set, m, k, keys):
        """Of each key, as one process that is given all of them: (hash values, positions)."""
        arguments = ["explain", "--hex", "--hash-set", hash_set, "-m", m]
        lines = self.run(*arguments, *(["-k", k] if k else []), lines=keys)
        if len(lines) != len(keys):
            sys.exit(f"{hash_set}: {len(lines)} lines for {len(keys)} keys")
        answers = []
        for key, line in zip(keys, lines):
            shown, values, positions = line.split("\t")
            same(f"{hash_set}: the key of the line", key, shown)
            answers.append((values, positions))
        return answers

    def has_md5(self):
        done = subprocess.run(self.call + ["explain", "--hash-set", "md5", "-m", "8", "-k", "1", ""],
                              capture_output=True, text=True, check=False)
        return "needs libmd" not in done.stderr
