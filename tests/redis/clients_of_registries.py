# SPDX-License-Identifier: BSD-2-Clause
"""clients_of_registries.py MODULE TAMIS: @redis/bloom and ioredis of npm, and redis of PyPI, which speaks RESP3.

Their versions are pinned, here and in clients/node.  The test is skipped where a registry cannot be reached.
"""
import os
import sys

from harness import drive, run, server
from registries import finish, npm, pip

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients")
PYTHON_CLIENT = "redis==8.1.0"


def npm_clients_have_all_calls():
    place = npm(os.path.join(HERE, "node"))
    if place is None:
        return
    for exact in ("no", "yes"):
        for resp in ("2", "3"):
            with server("exact", exact) as redis:
                drive("node", os.path.join(place, "bloom.js"), str(redis.port), resp)
        with server("exact", exact) as redis:
            drive("node", os.path.join(place, "ioredis.js"), str(redis.port))


def python_client_has_all_calls_by_resp3():
    place = pip(PYTHON_CLIENT)
    if place is None:
        return
    for exact in ("no", "yes"):
        for resp in ("2", "3"):
            with server("exact", exact) as redis:
                drive(sys.executable, "-B", os.path.join(HERE, "python_redis.py"), str(redis.port), resp,
                      env={**os.environ, "PYTHONPATH": place})


run(npm_clients_have_all_calls, python_client_has_all_calls_by_resp3)
finish()
