/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import_load.c: brings the data of a stream into the staged files of its drafts, as the reader
 * gives them.
 */
#include "filter/import.h"

#include <math.h>

#include "kind/cells.h"
#include "segment/broken.h"
#include "sizing/sizing.h"
#include "txn/exceptions.h"

/* ---- Data ------------------------------------------------------------------------------------ */

/*
 * Writes the words that are not zero.  A segment that keys will be added to is written a page at a
 * time.  Then the page cache holds pages and not folios of 2 MiB, of which each bit set would later
 * write back the whole (measured for the design: 1,000 times the bytes at 0.1 % dirty).
 */
static int write_data(const struct tamis__import *import, uint32_t index, const unsigned char *data,
                      size_t bytes)
{
    const struct tamis__draft *draft = &import->drafts[index];
    const bool takes_keys = index + 1 == import->count && draft->header.fingerprint_bits == 0;
    const size_t unit = takes_keys ? TAMIS__FILE_UNIT : TAMIS__PIECE_BYTES;
    const uint64_t offset = draft->header.data_offset + import->fillings[index].done_bytes;
    for (size_t done = 0; done < bytes;) {
        size_t now = unit - (size_t)((offset + done) % unit);
        if (now > bytes - done) now = bytes - done;
        if (!tamis__is_zero(data + done, now)) {
            const int rc = tamis__segment_fill(&import->store->place, &draft->staged, offset + done,
                                               data + done, now);
            if (rc < 0) return rc;
        }
        done += now;
    }
    return 0;
}

static uint64_t count_ones(const unsigned char *data, size_t bytes)
{
    uint64_t ones = 0, word = 0;
    size_t i = 0;
    for (; i + 8 <= bytes; i += 8)
        ones += (unsigned)__builtin_popcountll(tamis__get64(data + i));
    memcpy(&word, data + i, bytes - i);
    return ones + (unsigned)__builtin_popcountll(word);
}

static int take_data(void *context, uint32_t index, const void *data, size_t bytes)
{
    struct tamis__import *import = context;
    struct tamis__import_filling *filling = &import->fillings[index];
    const struct tamis__segment_header *header = &import->drafts[index].header;
    const int rc = write_data(import, index, data, bytes);
    if (rc < 0) return rc;
    tamis__keep_last_word(&filling->last_word, header->m_bits, filling->done_bytes, data, bytes);
    filling->ones += count_ones(data, bytes);
    filling->done_bytes += bytes;
    return 0;
}

/* ---- Counters -------------------------------------------------------------------------------- */

/* Maps a draft of kind counting: what its counters have outgrown is made in place. */
static int map_counters(struct tamis__import *import, uint32_t index)
{
    const struct tamis__draft *draft = &import->drafts[index];
    if (import->counters.header != NULL) return 0;
    return tamis__segment_map_staged(&import->store->place, &draft->staged, &draft->header,
                                     &import->counters);
}

static int take_count(void *context, uint32_t index, uint64_t cell, uint64_t count)
{
    struct tamis__import *import = context;
    if (cell >= import->drafts[index].header.m_bits || count > TAMIS__COUNT_MAX)
        return TAMIS__NO_COUNT;
    const int rc = map_counters(import, index);
    if (rc < 0) return rc;
    const struct tamis__cells cells = tamis__cells_of(&import->counters);
    return tamis__cell_set(&cells, cell, count);
}

static void unmap_counters(struct tamis__import *import)
{
    if (import->counters.header != NULL) tamis__segment_close(&import->counters);
    import->counters = (struct tamis__segment){.header = NULL};
}

/* All counts of the draft are in.  A counter that is marked and has no count gets a slot: it counts
 * what the mark says. */
static int finish_counters(struct tamis__import *import, uint32_t index)
{
    struct tamis__draft *draft = &import->drafts[index];
    int rc = map_counters(import, index);
    if (rc < 0) return rc;
    const struct tamis__cells cells = tamis__cells_of(&import->counters);
    rc = tamis__cells_mend(&cells, 0);
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): map_counters() has mapped it
    draft->header.live.overflow_levels = import->counters.header->live.overflow_levels;
    if (rc == 0) rc = tamis__segment_check(&import->counters);
    unmap_counters(import);
    return rc;
}

/* ---- Exceptions ------------------------------------------------------------------------------ */

static int take_exceptions(void *context, struct tamis__exceptions *set)
{
    struct tamis__import *import = context;
    if (!import->takes_exceptions)
        return tamis__exceptions_stage(import->store, set, import->name, &import->index);
    import->exceptions = *set;
    *set = (struct tamis__exceptions){.count = 0};
    return 0;
}

static int take_attachment(void *context, const void *data, size_t bytes)
{
    struct tamis__import *import = context;
    tamis__attachment_set(&import->drafts[0].header.attachment, data, bytes);
    return 0;
}

/* Called when all data are in: can they be a filter's, and how many keys do they have? */
static int finish_layer(struct tamis__import *import, uint32_t index)
{
    const struct tamis__import_filling *filling = &import->fillings[index];
    struct tamis__segment_header *header = &import->drafts[index].header;
    const uint64_t items = import->outline.layers[index].segment.items;
    if (header->fingerprint_bits != 0) return 0; /* the stream's checksum of them was right */
    if (tamis__bits_past(filling->last_word, header->m_bits, header->bit_order))
        return tamis__reader_fail(&import->reader, TAMIS_ECORRUPT, import->reader.offset,
                                  "has bits set past its m");
    if (items != TAMIS__ITEMS_UNKNOWN && items > 0 && filling->ones == 0)
        return tamis__reader_fail(&import->reader, TAMIS_ECORRUPT, import->reader.offset,
                                  "says that it holds keys, and has not one bit set for them");
    if (items == TAMIS__ITEMS_UNKNOWN)
        tamis__header_set_items(
            header, (uint64_t)llround(tamis__estimate_items(header->kind, header->m_bits, header->k,
                                                            filling->ones)));
    return header->counter_bits != 0 ? finish_counters(import, index) : 0;
}

/* The source has the head alone: no bit is set, and the caller brings the data later. */
static int load_head(struct tamis__import *import)
{
    unsigned char *head;
    const int rc = tamis__reader_take(&import->reader, (size_t)import->outline.head_bytes, &head);
    return rc < 0 ? rc : tamis__reader_finish(&import->reader);
}

int tamis__import_fill(struct tamis__import *import)
{
    const bool head_only = (import->spec.flags & TAMIS_IMPORT_HEAD) != 0;
    const struct tamis__stream_target target = {.write = take_data,
                                                .count = take_count,
                                                .except = take_exceptions,
                                                .attach = take_attachment,
                                                .context = import};
    int rc = head_only ? load_head(import)
                       : import->format->load(&import->reader, &import->outline, &target);
    /* The source says at its end whether it is to be trusted. */
    if (rc == 0) rc = tamis__reader_finish(&import->reader);
    for (uint32_t i = 0; rc == 0 && !head_only && i < import->outline.count; i++)
        rc = finish_layer(import, i);
    unmap_counters(import);
    return rc;
}
