# SPDX-License-Identifier: BSD-2-Clause
"""spark_jobs.py PLACE: what spark_test.py runs by the Python of an environment with pyspark: builds, and questions to them.

Keys are in PLACE/keys and so on, one for each line.  What the jobs did is printed as JSON.
"""

import json
import os
import sys

import tamis
import tamis.spark
from pyspark.sql import SparkSession, functions

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
    print(json.dumps(told))


with SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config(
        "spark.sql.shuffle.partitions", "2").config("spark.driver.memory", "1g").config(
        "spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").config(
        "spark.local.dir", PLACE + "/scratch").config("spark.sql.warehouse.dir", PLACE + "/scratch/w").getOrCreate() as session:
    main(session)
