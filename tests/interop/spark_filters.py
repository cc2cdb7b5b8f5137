# SPDX-License-Identifier: BSD-2-Clause
"""Bloom filters of a running Apache Spark, and those in Parquet files, for tests and for record_spark.py.

All of it is asked of the JVM of a SparkSession: org.apache.spark.util.sketch.BloomFilter, and the class
BlockSplitBloomFilter by which parquet-java writes and reads.
"""


def session(cores, scratch, **settings):
    """A Spark of its own, which answers on this machine alone; to be used by `with`."""
    from pyspark.sql import SparkSession
    builder = SparkSession.builder.master(f"local[{cores}]")
    for name, value in {"spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
                        "spark.local.dir": scratch, "spark.sql.warehouse.dir": scratch + "/warehouse", **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


class Jvm:
    """The classes, and what they make and tell as bytes of Python."""

    def __init__(self, session):
        self.java = session._jvm
        sketch = self.java.org.apache.spark.util.sketch
        self.spark, self.versions = sketch.BloomFilter, getattr(sketch, "BloomFilter$Version")
        self.block = self.java.org.apache.parquet.column.values.bloomfilter.BlockSplitBloomFilter
        self.binary = self.java.org.apache.parquet.io.api.Binary

    def spark_filter(self, version, n, p, seed=0):
        """BloomFilter.create(n, p), of either version and of any seed."""
        return self.spark.create(getattr(self.versions, version), n, self.spark.optimalNumOfBits(n, p), seed)

    def written(self, filter):
        """What writeTo() writes: for Parquet, the bits alone."""
        out = self.java.java.io.ByteArrayOutputStream()
        filter.writeTo(out)
        return bytes(out.toByteArray())

    def spark_read(self, stream):
        return self.spark.readFrom(bytearray(stream))

    def block_filter(self, size_bytes):
        return self.block(size_bytes, 128 << 20)

    def block_read(self, bits):
        return self.block(bytearray(bits))

    def block_hash(self, filter, key):
        return filter.hash(self.binary.fromConstantByteArray(bytearray(key)))


def parquet_filters(path, column=0):
    """The Bloom filter of each row group's chunk of a column, header and bits, as it stands in the file."""
    import pyarrow.parquet
    with open(path, "rb") as file:
        metadata = pyarrow.parquet.read_metadata(path)
        for group in range(metadata.num_row_groups):
            chunk = metadata.row_group(group).column(column)
            file.seek(chunk.bloom_filter_offset)
            yield file.read(chunk.bloom_filter_length)


def set_bits(data, swap=False):
    """Positions of the bits that are set; of longs that are big-endian with `swap`."""
    if swap:
        data = b"".join(data[i:i + 8][::-1] for i in range(0, len(data), 8))
    return [8 * i + b for i, byte in enumerate(data) if byte for b in range(8) if byte >> b & 1]
