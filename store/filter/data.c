/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * data.c: reads and writes pieces of a segment's data, for programs that move a filter in pieces.
 *
 * Writing sets bits and clears none.  So it may run beside adders, a piece may come twice, and the
 * word by which a mapping knows that its file is whole stays (segment/segment.h).
 */
#include "exchange/exchange.h"
#include "handle/checkpoint.h"
#include "handle/durable.h"
#include "handle/follow.h"

static int check_range(const struct tamis__segment *segment, uint64_t offset, size_t bytes)
{
    const uint64_t all = segment->header->data_bytes;
    if (offset <= all && bytes <= all - offset) return 0;
    return tamis__fail(TAMIS_EINVAL,
                       "%zu byte%s from byte %llu on pass the end of the segment's data, which has "
                       "%llu",
                       bytes, tamis__plural(bytes), (unsigned long long)offset,
                       (unsigned long long)all);
}

TAMIS_API int tamis_filter_read_data(tamis_filter *filter, uint32_t index, uint64_t offset,
                                     void *buffer, size_t bytes)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    TAMIS__REFUSE_NULL(buffer, "buffer");
    struct tamis__view *view;
    int rc = tamis__visit_segment(filter, index, &view);
    if (rc < 0) return rc;
    const struct tamis__segment *segment = &view->segments[index].segment;
    const struct tamis__passage as_it_is = {.bit_order = segment->header->bit_order};
    rc = check_range(segment, offset, bytes);
    for (size_t done = 0; rc == 0 && done < bytes; done += TAMIS__PIECE_BYTES) {
        const size_t now = bytes - done < TAMIS__PIECE_BYTES ? bytes - done : TAMIS__PIECE_BYTES;
        tamis__copy_out(segment, &as_it_is, offset + done, (unsigned char *)buffer + done, now);
    }
    if (rc == 0) rc = tamis__segment_check(segment);
    return (int)tamis__leave_with(filter, view, rc);
}

/* Have these bytes a bit that no position below m reaches? */
static bool is_past_end(const struct tamis__segment_header *h, uint64_t offset, const void *data,
                        size_t bytes)
{
    uint64_t last = 0;
    tamis__keep_last_word(&last, h->m_bits, offset, data, bytes);
    return tamis__bits_past(last, h->m_bits, h->bit_order);
}

static int check_written(const struct tamis_filter *filter, const struct tamis__segment *segment,
                         uint64_t offset, const void *data, size_t bytes)
{
    const struct tamis__segment_header *h = segment->header;
    if (filter->read_only) return tamis__fail_read_only(filter);
    if (h->counter_bits != 0 || h->fingerprint_bits != 0)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "the data of the filter '%s' are not bits that can be set",
                           filter->name);
    const int rc = check_range(segment, offset, bytes);
    if (rc < 0 || !is_past_end(h, offset, data, bytes)) return rc;
    return tamis__fail(TAMIS_EINVAL, "the bytes have a bit set past the m of the segment, %llu",
                       (unsigned long long)h->m_bits);
}

/* Reads up to 8 bytes.  The caller's memory may be a filter that gets keys meanwhile; such memory
 * is aligned. */
static uint64_t read_word(const unsigned char *data, size_t skip, size_t bytes)
{
    uint64_t word = 0;
    /* ORDER relaxed: bits only go from 0 to 1. */
    if (bytes == sizeof word && (uintptr_t)data % sizeof word == 0)
        return __atomic_load_n((const uint64_t *)(const void *)data, __ATOMIC_RELAXED);
    memcpy((unsigned char *)&word + skip, data, bytes);
    return word;
}

static void set(const struct tamis__segment *segment, uint64_t offset, const unsigned char *data,
                size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const uint64_t at = offset + done;
        const size_t skip = at % 8, room = 8 - skip;
        const size_t now = bytes - done < room ? bytes - done : room;
        const uint64_t word = read_word(data + done, skip, now);
        /* ORDER relaxed: bits only go from 0 to 1, and nobody infers other memory from a bit. */
        if (word != 0) (void)__atomic_fetch_or(&segment->data[at / 8], word, __ATOMIC_RELAXED);
        done += now;
    }
}

TAMIS_API int tamis_filter_write_data(tamis_filter *filter, uint32_t index, uint64_t offset,
                                      const void *data, size_t bytes)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    TAMIS__REFUSE_NULL(data, "data");
    struct tamis__view *view;
    int rc = tamis__visit_segment(filter, index, &view);
    if (rc < 0) return rc;
    const struct tamis__segment *segment = &view->segments[index].segment;
    rc = check_written(filter, segment, offset, data, bytes);
    if (rc == 0) rc = tamis__begin_change(filter, segment);
    if (rc == 0) {
        if (view->policy.durable) tamis__durable_begin_merge(view);
        for (size_t done = 0; done < bytes; done += TAMIS__PIECE_BYTES) {
            const size_t now =
                bytes - done < TAMIS__PIECE_BYTES ? bytes - done : TAMIS__PIECE_BYTES;
            tamis__segment_want(segment, offset + done, now);
            set(segment, offset + done, (const unsigned char *)data + done, now);
        }
        if (view->policy.durable) rc = tamis__durable_end_merge(view, rc);
        tamis__end_change(segment);
    }
    if (rc == 0) rc = tamis__segment_check(segment);
    return (int)tamis__leave_with(filter, view, rc);
}

TAMIS_API int tamis_filter_write_items(tamis_filter *filter, uint32_t index, uint64_t items)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct tamis__view *view;
    int rc = tamis__visit_segment(filter, index, &view);
    if (rc < 0) return rc;
    const struct tamis__segment *segment = &view->segments[index].segment;
    rc = check_written(filter, segment, 0, "", 0);
    if (rc == 0) rc = tamis__begin_change(filter, segment);
    if (rc == 0) {
        tamis__header_set_items(segment->header, items);
        tamis__end_change(segment);
    }
    if (rc == 0) rc = tamis__segment_check(segment);
    return (int)tamis__leave_with(filter, view, rc);
}

/* ---- A bit ----------------------------------------------------------------------------------- */

static int check_position(const struct tamis_filter *filter,
                          const struct tamis__segment_header *header, uint64_t position)
{
    if (filter->read_only) return tamis__fail_read_only(filter);
    if (filter->rule != NULL)
        return tamis__fail(
            TAMIS_EUNSUPPORTED,
            "the filter '%s' has the key rule %s, and who sets a bit by its position "
            "has hashed the key without that; add keys instead",
            filter->name, filter->rule->text);
    if (!tamis_kind_has(header->kind, TAMIS_KIND_IS_PLAIN))
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "the filter '%s' is not of kind bloom, whose keys are positions alone",
                           filter->name);
    if (position < header->m_bits) return 0;
    return tamis__fail(TAMIS_EINVAL, "position %llu is past the m of the segment, %llu",
                       (unsigned long long)position, (unsigned long long)header->m_bits);
}

TAMIS_API int tamis_filter_set_bit(tamis_filter *filter, uint32_t index, uint64_t position)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct tamis__view *view;
    int rc = tamis__visit_segment(filter, index, &view);
    if (rc < 0) return rc;
    const struct tamis__segment *segment = &view->segments[index].segment;
    rc = check_position(filter, segment->header, position);
    if (rc == 0) rc = tamis__begin_change(filter, segment);
    if (rc == 0) {
        const bool durable = view->policy.durable != 0;
        const uint64_t at =
            segment->header->bit_order == TAMIS__BITS_MSB_FIRST ? position ^ 7 : position;
        const uint64_t mask = (uint64_t)1 << (at % 64);
        if (durable) tamis__durable_begin_merge(view);
        /* ORDER relaxed: bits only go from 0 to 1, and nobody infers other memory from a bit. */
        const uint64_t was = __atomic_fetch_or(&segment->data[at / 64], mask, __ATOMIC_RELAXED);
        if (durable) rc = tamis__durable_end_merge(view, rc);
        tamis__end_change(segment);
        if (rc == 0) rc = tamis__segment_check(segment);
        if (rc == 0) rc = (was & mask) != 0;
    }
    return (int)tamis__leave_with(filter, view, rc);
}
