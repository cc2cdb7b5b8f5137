# SPDX-License-Identifier: BSD-2-Clause
"""spark_test.py [MODULE TAMIS]: tamis.spark in a real Spark, pyspark of PyPI on a JDK: what its tasks build is what one machine builds, bit for bit.

Streams are compared but for the time at which a segment was made, and the two checksums over it.  spark_jobs.py is what
Spark runs.  It was seen to fail with a seed of 2 in the tasks, with an against() that is left out, without the rows of
NOTHING (shards without keys had no file), and with contains() that asks shard 0 for all keys.  Filters of Spark's own and
of Parquet files are imported, asked, exported and asked there again; that was seen to fail with a salt that was changed.
"""

import json
import os
import shutil
import struct
import subprocess
import sys
import unittest

import tamis
from support import StoreTest, pypi, skip

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../redis"))
ARGUMENTS = sys.argv[1:]
SHARDS = 5
PACKAGES = ("pyspark==4.3.0", "pyarrow==26.0.1", "pandas==3.1.1")
KEYS = [f"https://example.com/{i * i}" for i in range(20_000)] + ["ключ", "x" * 300, ""]
KEYS += ["y" * 250 + str(i) for i in range(2000)]
GOOD = [f"https://good.example/{i}" for i in range(20_000)] + KEYS[:3]
NEVER = KEYS[100:110] + ["https://never.example/"]
ASKED = KEYS[::7] + NEVER + [f"https://absent.example/{i}" for i in range(20_000)]


def without_times(stream):
    """A stream of format tamis (docs/exchange.md) without what differs from one build to the next."""
    data = bytearray(stream)
    segments = struct.unpack_from("<I", data, 12)[0]
    for segment in range(segments):
        at = 96 + 224 * segment + 64
        data[at:at + 8] = bytes(8)
    head = 96 + 224 * segments
    data[head:head + 8] = bytes(8)
    return bytes(data[:-16])


def of_shard(keys, shard):
    return [key for key in keys if tamis.shard(key, SHARDS) == shard]


class Jobs(StoreTest):
    def lines(self, name, keys):
        with open(os.path.join(self.directory, name), "w", encoding="utf-8") as file:
            file.writelines(key + "\n" for key in keys)

    def run_jobs(self):
        self.lines("keys", KEYS + KEYS[::3])
        self.lines("good", GOOD)
        self.lines("never", NEVER)
        self.lines("asked", ASKED)
        os.mkdir(self.directory + "/scratch")
        with tamis.Store(self.directory + "/one") as one, one.build("all", fp_rate=0.01) as build:
            build.add_many(KEYS)
        here = os.path.dirname(os.path.abspath(__file__))
        done = subprocess.run([PYTHON, "-B", here + "/spark_jobs.py", self.directory], capture_output=True, text=True,
                              check=False, timeout=800, cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stderr[-6000:])
        return json.loads(done.stdout)

    def compare(self, name, told, kind, keys, good=(), never=()):
        """The shards beside builds of this process from the keys of each."""
        self.assertEqual([shard["shard"] for shard in told], list(range(SHARDS)))
        self.assertEqual(sorted(os.listdir(f"{self.directory}/{name}")), [f"{i}.tamis" for i in range(SHARDS)] + ["shards"])
        for shard in told:
            number = shard["shard"]
            with self.store.build("one", fp_rate=0.01, kind=kind, seed=1) as build:
                build.add_many(of_shard(keys, number))
                build.against(of_shard(good, number))
                build.except_many(of_shard(never, number))
            one = self.store["one"]
            for field in ("distinct", "exceptions", "found", "conflicts", "sampled", "sampled_yes", "size_bytes"):
                self.assertEqual(shard[field], getattr(build.result, field), (name, number, field))
            self.assertEqual(shard["key_digest"], build.result.key_digest.hex())
            self.assertEqual(shard["path"], f"{shard['path'].rsplit('/', 1)[0]}/{number}.tamis")
            one.export(self.directory + "/stream", with_key=True)
            with open(self.directory + "/stream", "rb") as file:
                wanted = file.read()
            with open(f"{self.directory}/{name}/{number}.tamis", "rb") as file:
                made = file.read()
            self.assertEqual(without_times(made), without_times(wanted), (name, number))
            with self.store.import_("imported", f"{self.directory}/{name}/{number}.tamis") as imported:
                self.assertEqual(imported.contains_many(of_shard(ASKED, number)), one.contains_many(of_shard(ASKED, number)))
            one.close()
            self.store.drop("one")
            self.store.drop("imported")
        return told

    def test_builds_and_questions(self):
        told = self.run_jobs()
        fuse = self.compare("fuse", told["fuse"], "fuse", KEYS, GOOD, NEVER)
        self.compare("blocked", told["blocked"], "blocked", KEYS)
        self.compare("empty", told["empty"], "fuse", [])
        self.assertEqual(sum(shard["keys"] for shard in fuse), len(KEYS + KEYS[::3]))
        self.assertEqual(sum(shard["distinct"] for shard in fuse), len(set(KEYS)))
        self.assertGreater(sum(shard["found"] for shard in fuse), 30)
        with open(self.directory + "/fuse/shards", encoding="ascii") as file:
            self.assertEqual(file.read(), f"tamis 1\nshards {SHARDS}\ncapacity {len(set(KEYS))}\nrate 0.01\nkind fuse\nseed 1\n")
        self.assertEqual([name for name in os.listdir(self.directory + "/scratch") if name.startswith("tamis")], [])
        self.questions()
        if len(ARGUMENTS) == 2:
            self.on_a_server()
        self.assertEqual(told["keyed"], 2000)
        with open(self.directory + "/keyed/shards", encoding="ascii") as file:
            self.assertRegex(file.read(), f"^tamis 2\nshards {SHARDS}\n(.*\n)*key_rule url:sort\n$")
        self.assertEqual(told["nulls"][0], None)
        self.assertEqual(told["nulls"][1], True)
        self.assertEqual(told["strangers"]["wrong"], [])
        self.assertGreater(told["strangers"]["asked"], 2400)
        for said, word in zip(told["refused"], ("bigint", "shards: 0", "seed", "no build has ended")):
            self.assertIn(word, said)

    def on_a_server(self):
        """`tamis import` makes a filter of a server of the whole directory."""
        sys.argv[1:] = ARGUMENTS  # harness.py reads them
        from harness import server, tamis as command
        with server() as redis:
            url = redis.url()
            command("--store", url, "import", "list", "--from", "tamis", self.directory + "/fuse")
            found = command("--store", url, "check", "list", text="".join(key + "\n" for key in KEYS)).splitlines()
        self.assertEqual(sorted(found), sorted(set(KEYS) - set(NEVER)))

    def questions(self):
        answers = []
        for name in os.listdir(self.directory + "/answers"):
            if name.endswith(".json"):
                with open(f"{self.directory}/answers/{name}", encoding="utf-8") as file:
                    answers += [json.loads(line) for line in file]
        self.assertEqual(sorted(row.get("value", "") for row in answers), sorted(ASKED))
        shards = [self.store.import_(f"s{i}", f"{self.directory}/fuse/{i}.tamis") for i in range(SHARDS)]
        with tamis.Store(self.directory + "/one") as one, one["all"] as whole:
            for row in answers:
                key = row.get("value", "")
                self.assertEqual(row["directory"], key in shards[tamis.shard(key, SHARDS)], key)
                self.assertEqual((row["broadcast"], row["mapped"], row["empty"]), (key in whole, key in whole, False), key)
        self.assertEqual(sum(row["directory"] for row in answers if row["value"] in NEVER), 0)
        false = sum(row["directory"] for row in answers if "absent" in row["value"])
        self.assertLess(false, 200 + 5 * 200 ** 0.5)  # 20,000 keys at 1 %; fuse has 8 bits, so 78 are expected
        self.assertGreater(false, 78 - 5 * 78 ** 0.5)


if __name__ == "__main__":
    if shutil.which("java") is None:
        skip("no java: install a JDK, such as default-jre-headless")
    PYTHON = pypi(*PACKAGES)
    if PYTHON is None:
        skip("PyPI cannot be reached")
    unittest.main(argv=sys.argv[:1])
