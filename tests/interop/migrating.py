# SPDX-License-Identifier: BSD-2-Clause
"""migrating.py TAMIS: the sessions of docs/migrating.md give exactly the output that stands there.

In a ```console block commands stand after "$ ", all else is output.  The server is a real one with
the recorded strings; it has a port of its own, which is put in place of 6379.
"""
import os
import re
import shutil
import sys
import tempfile

from command import VECTORS, finish, same, skip, table
from pages import Page, bash
from servers import Client, RedisServer


def fill(client, directory):
    for key in ("rptc", "bl1000003"):
        with open(os.path.join(VECTORS, f"redis_bits_{key}.txt"), encoding="ascii") as file:
            for line in file:
                client("SETBIT", key, line.strip(), 1)
    with open(os.path.join(directory, "seen.bin"), "wb") as file:
        file.write(bytes.fromhex(table("guava_dumps.tsv")[1]["data_hex"]))
    for dump, dumps, name in (("seen.spark", "spark_dumps.tsv", "v1_n2000_p0.01"),
                              ("column.bloom", "parquet_dumps.tsv", "arrow_n300_p0.01"),
                              ("known.bloom", "dcso_dumps.tsv", "n2000_p0.01"),
                              ("seen.bloom", "pybloomfilter_dumps.tsv", "n2000_p0.01")):
        with open(os.path.join(directory, dump), "wb") as file:
            file.write(bytes.fromhex(*(row["data_hex"] for row in table(dumps) if row["name"] == name)))


def main():
    if not shutil.which("redis-cli"):
        skip("redis-cli is not installed")
    with RedisServer() as server, tempfile.TemporaryDirectory() as directory:
        fill(Client(server.port), directory)
        tools = os.path.join(directory, "bin")
        os.mkdir(tools)
        os.symlink(os.path.abspath(sys.argv[1]), os.path.join(tools, "tamis"))
        steps = Page("migrating.md").steps()
        for command, expected in steps:
            real = command.replace("127.0.0.1:6379", f"127.0.0.1:{server.port}")
            real = re.sub(r"\bredis-cli\b", f"redis-cli -p {server.port}", real)
            same(command, (0, expected), bash(real, directory, tools, TAMIS_STORE=os.path.join(directory, "store")))
    finish(len(steps))


main()
