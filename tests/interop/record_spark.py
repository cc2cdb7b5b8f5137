# SPDX-License-Identifier: BSD-2-Clause
"""record_spark.py DIRECTORY: writes spark_*.tsv and parquet_*.tsv of vectors/ by a real Apache Spark and by pyarrow.

To be run by a Python that has pyspark and pyarrow of PyPI, where a JRE is installed; vectors/README.md says which they were.
The keys of ops and of single bits are those of guava_*.tsv.
"""

import gc
import glob
import hashlib
import struct
import sys
import tempfile

import pyarrow
import pyarrow.parquet

from command import keys_of, table
from spark_filters import Jvm, parquet_filters, session, set_bits

TO = sys.argv[1]
NUMBERS = (0, 1, -1, 42, 255, -256, 2**31 - 1, -2**31, 2**31, 10**12, -10**12, 2**63 - 1, -2**63)
# name: version, n, p, seed
SPARK = {"v1_n100_p0.03": ("V1", 100, 0.03, 0), "v1_n2000_p0.01": ("V1", 2000, 0.01, 0), "v2_n100_p0.03": ("V2", 100, 0.03, 0),
         "v2_n50_p0.2": ("V2", 50, 0.2, 0), "v2_n2000_p0.01_s77": ("V2", 2000, 0.01, 77),
         "v2_n100_p0.03_s-5": ("V2", 100, 0.03, -5)}
LARGE_BITS = 2**32 + 64
SIZES = (32, 1024, 65536)


def bytes_of(rows):
    return [bytes.fromhex(key) for key in keys_of(rows)]


def hexadecimal(key):
    return key.hex() or "-"


def write(name, head, rows):
    with open(f"{TO}/{name}", "w", encoding="ascii") as file:
        for row in (head, *rows):
            print(*row, sep="\t", file=file)
    print(name, len(rows), "rows")


def comma(numbers):
    return ",".join(map(str, numbers))


def numbers_of(layout):
    """Numbers that an integer of that layout holds."""
    bits = 8 * struct.calcsize(layout)
    return [number for number in NUMBERS if -2**(bits - 1) <= number < 2**(bits - 1)]


# ---- Spark ------------------------------------------------------------------------------------------------------------


def bits_of_spark(jvm, filter, head_bytes):
    return comma(set_bits(jvm.written(filter)[head_bytes:], swap=True))


def head_bytes(version):
    return 12 if version == "V1" else 16


def spark_single_keys(jvm, keys):
    shapes = {"v1_n1000_p0.01": ("V1", 1000, 0.01, 0), "v1_n7_p0.3": ("V1", 7, 0.3, 0), "v2_n1000_p0.01": ("V2", 1000, 0.01, 0),
              "v2_n100000_p0.001_s9": ("V2", 100000, 0.001, 9), "v2_n7_p0.3_s-1": ("V2", 7, 0.3, -1)}
    rows = []
    puts = [("binary", key, "putBinary", bytearray(key)) for key in keys]
    puts += [("long", struct.pack("<q", number), "putLong", number) for number in NUMBERS]
    puts += [("string", text.encode(), "putString", text) for text in ("", "a", "grün", "ключ", "日本語", "x" * 40)]
    for how, key, put, value in puts:
        row = [how, hexadecimal(key)]
        for version, n, p, seed in shapes.values():
            filter = jvm.spark_filter(version, n, p, seed)
            getattr(filter, put)(value)
            row.append(bits_of_spark(jvm, filter, head_bytes(version)))
        rows.append(row)
    write("spark_single_key_bits.tsv", ("how", "key_hex", *shapes), rows)


def spark_large(jvm, keys, place):
    """One key in more than 2^32 bits: too many for a byte array of Java, so by way of a file."""
    rows = []
    for version in ("V1", "V2"):
        for key in keys:
            filter = jvm.spark.create(getattr(jvm.versions, version), 800_000_000, LARGE_BITS, 0)
            filter.putBinary(bytearray(key))
            out = jvm.java.java.io.BufferedOutputStream(jvm.java.java.io.FileOutputStream(place + "/large"))
            filter.writeTo(out)
            out.close()
            del filter  # half a GiB, which Java may have back
            gc.collect()
            found = []
            with open(place + "/large", "rb") as file:
                k = struct.unpack(">ii", file.read(head_bytes(version))[:8])[1]
                while data := file.read(1 << 20):
                    if data.count(0) < len(data):
                        at = 8 * (file.tell() - head_bytes(version) - len(data))
                        found += [at + bit for bit in set_bits(data, swap=True)]
            rows.append((version, LARGE_BITS, k, hexadecimal(key), comma(found)))
    write("spark_large_bits.tsv", ("version", "m", "k", "key_hex", "bits"), rows)


def spark_ops(jvm, added, asked):
    filters = {name: jvm.spark_filter(*shape) for name, shape in SPARK.items()}
    rows = [("add", hexadecimal(key), *(int(filter.putBinary(bytearray(key))) for filter in filters.values())) for key in added]
    rows += [("query", hexadecimal(key), *(int(filter.mightContainBinary(bytearray(key))) for filter in filters.values()))
             for key in asked]
    write("spark_ops.tsv", ("op", "key_hex", *filters), rows)
    dumps = []
    for name, (version, n, p, seed) in SPARK.items():
        data = jvm.written(filters[name])
        dumps.append((name, version, n, p, seed, len(data), hashlib.sha256(data).hexdigest(), repr(filters[name].expectedFpp()),
                      data.hex()))
    write("spark_dumps.tsv", ("name", "version", "n", "p", "seed", "len", "sha256", "expectedFpp", "data_hex"), dumps)


def spark_sizing(jvm):
    rows = []
    for n in (1, 2, 3, 10, 99, 1000, 12345, 1_000_000):
        for p in (0.5, 0.3, 0.03, 0.01, 1e-3, 1e-6):
            filter = jvm.spark.create(n, p)
            version, k = struct.unpack(">ii", jvm.written(filter)[:8])
            rows.append((n, p, version, k, filter.bitSize() // 64))
    write("spark_sizing.tsv", ("n", "p", "version", "num_hash_functions", "num_longs"), rows)


# ---- Parquet ----------------------------------------------------------------------------------------------------------


def parquet_single_keys(jvm, keys, place):
    """Bits of one value, hashed and set by parquet-java; and pyarrow, which folds a filter of one value to one block, agrees."""
    values = [("binary", key, key, pyarrow.binary()) for key in keys]
    for how, layout, type in (("int32", "<i", pyarrow.int32()), ("int64", "<q", pyarrow.int64())):
        values += [(how, struct.pack(layout, number), number, type) for number in numbers_of(layout)]
    values += [("double", struct.pack("<d", number), number, pyarrow.float64()) for number in (0.0, 1.5, 1e300)]
    rows = []
    for how, key, value, type in values:
        hash = jvm.block_hash(jvm.block_filter(32), key)
        filters = [jvm.block_filter(size) for size in SIZES]
        for filter in filters:
            filter.insertHash(hash)
        table = pyarrow.table({"key": pyarrow.array([value], type)})
        pyarrow.parquet.write_table(table, place + "/one", bloom_filter_options={"key": True})
        assert next(parquet_filters(place + "/one"))[-32:] == jvm.written(filters[0]), (how, key)
        rows.append((how, hexadecimal(key), f"{hash % 2**64:016x}", *(comma(set_bits(jvm.written(filter))) for filter in filters)))
    write("parquet_single_key_bits.tsv", ("how", "key_hex", "xxhash64", *(f"bytes{size}" for size in SIZES)), rows)


def bits_length(stream):
    """A power of two; the header before it has at most 19 bytes."""
    return 1 << (len(stream).bit_length() - 1)


def parquet_ops(jvm, spark, added, asked, place):
    """A column of binary keys, written by Spark's parquet-java and by pyarrow; asked by parquet-java."""
    table = pyarrow.table({"key": pyarrow.array(added, pyarrow.binary())})
    arrow = {"arrow_n100_p0.05": (100, 0.05), "arrow_n300_p0.01": (300, 0.01)}
    java = {"java_n100_p0.05": (100, 0.05), "java_n2000_p0.001": (2000, 0.001)}
    streams = {}
    for name, (n, p) in arrow.items():
        path = f"{place}/{name}.parquet"
        pyarrow.parquet.write_table(table, path, bloom_filter_options={"key": {"ndv": n, "fpp": p}})
        streams[name], = parquet_filters(path)
    frame = spark.createDataFrame([(bytearray(key),) for key in added], "key binary").coalesce(1)
    for name, (n, p) in java.items():
        options = {"parquet.bloom.filter.enabled#key": "true", "parquet.bloom.filter.expected.ndv#key": str(n),
                   "parquet.bloom.filter.fpp#key": str(p), "parquet.enable.dictionary": "false"}
        frame.write.options(**options).parquet(f"{place}/{name}")
        file, = glob.glob(f"{place}/{name}/*.parquet")
        streams[name], = parquet_filters(file)
    readers = {}
    for name, stream in streams.items():
        readers[name] = jvm.block_read(stream[-bits_length(stream):])
    rows = []
    for op, keys in (("add", added), ("query", asked)):
        for key in keys:
            answers = [int(filter.findHash(jvm.block_hash(filter, key))) for filter in readers.values()]
            rows.append((op, hexadecimal(key), *(1 if op == "add" else answer for answer in answers)))
            assert op == "query" or all(answers)
    write("parquet_ops.tsv", ("op", "key_hex", *readers), rows)
    shapes = {**arrow, **java}
    write("parquet_dumps.tsv", ("name", "n", "p", "len", "sha256", "data_hex"),
          [(name, *shapes[name], len(data), hashlib.sha256(data).hexdigest(), data.hex()) for name, data in streams.items()])


def parquet_sizing(jvm, place):
    """Bytes of the filter of n values for the rate p.  Java adds nearly a block before it rounds up."""
    rows = []
    for n in (1, 10, 99, 1000, 12345, 100_000):
        table = pyarrow.table({"key": pyarrow.array(range(n), pyarrow.int64())})
        for p in (0.5, 0.1, 0.01, 1e-3, 1e-6):
            pyarrow.parquet.write_table(table, place + "/all", bloom_filter_options={"key": {"ndv": n, "fpp": p}})
            stream, = parquet_filters(place + "/all")
            rows.append((n, p, bits_length(stream), jvm.block_filter(jvm.block.optimalNumOfBits(n, p) // 8).getBitsetSize()))
    write("parquet_sizing.tsv", ("n", "p", "bytes_arrow", "bytes_java"), rows)


def main():
    single, ops = bytes_of(table("guava_single_key_bits.tsv")), table("guava_ops.tsv")
    added, asked = (bytes_of([row for row in ops if row["op"] == op]) for op in ("add", "query"))
    with tempfile.TemporaryDirectory(prefix="record-spark-") as place:
        with session(1, place, **{"spark.driver.memory": "3g"}) as spark:
            jvm = Jvm(spark)
            print("Spark", spark.version, "pyarrow", pyarrow.__version__, "Java",
                  jvm.java.java.lang.System.getProperty("java.version"))
            spark_single_keys(jvm, single)
            spark_ops(jvm, added, asked)
            spark_sizing(jvm)
            parquet_single_keys(jvm, single, place)
            parquet_ops(jvm, spark, added, asked, place)
            parquet_sizing(jvm, place)
            spark_large(jvm, [b"", b"joker", b"https://www.example.com/article/1.html"], place)


main()
