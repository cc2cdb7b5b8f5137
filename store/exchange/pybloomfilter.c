/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pybloomfilter.c: the files that the Python packages pybloomfiltermmap3 and pybloomfiltermmap map
 * into memory, on machines of 64 bits.  All numbers are little-endian.
 *
 *     0       9     "MBITARRAY"
 *     9       8     m
 *     17      4     bytes of the struct that follows, 1200
 *     21      1200  struct BloomFilter, as it lay in memory when the file was made
 *     1221    59    zeros, up to a multiple of 256
 *     1280          ceil(m / 8) bytes; position b is bit b % 8 of byte b / 8
 *
 *     in the struct:  0 u64 capacity; 8 double rate; 16 u32 k; 20 u32 seeds[256];
 *                     1044 28 bytes of its own: gaps, a pointer, version, count; 1072 zeros
 *
 * The packages write the struct once, when the filter is empty, so its count of keys is 0 for good;
 * and what stood in the gaps was left there by older versions.  These 28 bytes are kept, and
 * written out again.
 */
#include "exchange/exchange.h"

#include "hash/hash_set.h"
#include "sizing/sizing.h"

#define MAGIC "MBITARRAY"
#define STRUCT_AT 21u
#define STRUCT_BYTES 1200u
#define HEAD_BYTES 1280u
#define VERSION 1u

/* In the struct. */
#define SEEDS_AT 20u
#define SEEDS_MAX 256u
#define OWN_AT 1044u
#define OWN_BYTES 28u
#define VERSION_AT 1056u
#define COUNTS_AT 1057u
#define ITEMS_AT 1064u
#define REST_AT (OWN_AT + OWN_BYTES)

_Static_assert(OWN_BYTES <= TAMIS__KEPT_BYTES, "what is kept fits");

static uint64_t data_bytes_of(uint64_t m_bits)
{
    return m_bits / 8 + (m_bits % 8 != 0);
}

/* Refuses a head that is not such a file's. */
static int check_frame(const unsigned char *at, size_t bytes, struct tamis__refusal *refusal)
{
    if (memcmp(at, MAGIC, bytes < sizeof MAGIC - 1 ? bytes : sizeof MAGIC - 1) != 0)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, 0,
                             "does not begin with " MAGIC "; give a file that pybloomfilter made");
    if (bytes < HEAD_BYTES)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, bytes,
                             "is truncated inside its head of %u bytes", HEAD_BYTES);
    if (tamis__get32(at + 17) != STRUCT_BYTES)
        return tamis__refuse(refusal, TAMIS_EUNSUPPORTED, 17,
                             "says that its head has %lu bytes, and on machines of 64 bits it has "
                             "%u; make it anew there",
                             (unsigned long)tamis__get32(at + 17), STRUCT_BYTES);
    if (at[STRUCT_AT + VERSION_AT] != VERSION)
        return tamis__refuse(refusal, TAMIS_EUNSUPPORTED, STRUCT_AT + VERSION_AT,
                             "has version %u, and this Tamis knows %u", at[STRUCT_AT + VERSION_AT],
                             VERSION);
    const size_t rest = STRUCT_AT + REST_AT;
    if (!tamis__is_zero(at + rest, HEAD_BYTES - rest))
        return tamis__refuse(refusal, TAMIS_ECORRUPT, rest,
                             "has bytes other than 0 where there is nothing");
    return 0;
}

/* Refuses a k, or seeds, that the hash set has no room for. */
static int check_seeds(const unsigned char *its, struct tamis__refusal *refusal)
{
    const uint32_t k = tamis__get32(its + 16), most = TAMIS__HASH_PARAMETER_BYTES / 4;
    if (k == 0 || k > SEEDS_MAX)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, STRUCT_AT + 16, "has a k of %lu",
                             (unsigned long)k);
    if (k > most)
        return tamis__refuse(refusal, TAMIS_EUNSUPPORTED, STRUCT_AT + 16,
                             "has a k of %lu, and the hash set has room for %u seeds; make it anew "
                             "there for a greater rate",
                             (unsigned long)k, most);
    if (!tamis__is_zero(its + SEEDS_AT + 4 * (size_t)k, 4 * (size_t)(SEEDS_MAX - k)))
        return tamis__refuse(refusal, TAMIS_ECORRUPT, STRUCT_AT + SEEDS_AT + 4 * k,
                             "has more seeds than its k");
    if (tamis__get32(its + SEEDS_AT + 4 * (size_t)(k - 1)) == 0)
        return tamis__refuse(refusal, TAMIS_EUNSUPPORTED, STRUCT_AT + SEEDS_AT + 4 * (k - 1),
                             "has a 0 for its last seed, which the hash set has no form for; make "
                             "it anew there with another");
    return 0;
}

static int pybloomfilter_parse(const void *head, size_t bytes, struct tamis__outline *outline,
                               struct tamis__refusal *refusal)
{
    const unsigned char *its = (const unsigned char *)head + STRUCT_AT;
    int rc = check_frame(head, bytes, refusal);
    if (rc == 0) rc = check_seeds(its, refusal);
    if (rc < 0) return rc;
    struct tamis__listed_segment segment = {.hash_set = TAMIS__HASH_PYBLOOMFILTER,
                                            .m_bits = tamis__get64((const unsigned char *)head + 9),
                                            .k = tamis__get32(its + 16),
                                            .capacity = tamis__get64(its),
                                            .fp_rate =
                                                tamis__double_from_bits(tamis__get64(its + 8))};
    memcpy(segment.parameters, its + SEEDS_AT, sizeof segment.parameters);
    if (segment.m_bits == 0 || segment.m_bits > TAMIS__M_BITS_MAX)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, 9, "has an m of %llu bits",
                             (unsigned long long)segment.m_bits);
    if (segment.capacity == 0 || segment.capacity > TAMIS__CAPACITY_MAX)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, STRUCT_AT, "says that it is for %llu keys",
                             (unsigned long long)segment.capacity);
    if (!tamis__rate_is_valid(segment.fp_rate))
        return tamis__refuse(refusal, TAMIS_ECORRUPT, STRUCT_AT + 8,
                             "says that its false-positive rate is %g", segment.fp_rate);
    tamis__outline_one(outline, HEAD_BYTES, &segment);
    outline->least_bytes = data_bytes_of(segment.m_bits);
    memcpy(outline->layers[0].kept, its + OWN_AT, OWN_BYTES);
    return 0;
}

static int pybloomfilter_check(const struct tamis__cargo *cargo)
{
    const int rc = tamis__check_one_bloom(cargo, tamis__format_pybloomfilter.name);
    if (rc < 0 || cargo->segments[0]->header->hash_set == TAMIS__HASH_PYBLOOMFILTER) return rc;
    return tamis__fail(TAMIS_EUNSUPPORTED,
                       "pybloomfilter finds keys by the hash set pybloomfilter only; export a "
                       "filter of another one as tamis");
}

/* Writes the head.  A filter that was made here says how many keys it has; one that was imported
 * says what it said. */
static void make_head(const struct tamis__segment *segment, unsigned char head[HEAD_BYTES])
{
    const struct tamis__segment_header *h = segment->header;
    unsigned char *its = head + STRUCT_AT;
    const uint32_t struct_bytes = STRUCT_BYTES;
    memset(head, 0, HEAD_BYTES);
    memcpy(head, MAGIC, sizeof MAGIC - 1);
    memcpy(head + 9, &h->m_bits, sizeof h->m_bits);
    memcpy(head + 17, &struct_bytes, sizeof struct_bytes);
    memcpy(its, &h->capacity, sizeof h->capacity);
    memcpy(its + 8, &h->fp_rate, sizeof h->fp_rate);
    memcpy(its + 16, &h->k, sizeof h->k);
    memcpy(its + SEEDS_AT, h->parameters, sizeof h->parameters);
    if (!tamis__is_zero(h->kept, OWN_BYTES)) {
        memcpy(its + OWN_AT, h->kept, OWN_BYTES);
        return;
    }
    const uint64_t items = tamis__segment_items(segment);
    its[VERSION_AT] = VERSION;
    its[COUNTS_AT] = 1; /* the count below is right */
    memcpy(its + ITEMS_AT, &items, sizeof items);
}

static int pybloomfilter_save(const struct tamis__cargo *cargo, struct tamis__writer *writer)
{
    const struct tamis__passage passage = {.bit_order = TAMIS__BITS_LSB_FIRST};
    const struct tamis__segment *segment = cargo->segments[0];
    unsigned char head[HEAD_BYTES];
    make_head(segment, head);
    const int rc = tamis__writer_put(writer, head, sizeof head);
    if (rc < 0) return rc;
    return tamis__writer_data(writer, segment, &passage, 0, data_bytes_of(segment->header->m_bits));
}

const struct tamis__format tamis__format_pybloomfilter = {
    .name = "pybloomfilter",
    .head_bytes = HEAD_BYTES,
    .parse = pybloomfilter_parse,
    .load = tamis__load_one,
    .check = pybloomfilter_check,
    .save = pybloomfilter_save,
};
