# SPDX-License-Identifier: BSD-2-Clause
"""php_live.py TAMIS: a bucket that PHP programs fill in a real Redis moves to Tamis and back.

After the import `tamis check` and the program's own exists() say the same of 5,000 keys (20,000 in the
long form), half of them members; after `tamis add` and an export they do so again, and the string is, byte for byte,
the one that PHP itself makes of the same keys.
"""
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

from bucket_keys import some_keys
from command import Tamis, finish, is_long, same, scratch_in_memory, seeded, skip
from servers import Client, RedisServer

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "buckets.php")
BUCKETS = (("comments", "php:bkdr,sdbm,js", 2**32), ("length:1000003", "php:js,pjw", 1000003),
           ("eight:1000003", "php:js,pjw,elf,bkdr,sdbm,djb,dek,fnv", 1000003))


class Php:
    def __init__(self, port, program):
        self.call = ["php", PROGRAM, str(port), program]

    def run(self, key, what, keys):
        done = subprocess.run(self.call + [key, what], input="".join(k + "\n" for k in keys),
                              capture_output=True, text=True, check=False)
        if done.returncode != 0 or done.stdout.count("\n") != len(keys):
            sys.exit(f"buckets.php: exit {done.returncode}: {done.stdout[-300:]}{done.stderr}")
        return done.stdout.split("\n")[:-1]

    def existing(self, key, keys):
        return [k for k, answer in zip(keys, self.run(key, "exists", keys)) if answer == "1"]


def digest(client, key):
    """Of the string, in pieces: it may have 512 MiB."""
    sum_of = hashlib.sha256()
    for start in range(0, client("STRLEN", key), 1 << 24):
        sum_of.update(client("GETRANGE", key, start, start + (1 << 24) - 1))
    return sum_of.hexdigest()


def move(tamis, server, client, random, program, hash_set, m):
    php = Php(server.port, program)
    half = 10000 if is_long() else 2500
    keys = some_keys(random, 2 * half)
    members, others = keys[:half], keys[half:]
    client("FLUSHALL")
    php.run("bucket", "add", members)
    arguments = ["import", program, "--from", server.url(), "bucket", "--hash-set", hash_set]
    tamis.run(*arguments, *([] if m == 2**32 else ["-m", m]))
    before = php.existing("bucket", keys)
    same(f"{program}: imported", before, tamis.run("check", program, "--hex", lines=keys))
    same(f"{program}: members", [], sorted(set(members) - set(before)))
    print(f"{program}: of {half} strangers {len(before) - half} pass")
    if program == "comments":
        same(f"{program}: {len(before) - half} false positives", True, len(before) > half)

    added = others[:half // 5]
    tamis.run("add", program, "--hex", lines=added)
    tamis.run("export", program, "--to", server.url(), "bucket", "--force")
    after = php.existing("bucket", keys)
    same(f"{program}: exported", after, tamis.run("check", program, "--hex", lines=keys))
    same(f"{program}: added", [], sorted(set(added) - set(after)))
    exported = digest(client, "bucket")
    client("DEL", "bucket")
    php.run("bucket", "add", members + added)
    same(f"{program}: bytes", digest(client, "bucket"), exported)
    same(f"{program}: keys left", [b"bucket"], client("KEYS", "*"))
    tamis.run("drop", program)


def main():
    if not shutil.which("php"):
        skip("php is not installed")
    if subprocess.run(["php", "-r", "exit((int)!class_exists('Redis'));"],
                      capture_output=True, check=False).returncode != 0:
        skip("php has no redis extension")
    random = seeded()
    scratch_in_memory()
    with RedisServer() as server, tempfile.TemporaryDirectory() as directory:
        tamis = Tamis(sys.argv[1], os.path.join(directory, "store"))
        client = Client(server.port)
        for program, hash_set, m in BUCKETS:
            move(tamis, server, client, random, program, hash_set, m)
        same("problems of the store", [], tamis.run("verify"))
    finish(len(BUCKETS) * 6)


main()
