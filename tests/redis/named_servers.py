# SPDX-License-Identifier: BSD-2-Clause
"""named_servers.py MODULE TAMIS: other tests, with each of the servers that TAMIS_REDIS_SERVERS names in the place of redis-server.

It has the paths of programs, with a colon between two: redis-server or valkey-server of whichever version.
"""
import os
import subprocess

from harness import run
from other_server import hold_on
from redis_server import skip

PROGRAMS = [program for program in os.environ.get("TAMIS_REDIS_SERVERS", "").split(":") if program]
SCRIPTS = ("cases.py", "keyspace.py", "persistence.py", "saving.py", "cuckoo_exact.py", "bits.py",
           "own_commands.py", "settings.py", "static.py", "dumps.py", "trouble.py", "migration.py")


def each_server_holds_what_redis_server_does():
    for program in PROGRAMS:
        told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()
        print(program, *told[:3], next(word for word in told if word.startswith("malloc=")), flush=True)
        hold_on(os.path.abspath(program), *SCRIPTS, what=told[0] + " " + told[2][2:])


if not PROGRAMS:
    skip("TAMIS_REDIS_SERVERS names no server")
run(each_server_holds_what_redis_server_does)
