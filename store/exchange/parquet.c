/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parquet.c: the Bloom filter of a column chunk, as it stands in a Parquet file: BloomFilterHeader
 * of parquet.thrift in Thrift's compact protocol, and then the bits.
 *
 *     15          field 1, i32:  numBytes, a varint in zigzag: twice the number
 *     1C          field 2, struct: algorithm      1C 00 00   its field 1, BLOCK, empty
 *     1C          field 3, struct: hash           1C 00 00   its field 1, XXHASH, empty
 *     1C          field 4, struct: compression    1C 00 00   its field 1, UNCOMPRESSED, empty
 *     00          end of the header; numBytes bytes follow
 *
 * Thrift could say the same in more bytes, but no writer does.  Such a header is refused, so that a
 * filter comes out as it went in.
 */
#include "exchange/exchange.h"

#include "hash/hash_set.h"

#define BLOCK_BYTES 32u
#define VARINT_BYTES 5u
#define UNION_BYTES 4u
#define UNIONS 3u
#define HEAD_BYTES (1 + VARINT_BYTES + UNIONS * UNION_BYTES + 1)

static const unsigned char first_of_union[UNION_BYTES] = {0x1C, 0x1C, 0x00, 0x00};

static int refuse_truncated(struct tamis__refusal *refusal, size_t bytes)
{
    return tamis__refuse(refusal, TAMIS_ECORRUPT, bytes, "is truncated inside its head");
}

/* Reads field 1, numBytes.  Returns the number of bytes that it takes, or a code. */
static int parse_size(const unsigned char *at, size_t bytes, uint32_t *size,
                      struct tamis__refusal *refusal)
{
    uint64_t zigzag = 0;
    size_t used = 1;
    if (bytes >= 4 && memcmp(at, "PAR1", 4) == 0)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, 0,
                             "is a whole Parquet file; give bloom_filter_length of its bytes, from "
                             "bloom_filter_offset on");
    if (bytes == 0) return refuse_truncated(refusal, 0);
    if (at[0] != 0x15)
        return tamis__refuse(
            refusal, TAMIS_ECORRUPT, 0,
            "does not begin as the header of a Bloom filter; give the bytes of the "
            "file from bloom_filter_offset on");
    do {
        if (used == bytes) return refuse_truncated(refusal, bytes);
        zigzag |= (uint64_t)(at[used] & 0x7F) << 7 * (used - 1);
    } while (at[used++] & 0x80 && used <= VARINT_BYTES);
    if (at[used - 1] & 0x80 || (at[used - 1] == 0 && used > 2) || zigzag > UINT32_MAX)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, 1,
                             "has a size that is not a number as Thrift writes it");
    *size = (uint32_t)(zigzag / 2);
    if (zigzag % 2 != 0 || *size == 0 || *size % BLOCK_BYTES != 0)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, 1,
                             "says that it has %lld bytes, and blocks have %u each",
                             zigzag % 2 ? -(long long)*size - 1 : (long long)*size, BLOCK_BYTES);
    return (int)used;
}

/* Checks fields 2 to 4 and the end. */
static int parse_unions(const unsigned char *at, size_t bytes, size_t from,
                        struct tamis__refusal *refusal)
{
    static const char *const names[UNIONS] = {"an algorithm", "a hash function", "a compression"};
    static const char *const known[UNIONS] = {"BLOCK", "XXHASH", "UNCOMPRESSED"};
    size_t offset = from;
    for (unsigned i = 0; i < UNIONS; i++, offset += UNION_BYTES) {
        if (bytes < offset + UNION_BYTES) return refuse_truncated(refusal, bytes);
        const unsigned char *here = at + offset;
        if (memcmp(here, first_of_union, UNION_BYTES) == 0) continue;
        if (here[0] == 0x1C && (here[1] & 0x0F) == 0x0C && here[1] >> 4 > 1)
            return tamis__refuse(refusal, TAMIS_EUNSUPPORTED, offset,
                                 "has %s of number %d, and only number 1 (%s) can be imported",
                                 names[i], here[1] >> 4, known[i]);
        return tamis__refuse(refusal, TAMIS_ECORRUPT, offset,
                             "has a header that does not say %s as the writers of Parquet do",
                             names[i]);
    }
    if (bytes == offset) return refuse_truncated(refusal, bytes);
    if (at[offset] != 0)
        return tamis__refuse(refusal, TAMIS_EUNSUPPORTED, offset,
                             "has a header with more fields than the four that are known");
    return (int)(offset + 1 - from);
}

static int parquet_stream_parse(const void *head, size_t bytes, struct tamis__outline *outline,
                                struct tamis__refusal *refusal)
{
    uint32_t size = 0;
    const int size_bytes = parse_size(head, bytes, &size, refusal);
    if (size_bytes < 0) return size_bytes;
    const int rest_bytes = parse_unions(head, bytes, (size_t)size_bytes, refusal);
    if (rest_bytes < 0) return rest_bytes;
    const struct tamis__listed_segment segment = {
        .hash_set = TAMIS__HASH_PARQUET, .m_bits = (uint64_t)size * 8, .k = 8};
    tamis__outline_one(outline, (uint64_t)size_bytes + (uint64_t)rest_bytes, &segment);
    return 0;
}

static int parquet_stream_check(const struct tamis__cargo *cargo)
{
    const struct tamis__segment_header *h = cargo->segments[0]->header;
    const int rc = tamis__check_one_bloom(cargo, tamis__format_parquet.name);
    if (rc < 0) return rc;
    if (h->hash_set != TAMIS__HASH_PARQUET)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "Parquet finds keys by its own hash set only; export a filter of "
                           "another one as tamis");
    if (h->data_bytes > INT32_MAX)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "a filter in a Parquet file has less than 2 GiB, and this one has %llu "
                           "bytes; export it as tamis",
                           (unsigned long long)h->data_bytes);
    return 0;
}

static int parquet_stream_save(const struct tamis__cargo *cargo, struct tamis__writer *writer)
{
    const struct tamis__passage passage = {.bit_order = TAMIS__BITS_LSB_FIRST};
    const struct tamis__segment_header *h = cargo->segments[0]->header;
    unsigned char head[HEAD_BYTES] = {0x15};
    size_t used = 1;
    for (uint64_t zigzag = h->data_bytes * 2; zigzag > 0; zigzag >>= 7)
        head[used++] = (unsigned char)((zigzag & 0x7F) | (zigzag > 0x7F ? 0x80 : 0));
    for (unsigned i = 0; i < UNIONS; i++, used += UNION_BYTES)
        memcpy(head + used, first_of_union, UNION_BYTES);
    const int rc = tamis__writer_put(writer, head, used + 1);
    return rc < 0 ? rc : tamis__writer_data(writer, cargo->segments[0], &passage, 0, h->data_bytes);
}

const struct tamis__format tamis__format_parquet = {
    .name = "parquet",
    .head_bytes = HEAD_BYTES,
    .parse = parquet_stream_parse,
    .load = tamis__load_one,
    .check = parquet_stream_check,
    .save = parquet_stream_save,
};
