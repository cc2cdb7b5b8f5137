# SPDX-License-Identifier: BSD-2-Clause
"""Lists that no machine can sort, built by Apache Spark: a static filter for each shard.

    import tamis.spark

    shards = tamis.spark.build(urls, "url", "/net/blacklist", shards=64, fp_rate=0.001)
    seen = tamis.spark.contains("/net/blacklist")
    pages.where(~seen("url"))

Spark brings the keys of a shard together, by the rule of docs/cluster.md, and the task that has them builds the filter of the
shard with Tamis, in a folder of its machine.  A task sees its keys one batch at a time, and a build of Tamis puts
what does not fit its memory into a file.  So neither of them ever holds the keys of a shard in memory.

This needs pyspark 3.5 or later (tested with 4.3), with pyarrow and pandas, and tamis where Spark runs its Python.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
import os
import shutil
import tempfile
import urllib.parse
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy
import pandas
import pyarrow
import pyarrow.compute
from pyarrow import fs

from ._filter import Build, BuildResult, Filter
from ._store import Store, rule_of
from ._tamis import shard_many

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SHARDS_MAX = 65536  # of docs/cluster.md
ROLES = 4
KEY, AGAINST, EXCEPT, NOTHING = range(ROLES)  # what a row is for; a row of NOTHING tells that there is such a shard
ROWS = "shard int, role int, key binary"
DESCRIPTION = "shards"
KEY_TYPES = (pyarrow.types.is_string, pyarrow.types.is_large_string, pyarrow.types.is_binary, pyarrow.types.is_large_binary)


@dataclasses.dataclass(frozen=True, slots=True)
class Shard:
    """What was built of one shard.  The numbers are those of BuildResult."""

    shard: int
    path: str
    """Where its stream is, in format tamis."""
    keys: int
    distinct: int
    exceptions: int
    found: int
    conflicts: int
    sampled: int
    sampled_yes: int
    size_bytes: int
    key_digest: bytes


SCHEMA = pyarrow.schema([
    (field, {"path": pyarrow.string(), "key_digest": pyarrow.binary()}.get(field, pyarrow.int64()))
    for field in Shard.__dataclass_fields__])
COLUMNS = ", ".join(f"{field.name} {'bigint' if field.type == pyarrow.int64() else field.type}" for field in SCHEMA)


def _place(directory: str) -> tuple[fs.FileSystem, str]:
    """A path or a URI, as pyarrow.fs has them: file, s3, gs, hdfs."""
    if urllib.parse.urlparse(directory).scheme:
        system, place = fs.FileSystem.from_uri(directory)
        return system, place
    return fs.LocalFileSystem(), os.path.abspath(directory)


def _put(filter: Filter, directory: str, name: str) -> None:
    """Writes the stream of a filter.  A task may run twice, even at the same time: a file gets its name when it is whole
    (what is not a local filesystem does so by itself)."""
    system, place = _place(directory)
    if isinstance(system, fs.LocalFileSystem):
        filter.export(os.path.join(place, name), with_key=True)
        return
    with system.open_output_stream(f"{place}/{name}") as into:
        filter.export(into, with_key=True)


# ---- The build ---------------------------------------------------------------------------------


def _rows(dataframe: DataFrame, column: str, role: int, shards: int, key_rule: str | None) -> DataFrame:
    """The keys of a column with their shards, in rows of ROWS."""
    from pyspark.sql import functions, types

    kind = dataframe.select(column).schema[0].dataType
    if not isinstance(kind, (types.StringType, types.BinaryType)):
        raise TypeError(f"column {column!r} is of type {kind.simpleString()}; keys are string or binary, so cast it")

    def number(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            keys = batch.column(0)
            numbers = numpy.frombuffer(shard_many(keys, shards, key_rule), numpy.int32)
            yield pyarrow.RecordBatch.from_arrays(
                [pyarrow.array(numbers), pyarrow.array(numpy.full(len(keys), role, numpy.int32)), keys],
                ["shard", "role", "key"])

    keys = dataframe.select(functions.col(column).cast("binary").alias("key"))
    return keys.where("key is not null").mapInArrow(number, ROWS)


def _groups(numbers: numpy.ndarray[Any, Any]) -> Iterator[tuple[int, numpy.ndarray[Any, Any]]]:
    """Each number that occurs, and the rows that have it, in ascending order."""
    order = numpy.argsort(numbers, kind="stable")
    values, starts = numpy.unique(numbers[order], return_index=True)
    for value, rows in zip(values.tolist(), numpy.split(order, starts[1:])):
        yield value, rows


def _parts(batch: pyarrow.RecordBatch) -> Iterator[tuple[int, int, pyarrow.Array]]:
    """For each shard and role in a batch: the shard, the role, and the keys of their rows."""
    keys = batch.column(2)
    of_rows = batch.column(0).to_numpy().astype(numpy.int64) * ROLES + batch.column(1).to_numpy()
    for value, rows in _groups(of_rows):
        yield *divmod(value, ROLES), keys if len(rows) == len(keys) else keys.take(pyarrow.array(rows))


def _tell(shard: int, path: str, result: BuildResult) -> pyarrow.RecordBatch:
    done = {field.name: getattr(result, field.name, None) for field in SCHEMA} | {"shard": shard, "path": path}
    return pyarrow.RecordBatch.from_pylist([done], schema=SCHEMA)


def _builder(directory: str, options: dict[str, Any],
             scratch: str | None) -> Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    """What a task does: all rows of some shards become files in the directory."""

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        place = tempfile.mkdtemp(prefix="tamis-spark-", dir=scratch)
        builds: dict[int, Build] = {}
        try:
            with Store(os.path.join(place, "store")) as store:
                for batch in batches:
                    for shard, role, keys in _parts(batch):
                        if shard not in builds:
                            builds[shard] = store.build(str(shard), **options)
                        if role != NOTHING:
                            build = builds[shard]
                            (build.add_many, build.against, build.except_many)[role](keys)
                for shard in sorted(builds):
                    result = builds[shard].publish()
                    name = f"{shard}.tamis"
                    with store.open(str(shard), read_only=True) as made:
                        _put(made, directory, name)
                    store.drop(str(shard))
                    yield _tell(shard, f"{directory.rstrip('/')}/{name}", result)
        finally:
            for build in builds.values():
                build.close()
            shutil.rmtree(place, ignore_errors=True)

    return work


def _gathered(rows: DataFrame, shards: int) -> DataFrame:
    """All rows of a shard in one partition.  Spark 4.1 and later can give each shard a partition of its own; before, a
    partition may have several shards, and another none."""
    from pyspark.sql import functions

    if hasattr(rows, "repartitionById"):
        return rows.repartitionById(shards, functions.col("shard"))
    return rows.repartition(shards, "shard")


def build(dataframe: DataFrame, column: str, directory: str | os.PathLike[str], *, shards: int, fp_rate: float = 0.01,
          kind: str = "fuse", hash_set: str | None = None, seed: int = 1, key_rule: str | None = None,
          against: tuple[DataFrame, str] | None = None, exceptions: tuple[DataFrame, str] | None = None,
          memory_bytes: int = 256 << 20, threads: int = 1, scratch: str | os.PathLike[str] | None = None) -> list[Shard]:
    """Build a filter of the keys in a column, one file for each shard, and return what each shard has.

    column        of type string (UTF-8) or binary; nulls are left out, and a key may come any number of times
    directory     a path that all machines see, or a URI of pyarrow.fs such as s3://bucket/list.  It gets 0.tamis, 1.tamis
                  and so on, which `tamis import` and TAMIS.LOAD take, and at last `shards`, which describes them as
                  `tamis export` of a sharded filter does.  What was there of an earlier build is replaced
    shards        their number, 1 to 65536
    kind          "fuse", "blocked" or "bloom"
    seed          that of the shards.  0 is refused where a shard is one of several: see docs/cluster.md
    key_rule      what the key of a record is: "bytes" (the default), "name", "url" and so on (docs/keys.md).  A key is in
                  the shard of its form
    against       a dataframe and a column of known good keys: those that would answer yes become exceptions
    exceptions    a dataframe and a column of keys that must answer absent in any case
    memory_bytes  of one build, for keys, before they go to a file
    scratch       a folder of each machine with room for its shards while they are built; otherwise $TMPDIR

    Each stream has the bytes of `tamis build --shard I/N --seed 1` on one machine, but for the time of its making.
    """
    if not 1 <= shards <= SHARDS_MAX:
        raise ValueError(f"shards: {shards}; give 1 to {SHARDS_MAX}")
    if seed == 0 and shards > 1:
        raise ValueError("seed: 0 gives shard and place of a long key by one hash; give another, such as 1")
    from pyspark.sql import functions

    where = os.fspath(directory)
    system, place = _place(where)
    system.create_dir(place, recursive=True)
    with contextlib.suppress(FileNotFoundError):
        system.delete_file(f"{place}/{DESCRIPTION}")  # it tells that all files are of one build
    rule = None if rule_of(key_rule) == "bytes" else rule_of(key_rule)
    options = {"fp_rate": fp_rate, "kind": kind, "hash_set": hash_set, "seed": seed, "key_rule": rule,
               "memory_bytes": memory_bytes, "threads": threads}
    rows = dataframe.sparkSession.range(shards).select(
        functions.col("id").cast("int").alias("shard"), functions.lit(NOTHING).alias("role"),
        functions.lit(b"").alias("key"))
    for source, role in (((dataframe, column), KEY), (against, AGAINST), (exceptions, EXCEPT)):
        if source is not None:
            rows = rows.unionByName(_rows(*source, role, shards, rule))
    work = _builder(where if urllib.parse.urlparse(where).scheme else place, options,
                    os.fspath(scratch) if scratch is not None else None)
    told = _gathered(rows, shards).mapInArrow(work, COLUMNS).collect()
    made = sorted((Shard(**{**row.asDict(), "key_digest": bytes(row.key_digest)}) for row in told),
                  key=lambda shard: shard.shard)
    lines: dict[str, object] = {
        "tamis": 2 if rule else 1, "shards": shards, "capacity": max(1, sum(shard.distinct for shard in made)), "rate": fp_rate,
        "kind": kind, "seed": seed}
    if rule:
        lines["key_rule"] = rule
    with system.open_output_stream(f"{place}/{DESCRIPTION}") as into:
        into.write("".join(f"{name} {value}\n" for name, value in lines.items()).encode())
    return made


# ---- The question ------------------------------------------------------------------------------

Opener = Callable[[int], Filter]  # the filter of a shard, in the process that asks
_opened: dict[Any, Filter] = {}  # of this process


def _open_stream(name: Any, system: fs.FileSystem, path: str) -> Filter:
    """The filter of a stream.  Its files have no names once it is open, so nothing is left of them however the process ends."""
    if name not in _opened:
        place = tempfile.mkdtemp(prefix="tamis-spark-")
        try:
            with system.open_input_stream(path) as file, Store(os.path.join(place, "store")) as store:
                _opened[name] = store.import_("filter", file)
        finally:
            shutil.rmtree(place, ignore_errors=True)
    return _opened[name]


def _of_directory(directory: str) -> tuple[int, str | None, Opener]:
    system, place = _place(directory)
    try:
        with system.open_input_stream(f"{place}/{DESCRIPTION}") as file:
            lines = dict(line.split() for line in file.read().decode().splitlines())
    except FileNotFoundError:
        raise FileNotFoundError(f"{directory} has no file {DESCRIPTION!r}: no build has ended there") from None
    made = system.get_file_info(f"{place}/{DESCRIPTION}").mtime_ns  # workers live longer than a list does

    def open_shard(shard: int) -> Filter:
        system, place = _place(directory)
        return _open_stream((directory, made, shard), system, f"{place}/{shard}.tamis")

    if lines["tamis"] not in ("1", "2"):
        raise ValueError(f"{directory} was made by a newer version of Tamis (description {lines['tamis']}); use that version")
    return int(lines["shards"]), lines.get("key_rule"), open_shard


def _of_broadcast(filter: Filter) -> Opener:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        raise RuntimeError("a filter is broadcast in a Spark session, and none is active: make one before contains()")
    into = io.BytesIO()
    filter.export(into, with_key=True)
    stream = session.sparkContext.broadcast(into.getvalue())
    name = hashlib.sha256(into.getbuffer()).digest()

    def open_filter(shard: int) -> Filter:
        if name not in _opened:
            with tempfile.NamedTemporaryFile(prefix="tamis-spark-") as file:
                file.write(stream.value)
                file.flush()
                return _open_stream(name, fs.LocalFileSystem(), file.name)
        return _opened[name]

    return open_filter


def _of_mapped(filter: Filter) -> Opener:
    path, name = filter.path, filter.name

    def open_filter(shard: int) -> Filter:
        if (path, name) not in _opened:
            _opened[path, name] = Store(path, create=False, read_only=True).open(name, read_only=True)
        return _opened[path, name]

    return open_filter


def _answers(keys: pyarrow.Array, shards: int, key_rule: str | None, opener: Opener) -> numpy.ndarray[Any, Any]:
    answers = numpy.zeros(len(keys), bool)
    if shards == 1:
        return numpy.frombuffer(opener(0).contains_many(keys), bool)
    for shard, rows in _groups(numpy.frombuffer(shard_many(keys, shards, key_rule), numpy.uint32)):
        answers[rows] = numpy.frombuffer(opener(shard).contains_many(keys.take(pyarrow.array(rows))), bool)
    return answers


def contains(source: Filter | str | os.PathLike[str], *, mapped: bool = False) -> Callable[[Column | str], Column]:
    """A vectorised function for a column of string or binary: whether each key is in the filter.  Null is answered by null.

        seen = tamis.spark.contains(store["seen"])
        pages.where(~seen("url"))

    source   a filter, of which each Python process of Spark gets a copy as it is now, by a broadcast; or the directory of
             a build(), of which it opens a shard when it first asks that
    mapped   for a filter of a store that every machine has at this path: it is mapped there and not copied, so all
             processes of a machine share its memory, and see what is added
    """
    from pyspark.sql.pandas.functions import pandas_udf

    if not isinstance(source, Filter):
        shards, key_rule, opener = _of_directory(os.fspath(source))
    else:
        shards, key_rule, opener = 1, None, (_of_mapped if mapped else _of_broadcast)(source)

    def ask(keys: pandas.Series) -> pandas.Series:
        array = pyarrow.array(keys, from_pandas=True)
        if isinstance(array, pyarrow.ChunkedArray):
            array = array.combine_chunks()
        kind = array.type
        if pyarrow.types.is_null(kind):
            array = array.cast(pyarrow.binary())
        elif not any(test(kind) for test in KEY_TYPES):
            raise TypeError(f"keys are string or binary, not {kind}; cast the column")
        known = array.is_valid()
        answers = pyarrow.array(_answers(array.fill_null(b"" if "binary" in str(array.type) else ""), shards, key_rule, opener))
        return pyarrow.compute.if_else(known, answers, None).to_pandas()

    function: Callable[[Column | str], Column] = pandas_udf(ask, "boolean")  # type: ignore[call-overload]  # by its hints
    return function
