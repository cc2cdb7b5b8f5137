# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of this folder share: a store for each test, and packages of PyPI."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tamis

SKIPPED = 77
UNREACHABLE = re.compile(r"Failed to establish a new connection|name resolution|ConnectTimeout|No module named pip|"
                         r"Connection refused|Network is unreachable|Read timed out")


class StoreTest(unittest.TestCase):
    """A test with an empty store of its own."""

    def setUp(self):
        memory = "/dev/shm"
        self.directory = tempfile.mkdtemp(prefix="tamis-python-", dir=memory if os.access(memory, os.W_OK) else None)
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.path = os.path.join(self.directory, "store")
        self.store = tamis.Store(self.path)
        self.addCleanup(self.store.close)

    def each_raises(self, error, calls, *arguments):
        for number, call in enumerate(calls):
            with self.assertRaises(error, msg=(number, arguments)):
                call(*arguments)


def pypi(*packages):
    """The interpreter of an environment with these packages, made once for each build; None if PyPI is out of reach."""
    place = os.path.join(os.environ["TAMIS_PYPI"], "-".join(sorted(packages)))
    python, stamp = os.path.join(place, "bin", "python"), os.path.join(place, "installed")
    if not os.path.exists(stamp):
        # A pip of its own would take longer than the packages.
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--clear", place], check=True)
        done = subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", "--quiet",
                               "--disable-pip-version-check", *packages], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            if UNREACHABLE.search(done.stdout + done.stderr):
                return None
            raise AssertionError(f"{packages} cannot be installed: {done.stdout}{done.stderr}")
        with open(stamp, "w", encoding="utf-8"):
            pass
    return python


def skip(reason):
    print("skipped:", reason, file=sys.stderr)
    sys.exit(SKIPPED)
