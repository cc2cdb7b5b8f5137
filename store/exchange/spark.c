/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spark.c: what BloomFilter.writeTo() of Apache Spark writes (org.apache.spark.util.sketch).
 *
 *     version 1:  i32 1, i32 k,           i32 number of longs, the longs; all big-endian
 *     version 2:  i32 2, i32 k, i32 seed, i32 number of longs, the longs
 *
 * Position b is bit b % 64 of long b / 64, counted from the least bit, as with Guava.  The stream
 * tells neither the expected number of items nor the rate.
 */
#include "exchange/exchange.h"

#include "hash/hash_set.h"

#define V1_HEAD_BYTES 12u
#define V2_HEAD_BYTES 16u

static int refuse_version(struct tamis__refusal *refusal, uint32_t version)
{
    return tamis__refuse(refusal, TAMIS_ECORRUPT, 0,
                         "begins with version %d, and Spark writes 1 or 2; give what "
                         "BloomFilter.writeTo() wrote",
                         (int)version);
}

static int spark_parse(const void *head, size_t bytes, struct tamis__outline *outline,
                       struct tamis__refusal *refusal)
{
    const unsigned char *at = head;
    if (bytes < V1_HEAD_BYTES)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, bytes,
                             "is truncated inside its head of %u bytes or more", V1_HEAD_BYTES);
    const uint32_t version = tamis__get32_big(at), k = tamis__get32_big(at + 4);
    if (version != 1 && version != 2) return refuse_version(refusal, version);
    const uint32_t head_bytes = version == 1 ? V1_HEAD_BYTES : V2_HEAD_BYTES;
    if (bytes < head_bytes)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, bytes,
                             "is truncated inside its head of %u bytes", head_bytes);
    if (k == 0 || k > INT32_MAX)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, 4, "has a k of %d", (int)k);
    if (k > TAMIS_K_MAX)
        return tamis__refuse(
            refusal, TAMIS_EUNSUPPORTED, 4,
            "has a k of %u, and a filter of Tamis 1 to %d; make it anew there for a greater rate",
            k, TAMIS_K_MAX);
    const uint32_t longs = tamis__get32_big(at + head_bytes - 4);
    if (longs == 0 || longs > INT32_MAX)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, head_bytes - 4, "says that it has %d longs",
                             (int)longs);
    const struct tamis__listed_segment segment = {
        .hash_set = version == 1 ? TAMIS__HASH_SPARK_V1 : TAMIS__HASH_SPARK_V2,
        .seed = version == 1 ? 0 : tamis__get32_big(at + 8),
        .m_bits = (uint64_t)longs * 64,
        .k = k};
    tamis__outline_one(outline, head_bytes, &segment);
    outline->swap_words = true;
    return 0;
}

static int spark_check(const struct tamis__cargo *cargo)
{
    const struct tamis__segment_header *h = cargo->segments[0]->header;
    const int rc = tamis__check_one_bloom(cargo, tamis__format_spark.name);
    if (rc < 0) return rc;
    if (h->hash_set != TAMIS__HASH_SPARK_V1 && h->hash_set != TAMIS__HASH_SPARK_V2)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "Spark finds keys by the hash sets spark-v1 and spark-v2 only; export a "
                           "filter of another one as tamis");
    return tamis__check_longs(cargo, "Spark");
}

static int spark_save(const struct tamis__cargo *cargo, struct tamis__writer *writer)
{
    const struct tamis__passage passage = {.bit_order = TAMIS__BITS_LSB_FIRST, .swap_words = true};
    const struct tamis__segment_header *h = cargo->segments[0]->header;
    const uint32_t longs = (uint32_t)(h->m_bits / 64);
    const bool old = h->hash_set == TAMIS__HASH_SPARK_V1;
    const uint32_t words[] = {old ? 1 : 2, h->k, old ? longs : (uint32_t)h->seed, longs};
    unsigned char head[V2_HEAD_BYTES];
    for (size_t i = 0; i < V2_HEAD_BYTES / 4; i++)
        tamis__put32_big(head + 4 * i, words[i]);
    const int rc = tamis__writer_put(writer, head, old ? V1_HEAD_BYTES : V2_HEAD_BYTES);
    return rc < 0 ? rc : tamis__writer_data(writer, cargo->segments[0], &passage, 0, h->data_bytes);
}

const struct tamis__format tamis__format_spark = {
    .name = "spark",
    .has_secrets = true, /* the seed of version 2 */
    .head_bytes = V2_HEAD_BYTES,
    .parse = spark_parse,
    .load = tamis__load_one,
    .check = spark_check,
    .save = spark_save,
};
