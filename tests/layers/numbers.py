# SPDX-License-Identifier: BSD-2-Clause
"""numbers.py TOP OBJECTS: how large the Redis module may be, in what a reader must keep in mind.

OBJECTS is a file whose lines are the paths of its object files; it is empty where the module is not built, and only what
the sources tell is looked at.  Folders that a build may leave out, valkey/ and bits/, do not count.

  lines      of tools/redis; the aim is 9,500
  members    of struct value: there may be a million values
  gates      before BF.ADD: functions that bf_add.c calls, and that may put its client off
  statics    that are not constant: state that any function of a file may change.  The functions of the server,
             RedisModule_*, are set once.
"""

import os
import re
import sys

from elf import Object

MOST = {"lines": 12150, "members": 20, "gates": 3, "statics": 30}
LEFT_OUT = ("valkey", "bits")
# What blocks a client.
BLOCKS = {"waiting_put", "waiting_begin", "RedisModule_BlockClient"}


def lines(module):
    count = 0
    for folder, folders, names in os.walk(module):
        folders[:] = [name for name in folders if name not in LEFT_OUT]
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                count += len(file.readlines())
    return count


def members(module):
    with open(os.path.join(module, "value", "value.h"), encoding="utf-8") as file:
        body = re.search(r"^struct value \{\n(.*?)^\};", file.read(), re.MULTILINE | re.DOTALL).group(1)
    return len(re.findall(r"\w( : \d+)?;", body))


def gates(objects):
    used = {name for path, made in objects for _, name in made.uses if path.endswith("/bf_add.c.o")}
    # A compiler may have split a function: adds_begin.part.0.
    blocking = {user.split(".")[0] for _, made in objects for user, name in made.uses if name in BLOCKS}
    return sorted(used & blocking)


def statics(objects):
    found = []
    for path, made in objects:
        if not any(f".dir/{folder}/" in path for folder in LEFT_OUT):
            found += [f"{os.path.basename(path).removesuffix('.o')} {name}" for name in made.written if not name.startswith("RedisModule_")]
    return sorted(found)


def main():
    top, listed = sys.argv[1:]
    module = os.path.join(top, "tools", "redis")
    with open(listed, encoding="utf-8") as file:
        objects = [(path, Object(path)) for path in file.read().split()]
    counted = {"lines": lines(module), "members": members(module), "gates": gates(objects), "statics": statics(objects)}
    failed = False
    for name, found in counted.items():
        count = found if isinstance(found, int) else len(found)
        print(f"{name}: {count}, and {MOST[name]} is the most")
        failed |= count > MOST[name]
        if not isinstance(found, int):
            print("".join(f"    {one}\n" for one in found), end="")
    return 1 if failed else 0


sys.exit(main())
