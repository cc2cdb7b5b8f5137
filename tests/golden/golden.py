# SPDX-License-Identifier: BSD-2-Clause
"""What interop.py and streams.py share: the command, which is their first argument."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TAMIS = os.path.abspath(sys.argv[1])


def lines(keys):
    return "".join(key.hex() + "\n" for key in keys)


def tamis(store, *arguments, keys=(), statuses=(0,)):
    done = subprocess.run([TAMIS, arguments[0], "--store", store, *arguments[1:]],
                          input=lines(keys), capture_output=True, text=True, check=False)
    assert done.returncode in statuses, (arguments, done.returncode, done.stderr)
    return done.stdout


def has_library(library, hash_set):
    """Was the command built with it?  Without, it names it where the hash set is asked for."""
    said = subprocess.run([TAMIS, "explain", "--hash-set", hash_set, "-m", "8", "-k", "1", "key"], capture_output=True,
                          text=True, check=False)
    return library not in said.stderr


def rows(path):
    """The lines of a table."""
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]
