# SPDX-License-Identifier: BSD-2-Clause
"""clients.py MODULE TAMIS: clients of Debian drive the module: python3-redis, php-redis, php-predis, redis-cli.

The programs are in clients/.  Each goes through all commands, and checks what its users get.  A client that is
not installed is told, and the test is skipped then; the others are run before.
"""
import json
import os
import shutil
import subprocess

from harness import drive, run, same, server, store_of, tamis
from redis_server import skip

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients")
PYTHON = "/usr/bin/python3"  # Debian's, which has its packages
missing = []


def is_there(*command):
    try:
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return True
    except FileNotFoundError:
        pass
    missing.append(" ".join(command))
    return False


def python_redis_has_all_calls():
    """Its answers are integers; tamis.exact decides what is behind CF.*, and not what clients see."""
    if not is_there(PYTHON, "-c", "import redis.commands.bf"):
        return
    for exact in ("no", "yes"):
        with server("exact", exact) as redis:
            drive(PYTHON, os.path.join(HERE, "python_redis.py"), str(redis.port), "2")


def php(name, *extension):
    """A filter of a PHP hash set is attached as the key `comments`; the class gets the positions of three keys."""
    with server() as redis:
        tamis("create", "--store", store_of(redis), "comments", "--hash-set", "php:bkdr,sdbm,js", "-m", 1 << 24)
        redis.client().good("TAMIS.ATTACH", "comments")
        keys = ("first comment", "second comment", "stranger")
        positions = {key: json.loads(tamis("explain", "--json", "--store", store_of(redis), "comments", key))["positions"]
                     for key in keys}
        drive("php", *extension, os.path.join(HERE, name), str(redis.port), json.dumps(positions))


def php_redis_and_its_classes():
    if is_there("php", "-r", "exit(extension_loaded('redis') ? 0 : 1);"):
        php("php_redis.php")


def php_predis_and_its_pipelines():
    if is_there("php", "-r", "exit(is_file('/usr/share/php/Predis/autoload.php') ? 0 : 1);"):
        php("predis.php", "-d", "include_path=/usr/share/php")


def redis_cli_helps_and_shows():
    if not shutil.which("redis-cli"):
        missing.append("redis-cli")
        return
    with server("exact", "yes") as redis:

        def cli(*words):
            return subprocess.run(["redis-cli", "-p", str(redis.port), *words], capture_output=True, text=True,
                                  check=True).stdout

        same(cli("BF.RESERVE", "b", "0.01", "100"), "OK\n", "BF.RESERVE")
        same(cli("BF.MADD", "b", "x", "x"), "1\n0\n", "BF.MADD")
        same(cli("--no-raw", "BF.MADD", "b", "x", "y"), "1) (integer) 0\n2) (integer) 1\n", "BF.MADD for people")
        same(cli("-3", "--no-raw", "BF.EXISTS", "b", "x"), "(true)\n", "RESP3")
        same(json.loads(cli("-3", "--json", "BF.MEXISTS", "b", "x", "z")), [True, False], "RESP3 as JSON")
        same(json.loads(cli("-3", "--json", "BF.INFO", "b")),
             {"Capacity": 100, "Size": 240, "Number of filters": 1, "Number of items inserted": 2, "Expansion rate": 2},
             "BF.INFO as JSON")
        same(json.loads(cli("-3", "--json", "CF.INSERT", "c", "ITEMS", "x", "x")), [True, True], "CF.INSERT as JSON")
        same(json.loads(cli("-3", "--json", "CF.INFO", "c"))["Number of items inserted"], 2, "CF.INFO as JSON")
        same(json.loads(cli("-3", "--json", "TAMIS.INFO", "b"))["hash set"], "redisbloom", "TAMIS.INFO as JSON")
        docs = json.loads(cli("-3", "--json", "COMMAND", "DOCS", "bf.add", "cf.reserve", "tamis.reserve"))
        for name, first in (("bf.add", "key"), ("cf.reserve", "key"), ("tamis.reserve", "key")):
            same(docs[name]["group"], "module", f"COMMAND DOCS {name}")
            same(bool(docs[name]["summary"]), True, f"COMMAND DOCS {name}")
            same((docs[name]["arguments"][0]["name"], docs[name]["arguments"][0]["type"]), (first, "key"), name)
        names = {"bf.info": "key single_value", "bf.insert": "key capacity error expansion nocreate nonscaling tightening "
                 "seed validatescaleto items item",
                 "bf.reserve": "key error_rate capacity expansion nonscaling", "bf.scandump": "key iterator",
                 "cf.reserve": "key capacity bucketsize maxiterations expansion",
                 "cf.insert": "key capacity nocreate items item", "cf.loadchunk": "key iterator data"}
        docs = json.loads(cli("-3", "--json", "COMMAND", "DOCS", *names))
        for name, wanted in names.items():
            same(" ".join(argument["name"] for argument in docs[name]["arguments"]), wanted, f"the arguments of {name}")
        listed = cli("COMMAND", "LIST", "FILTERBY", "MODULE", "tamis").split()
        all_docs = json.loads(cli("-3", "--json", "COMMAND", "DOCS", *listed))
        same(sorted(all_docs), sorted(listed), "all commands have docs")
        same([name for name in listed if not all_docs[name].get("summary")], [], "commands without a summary")
        same(cli("COMMAND", "GETKEYS", "BF.MADD", "k", "x"), "k\n", "COMMAND GETKEYS")


run(python_redis_has_all_calls, php_redis_and_its_classes, php_predis_and_its_pipelines, redis_cli_helps_and_shows)
if missing:
    skip("not installed: " + "; ".join(missing))
