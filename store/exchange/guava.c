/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guava.c: what BloomFilter.writeTo() of Google's Guava writes.
 *
 *     u8 strategy (1: MURMUR128_MITZ_64), u8 k, i32 number of longs, the longs; all big-endian
 *
 * Position b is bit b % 64 of long b / 64, counted from the least bit.  So a long with its bytes
 * reversed is a word of ours.  The stream tells neither the expected insertions nor the rate.
 */
#include "exchange/exchange.h"

#include "hash/hash_set.h"

#define HEAD_BYTES 6u
#define MITZ_32 0u
#define MITZ_64 1u

static int guava_parse(const void *head, size_t bytes, struct tamis__outline *outline,
                       struct tamis__refusal *refusal)
{
    const unsigned char *at = head;
    if (bytes < HEAD_BYTES)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, bytes,
                             "is truncated inside its head of %u bytes", HEAD_BYTES);
    if (at[0] == MITZ_32)
        return tamis__refuse(refusal, TAMIS_EUNSUPPORTED, 0,
                             "is of strategy 0 (MURMUR128_MITZ_32, of an old Guava), and only "
                             "strategy 1 (MURMUR128_MITZ_64) can be imported; make it anew there");
    if (at[0] != MITZ_64)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, 0,
                             "begins with strategy %u, which no Guava writes; give what "
                             "BloomFilter.writeTo() wrote",
                             at[0]);
    if (at[1] == 0) return tamis__refuse(refusal, TAMIS_ECORRUPT, 1, "has a k of 0");
    if (at[1] > TAMIS_K_MAX)
        return tamis__refuse(
            refusal, TAMIS_EUNSUPPORTED, 1,
            "has a k of %u, and a filter of Tamis 1 to %d; make it anew there for a "
            "greater rate",
            at[1], TAMIS_K_MAX);
    const uint32_t longs = tamis__get32_big(at + 2);
    if (longs == 0 || longs > INT32_MAX)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, 2, "says that it has %d longs", (int)longs);
    const struct tamis__listed_segment segment = {
        .hash_set = TAMIS__HASH_GUAVA, .m_bits = (uint64_t)longs * 64, .k = at[1]};
    tamis__outline_one(outline, HEAD_BYTES, &segment);
    outline->swap_words = true;
    return 0;
}

static int guava_check(const struct tamis__cargo *cargo)
{
    const struct tamis__segment_header *h = cargo->segments[0]->header;
    const int rc = tamis__check_one_bloom(cargo, tamis__format_guava.name);
    if (rc < 0) return rc;
    if (h->hash_set != TAMIS__HASH_GUAVA)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "Guava finds keys by its own hash set only; export a filter of "
                           "another one as tamis");
    return tamis__check_longs(cargo, "Guava");
}

static int guava_save(const struct tamis__cargo *cargo, struct tamis__writer *writer)
{
    const struct tamis__passage passage = {.bit_order = TAMIS__BITS_LSB_FIRST, .swap_words = true};
    const struct tamis__segment_header *h = cargo->segments[0]->header;
    unsigned char head[HEAD_BYTES] = {MITZ_64, (unsigned char)h->k};
    tamis__put32_big(head + 2, (uint32_t)(h->m_bits / 64));
    const int rc = tamis__writer_put(writer, head, sizeof head);
    return rc < 0 ? rc : tamis__writer_data(writer, cargo->segments[0], &passage, 0, h->data_bytes);
}

const struct tamis__format tamis__format_guava = {
    .name = "guava",
    .head_bytes = HEAD_BYTES,
    .parse = guava_parse,
    .load = tamis__load_one,
    .check = guava_check,
    .save = guava_save,
};
