# SPDX-License-Identifier: BSD-2-Clause
"""migrating.py TAMIS: the sessions of docs/migrating.md give exactly the output that stands there.

In a ```console block commands stand after "$ ", all else is output.  The server is a real one with
the recorded strings; it has a port of its own, which is put in place of 6379.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from command import VECTORS, finish, same, skip, table
from servers import Client, RedisServer

PAGE = os.path.join(os.path.dirname(VECTORS), "..", "..", "docs", "migrating.md")


def steps():
    """(command, output) in order."""
    with open(PAGE, encoding="utf-8") as file:
        blocks = re.findall(r"^```console\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
    for line in "".join(blocks).splitlines(keepends=True):
        if line.startswith("$ "):
            yield [line[2:-1], ""]
        else:
            yield [None, line]


def joined():
    found = []
    for command, output in steps():
        if command is None:
            found[-1][1] += output
        else:
            found.append([command, output])
    return found


def fill(client, directory):
    for key in ("rptc", "bl1000003"):
        with open(os.path.join(VECTORS, f"redis_bits_{key}.txt"), encoding="ascii") as file:
            for line in file:
                client("SETBIT", key, line.strip(), 1)
    with open(os.path.join(directory, "seen.bin"), "wb") as file:
        file.write(bytes.fromhex(table("guava_dumps.tsv")[1]["data_hex"]))
    for dump, dumps, name in (("seen.spark", "spark_dumps.tsv", "v1_n2000_p0.01"),
                              ("column.bloom", "parquet_dumps.tsv", "arrow_n300_p0.01")):
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
        environment = {**os.environ, "PATH": tools + ":" + os.environ["PATH"], "LC_ALL": "C.UTF-8",
                       "TAMIS_STORE": os.path.join(directory, "store")}
        commands = joined()
        for command, expected in commands:
            real = command.replace("127.0.0.1:6379", f"127.0.0.1:{server.port}")
            real = re.sub(r"\bredis-cli\b", f"redis-cli -p {server.port}", real)
            done = subprocess.run(["bash", "-c", real], cwd=directory, env=environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                                  stdin=subprocess.DEVNULL)
            same(command, (0, expected), (done.returncode, done.stdout))
    finish(len(commands))


main()
