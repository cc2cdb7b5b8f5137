# SPDX-License-Identifier: BSD-2-Clause
"""documents.py MODULE TAMIS EXTENSION: what docs/php.md shows is what happens.

Its ```php blocks are files: "<?php // NAME" is their first line.  The ```console blocks are run one by one, each command in
a shell of its own, after all files are there; lines after "> " continue a command.  The page's port and directory are
replaced by those of a server and a store of this test.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "redis"))
from harness import TAMIS, run, same, server
from pages import Page, bash
from redis_server import skip

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
EXTENSION = os.path.abspath(sys.argv.pop(3))
FUNCTIONS = """<?php
require '%s/string_hashes.php';
final class BloomFilterHash
{
    public function __call(string $name, array $arguments)
    {
        return StringHashes::{strtolower(substr($name, 0, -4))}($arguments[0]);
    }
}
""" % os.path.realpath(os.path.join(HERE, "..", "interop"))
PAGE = Page("php.md")


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Place:
    def __init__(self, redis):
        self.redis = redis
        self.directory = os.path.join(redis.directory, "page")
        self.tools = os.path.join(self.directory, "bin")
        os.makedirs(self.tools)
        os.makedirs(os.path.join(self.directory, "include"))
        os.symlink(os.path.realpath(os.path.join(TOP, "tools", "php", "classes")),
                   os.path.join(self.directory, "include", "Tamis"))
        os.symlink(TAMIS, os.path.join(self.tools, "tamis"))
        self.tool("php", f"php -d extension={EXTENSION} -d include_path=.:{self.directory}/include")
        self.tool("redis-cli", f"redis-cli -p {redis.port}")

    def tool(self, name, command):
        path = os.path.join(self.tools, name)
        write(path, f"#!/bin/sh\nPATH=${{PATH#*:}}\nexec {command} \"$@\"\n")
        os.chmod(path, 0o755)

    def here(self, text):
        text = text.replace("127.0.0.1:6379", f"127.0.0.1:{self.redis.port}").replace("6379)", f"{self.redis.port})")
        return text.replace("/var/lib/tamis", os.path.join(self.directory, "store"))

    def files(self):
        write(os.path.join(self.directory, "BloomFilterHash.php"), FUNCTIONS)
        for block in PAGE.blocks("php"):
            name = re.match(r"<\?php // (\w+\.php)\n", block).group(1)
            write(os.path.join(self.directory, name), self.here(block))
            done = subprocess.run(["php", "-l", name], cwd=self.directory, capture_output=True, text=True, check=False)
            same(done.returncode, 0, f"{name}: {done.stdout}")

    def bash(self, command):
        status, said = bash(self.here(command), self.directory, self.tools)
        return status, said.replace(os.path.join(self.directory, "store"), "/var/lib/tamis")


def files_and_sessions_are_as_shown():
    steps = PAGE.steps()
    same(len(steps) > 15, True, "the sessions are found")
    with server() as redis:
        place = Place(redis)
        place.files()
        for command, output in steps:
            same(place.bash(command), (0, output), command)
        print(f"{len(steps)} commands")


if subprocess.run(["php", "-r", "exit((int)!class_exists('Redis'));"], capture_output=True, check=False).returncode != 0:
    skip("php or its redis extension is not installed")
run(files_and_sessions_are_as_shown)
