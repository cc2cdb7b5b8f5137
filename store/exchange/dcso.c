/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dcso.c: the files of DCSO's Bloom filters (Write() of github.com/DCSO/bloom), all little-endian.
 *
 *     u64 flags, whose low byte is the version, 1; u64 n; double p; u64 k; u64 m;
 *     u64 N, the keys so far; ceil(m / 64) words of bits; and bytes that its maker put behind them
 *
 * Position b is bit b % 64 of word b / 64, counted from the least bit.  What stands behind the bits
 * is kept, and written out again.
 */
#include "exchange/exchange.h"

#include "hash/hash_set.h"
#include "sizing/sizing.h"

#define HEAD_BYTES 48u
#define VERSION 1u

static uint64_t data_bytes_of(uint64_t m_bits)
{
    return (m_bits / 64 + (m_bits % 64 != 0)) * 8;
}

static int dcso_parse(const void *head, size_t bytes, struct tamis__outline *outline,
                      struct tamis__refusal *refusal)
{
    const unsigned char *at = head;
    if (bytes < HEAD_BYTES)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, bytes,
                             "is truncated inside its head of %u bytes", HEAD_BYTES);
    if (at[0] != VERSION)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, 0,
                             "begins with version %u, and DCSO's filters have %u; give what its "
                             "program 'bloom' wrote",
                             at[0], VERSION);
    const uint64_t k = tamis__get64(at + 24), m_bits = tamis__get64(at + 32);
    const struct tamis__listed_segment segment = {
        .hash_set = TAMIS__HASH_DCSO,
        .m_bits = m_bits,
        .k = (uint32_t)k,
        .capacity = tamis__get64(at + 8),
        .fp_rate = tamis__double_from_bits(tamis__get64(at + 16))};
    if (segment.capacity == 0 || segment.capacity > TAMIS__CAPACITY_MAX)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, 8, "says that it is for %llu keys",
                             (unsigned long long)segment.capacity);
    if (!tamis__rate_is_valid(segment.fp_rate))
        return tamis__refuse(refusal, TAMIS_ECORRUPT, 16, "says that its false-positive rate is %g",
                             segment.fp_rate);
    if (k == 0 || m_bits == 0 || m_bits > TAMIS__M_BITS_MAX)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, 24, "has a k of %llu and an m of %llu bits",
                             (unsigned long long)k, (unsigned long long)m_bits);
    if (k > TAMIS_K_MAX)
        return tamis__refuse(
            refusal, TAMIS_EUNSUPPORTED, 24,
            "has a k of %llu, and a filter of Tamis 1 to %d; make it anew there for a greater rate",
            (unsigned long long)k, TAMIS_K_MAX);
    if (tamis__get64(at + 40) > TAMIS__CAPACITY_MAX)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, 40, "says that it has %llu keys",
                             (unsigned long long)tamis__get64(at + 40));
    tamis__outline_one(outline, HEAD_BYTES, &segment);
    outline->least_bytes = data_bytes_of(m_bits);
    outline->layers[0].segment.items = tamis__get64(at + 40);
    memcpy(outline->layers[0].kept, at, 8); /* the flags */
    outline->has_attachment = true;
    return 0;
}

static int dcso_check(const struct tamis__cargo *cargo)
{
    const int rc = tamis__check_one_bloom(cargo, tamis__format_dcso.name);
    if (rc < 0) return rc;
    if (!tamis__attachment_is_whole(&cargo->segments[0]->header->attachment))
        return tamis__fail(
            TAMIS_ECORRUPT,
            "what the DCSO file had behind its bits is damaged in the segment; import "
            "the file again, or export the filter as tamis");
    if (cargo->segments[0]->header->hash_set == TAMIS__HASH_DCSO) return 0;
    return tamis__fail(TAMIS_EUNSUPPORTED,
                       "DCSO's programs find keys by the hash set dcso only; export a filter of "
                       "another one as tamis");
}

static int dcso_save(const struct tamis__cargo *cargo, struct tamis__writer *writer)
{
    const struct tamis__passage passage = {.bit_order = TAMIS__BITS_LSB_FIRST};
    const struct tamis__segment_header *h = cargo->segments[0]->header;
    const struct tamis__attachment *attachment = &h->attachment;
    const uint64_t flags = tamis__get64(h->kept);
    const uint64_t words[HEAD_BYTES / 8] = {flags != 0 ? flags : VERSION,
                                            h->capacity,
                                            h->fp_rate,
                                            h->k,
                                            h->m_bits,
                                            tamis__segment_items(cargo->segments[0])};
    int rc = tamis__writer_put(writer, words, sizeof words);
    if (rc == 0)
        rc = tamis__writer_data(writer, cargo->segments[0], &passage, 0, data_bytes_of(h->m_bits));
    if (rc == 0) rc = tamis__writer_put(writer, attachment->data, attachment->bytes);
    return rc;
}

const struct tamis__format tamis__format_dcso = {
    .name = "dcso",
    .head_bytes = HEAD_BYTES,
    .parse = dcso_parse,
    .load = tamis__load_one,
    .check = dcso_check,
    .save = dcso_save,
};
