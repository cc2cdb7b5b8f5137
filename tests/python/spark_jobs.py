# SPDX-License-Identifier: BSD-2-Clause
"""spark_jobs.py PLACE: what spark_test.py runs by the Python of an environment with pyspark: builds, questions to them, and
filters of Spark and of Parquet files that go to Tamis and back.

Keys are in PLACE/keys and so on, one for each line.  What the jobs did is printed as JSON.
"""

import glob
import io
import json
import os
import random
import struct
import sys

import pyarrow
import pyarrow.parquet
import tamis
import tamis.spark
from pyspark.sql import functions

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../interop"))
from spark_filters import Jvm, parquet_filters, session

PLACE = sys.argv[1]
SHARDS = 5
os.environ["PYSPARK_PYTHON"] = sys.executable


def fields(made):
    return [{name: value.hex() if isinstance(value, bytes) else value
             for name, value in ((name, getattr(shard, name)) for name in shard.__dataclass_fields__)} for shard in made]


def refused(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except (TypeError, ValueError, FileNotFoundError) as error:
        return str(error)
    return "not refused"


def exported(filter, format):
    out = io.BytesIO()
    filter.export(out, format, with_key=True)
    return out.getvalue()


class Strangers:
    """Filters of other programs of the JVM: imported, asked, exported, added to, and asked there again."""

    def __init__(self, spark, keys):
        seed = random.randrange(2**32)
        print("seed", seed, file=sys.stderr)
        self.random = random.Random(seed)
        self.spark, self.keys, self.jvm = spark, keys, Jvm(spark)
        self.texts = sorted({row.value for row in keys.collect()})
        self.store = tamis.Store(PLACE + "/strangers")
        self.wrong, self.asked = [], 0

    def same(self, what, expected, got):
        self.asked += 1
        if expected != got:
            self.wrong.append(f"{what}: {str(expected)[:80]}, not {str(got)[:80]}")

    def check(self, name, format, stream, has, read, contains):
        """`has` are keys of the stream; read(stream) makes a filter there, and contains(filter, key) asks it."""
        self.asked += 1
        with self.store.import_(name, io.BytesIO(stream), format) as filter:
            self.same(name + ": keys", b"\1" * len(has), filter.contains_many(has))
            self.same(name + ": the way back", True, exported(filter, format) == stream)
            new = [f"new/{self.random.getrandbits(64)}".encode() for _ in range(100)]
            for moment in ("before", "after"):
                there = read(exported(filter, format))
                for key in new + self.random.sample(has, 100):
                    self.same(f"{name}: {key} {moment}", contains(there, key), key in filter)
                filter.add_many(new)
                new = [key + b"?" for key in new] + new

    def check_spark(self):
        def contains(filter, key):
            return filter.mightContainBinary(bytearray(key))
        texts = [text.encode() for text in self.texts]
        column = self.keys._jdf.stat().bloomFilter("value", len(texts), 0.01)
        self.check("column", "spark", self.jvm.written(column), texts, self.jvm.spark_read, contains)
        for version, seed in (("V1", 0), ("V2", self.random.randrange(-2**31, 2**31))):
            filter = self.jvm.spark_filter(version, 200, 0.05, seed)
            for key in texts[-200:]:
                filter.putBinary(bytearray(key))
            self.check(version, "spark", self.jvm.written(filter), texts[-200:], self.jvm.spark_read, contains)
        longs = self.spark.range(-300, 300, 3)._jdf.stat().bloomFilter("id", 200, 0.01)
        self.check("longs", "spark", self.jvm.written(longs), [struct.pack("<q", number) for number in range(-300, 300, 3)],
                   self.jvm.spark_read, contains)

    def check_parquet(self):
        texts, n = [text.encode() for text in self.texts], len(self.texts)
        pyarrow.parquet.write_table(pyarrow.table({"value": pyarrow.array(self.texts)}), PLACE + "/arrow.parquet",
                                    bloom_filter_options={"value": {"ndv": n, "fpp": 0.01}})
        self.keys.coalesce(1).write.options(**{
            "parquet.bloom.filter.enabled#value": "true", "parquet.bloom.filter.expected.ndv#value": str(n),
            "parquet.bloom.filter.fpp#value": "0.01", "parquet.enable.dictionary": "false"}).parquet(PLACE + "/java")
        paths = {"arrow": PLACE + "/arrow.parquet", "java": glob.glob(PLACE + "/java/*.parquet")[0]}
        with self.store.create("own", capacity=n, fp_rate=0.01, hash_set="parquet") as own:
            own.add_many(texts)
            made = exported(own, "parquet")
        for name, path in paths.items():
            stream, = parquet_filters(path)
            head = len(stream) % 32
            self.same(name + ": as made here", True, stream == made)
            self.check(name, "parquet", stream, texts, lambda data, head=head: self.jvm.block_read(data[head:]),
                       lambda filter, key: filter.findHash(self.jvm.block_hash(filter, key)))


def strangers(spark, keys):
    check = Strangers(spark, keys)
    check.check_spark()
    check.check_parquet()
    return {"asked": check.asked, "wrong": check.wrong}


def keyed(spark):
    """A list with a key rule is asked for other spellings; how many of them it has, and how many strangers."""
    spelled = spark.createDataFrame([(f"HTTP://Example.com:80/{i}?b&a#f",) for i in range(2000)], "value string")
    tamis.spark.build(spelled, "value", PLACE + "/keyed", shards=SHARDS, fp_rate=1e-6, key_rule="url:sort", scratch=PLACE + "/scratch")
    asked = spark.createDataFrame([(f"http://example.com/{i}?a&b",) for i in range(4000)], "value string")
    return asked.where(tamis.spark.contains(PLACE + "/keyed")("value")).count()


def main(spark):
    keys, good, never, asked = (spark.read.text(f"{PLACE}/{name}") for name in ("keys", "good", "never", "asked"))
    told = {}
    options = {"shards": SHARDS, "fp_rate": 0.01, "scratch": PLACE + "/scratch"}
    told["fuse"] = fields(tamis.spark.build(keys.repartition(2), "value", PLACE + "/fuse", against=(good, "value"),
                                            exceptions=(never, "value"), memory_bytes=1 << 20, **options))
    tamis.spark._gathered = lambda rows, shards: rows.repartition(2, "shard")  # as before Spark 4.1: several in a task
    told["blocked"] = fields(tamis.spark.build(keys.select(functions.col("value").cast("binary").alias("a.b")), "`a.b`",
                                               "file://" + PLACE + "/blocked", kind="blocked", **options))
    told["empty"] = fields(tamis.spark.build(keys.where("value is null"), "value", PLACE + "/empty", **options))
    store = tamis.Store(PLACE + "/one")
    questions = {
        "directory": tamis.spark.contains(PLACE + "/fuse"), "empty": tamis.spark.contains(PLACE + "/empty"),
        "broadcast": tamis.spark.contains(store["all"]), "mapped": tamis.spark.contains(store["all"], mapped=True)}
    rows = asked.select("value", *(question("value").alias(name) for name, question in questions.items()))
    rows.coalesce(1).write.json(PLACE + "/answers")
    nulls = spark.createDataFrame([(None,), ("",)], "value string")
    told["nulls"] = [row[0] for row in nulls.select(questions["directory"]("value")).collect()]
    told["refused"] = [
        refused(tamis.spark.build, spark.range(3), "id", PLACE + "/x", shards=2),
        refused(tamis.spark.build, keys, "value", PLACE + "/x", shards=0),
        refused(tamis.spark.build, keys, "value", PLACE + "/x", shards=2, seed=0),
        refused(tamis.spark.contains, PLACE + "/scratch")]
    told["keyed"] = keyed(spark)
    told["strangers"] = strangers(spark, keys)
    print(json.dumps(told))


with session(2, PLACE + "/scratch", **{"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"}) as spark_of_test:
    main(spark_of_test)
