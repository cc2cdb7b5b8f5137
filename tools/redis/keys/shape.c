/* SPDX-License-Identifier: BSD-2-Clause */
/* shape.c: see shape.h. */
#include "keys/shape.h"

#include <math.h>
#include <string.h>

#include "keys/make.h"
#include "server/config.h"

/* As RedisBloom writes them: its bits and hashes must come out the same. */
#define LN2 0.693147180559945
#define LN2_SQUARED 0.480453013918201

#define OPTION_NOROUND 1u
#define OPTION_FORCE64 4u

/* Makes a filter of a head whose bits go into a drawer.  Returns false if they do not. */
static bool make_small(const struct memory_source *memory, const char *format, uint64_t flags,
                       tamis_store *store, const char *name, tamis_filter **filter, int *rc)
{
    const struct tamis_filled filled = {.name = name,
                                        .stream = memory->at,
                                        .stream_bytes = memory->left,
                                        .format = format,
                                        .flags = (unsigned)flags};
    if ((flags & TAMIS_IMPORT_DURABLE) != 0 ||
        tamis_stream_fits(format, memory->at, memory->left) != TAMIS_STREAM_IN_DRAWER)
        return false;
    *rc = tamis_filter_create_filled(store, &filled, 1);
    if (*rc == 0) *rc = tamis_filter_open(store, name, 0, filter);
    return true;
}

static int import_head(void *context, tamis_store *store, const char *name, tamis_filter **filter)
{
    struct memory_source memory =
        *(const struct memory_source *)context; /* a second try begins anew */
    const bool tamis = head_is_tamis(memory.at, memory.left);
    const struct tamis_import_spec spec = {.size = sizeof spec,
                                           .flags = TAMIS_IMPORT_HEAD | TAMIS_IMPORT_OWNED |
                                                    memory.flags |
                                                    (tamis ? 0 : TAMIS_IMPORT_AS_THERE)};
    const struct tamis_source source = {
        .size = sizeof source, .read = memory_read, .context = &memory, .bytes = memory.left};
    const char *format = tamis ? "tamis" : "redisbloom";
    int rc;
    if (make_small(&memory, format, spec.flags, store, name, filter, &rc)) return rc;
    return tamis_filter_import(store, name, format, &spec, &source, filter);
}

/* The copy has the head behind it. */
static void *keep_head(const void *context)
{
    const struct memory_source *memory = context;
    struct memory_source *copy = RedisModule_Alloc(sizeof *copy + memory->left);
    *copy = *memory;
    copy->at = memcpy(copy + 1, memory->at, memory->left);
    return copy;
}

static struct maker maker_of_head(struct memory_source *memory)
{
    return (struct maker){.make = import_head, .context = memory, .keep = keep_head};
}

static uint64_t flags_for(const struct value *value)
{
    return value->durable ? TAMIS_IMPORT_DURABLE : 0;
}

/* Our own head, less the expansion behind it. */
static int make_from_own(struct value *value, int db, const char *key, size_t key_bytes,
                         const unsigned char *head, size_t bytes)
{
    uint32_t expansion = 0;
    struct memory_source memory = {
        .at = head, .left = head_split(head, bytes, &expansion), .flags = flags_for(value)};
    if (memory.left == 0) return TAMIS_ECORRUPT;
    const struct maker maker = maker_of_head(&memory);
    const int rc = make_filter(value, db, key, key_bytes, &maker);
    if (rc == 0 && !value->exact) value->expansion = expansion;
    return rc;
}

int make_from_head(struct value *value, int db, const char *key, size_t key_bytes, const void *head,
                   size_t bytes)
{
    unsigned char framed[HEAD_FRAME_BYTES + HEAD_ROOM];
    if (bytes > HEAD_ROOM) return TAMIS_ECORRUPT;
    if (head_is_tamis(head, bytes)) return make_from_own(value, db, key, key_bytes, head, bytes);
    struct memory_source memory = {
        .at = framed, .left = head_frame(head, bytes, framed), .flags = flags_for(value)};
    const struct maker maker = maker_of_head(&memory);
    return make_filter(value, db, key, key_bytes, &maker);
}

/* Writes the head of a new filter with one layer; returns its bytes. */
static size_t head_of_shape(const struct bloom_shape *shape, unsigned char head[HEAD_ROOM])
{
    /* A filter that grows gives half of its rate to the first layer. */
    const double rate = shape->non_scaling ? shape->rate : shape->rate / 2;
    const double per_entry = -(log(rate) / LN2_SQUARED);
    const double bits = trunc((double)shape->capacity * per_entry);
    struct bloom_layer layer = {.bits = bits < 1      ? 1
                                        : bits > 1e18 ? UINT64_C(1) << 60
                                                      : (uint64_t)bits,
                                .capacity = shape->capacity,
                                .rate = rate,
                                .bits_per_entry = per_entry,
                                .hashes = (uint32_t)ceil(LN2 * per_entry)};
    layer.bits = (layer.bits + 63) / 64 * 64;
    layer.bytes = layer.bits / 8;
    const uint32_t options =
        OPTION_NOROUND | OPTION_FORCE64 | (shape->non_scaling ? BLOOM_NO_SCALING : 0);
    return bloom_head_add(head, bloom_head_begin(options, shape->growth, head), &layer);
}

/* tamis_size(), which takes some 10 us, for the filter that was made last, or for another. */
static int size_once(struct tamis_sizing *sizing)
{
    static struct tamis_sizing asked, told;
    /* Where only the bytes between members differ, it is computed once more. */
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c)
    if (memcmp(sizing, &asked, sizeof asked) != 0) {
        const struct tamis_sizing ask = *sizing;
        const int rc = tamis_size(sizing);
        if (rc < 0) return rc;
        asked = ask;
        told = *sizing;
    }
    *sizing = told;
    return 0;
}

/* Makes a draft of a filter of RedisBloom that goes into a drawer.  Returns false if it is none. */
static bool begin_exact(struct value *value, int db, const char *key, size_t key_bytes,
                        const struct bloom_shape *shape, const unsigned char *head, size_t bytes)
{
    unsigned char framed[HEAD_FRAME_BYTES + HEAD_ROOM];
    struct bloom_layer layer;
    const size_t framed_bytes = head_frame(head, bytes, framed);
    if (shape->at_once ||
        tamis_stream_fits("redisbloom", framed, framed_bytes) != TAMIS_STREAM_IN_DRAWER)
        return false;
    bloom_head_layer(head, &layer);
    const struct tamis_sizing sizing = {.file_bytes = layer.bytes, .data_bytes = layer.bytes};
    const struct tamis_filter_spec spec = {.size = sizeof spec,
                                           .hash_set = "redisbloom",
                                           .kind = TAMIS_KIND_BLOOM,
                                           .m_bits = layer.bits,
                                           .k = layer.hashes,
                                           .capacity = shape->capacity,
                                           .fp_rate = shape->rate,
                                           .on_full = shape->non_scaling ? TAMIS_ON_FULL_REFUSE
                                                                         : TAMIS_ON_FULL_GROW};
    if (!make_exact_draft(value, db, key, key_bytes, &spec, &sizing, framed, framed_bytes))
        return false;
    value->expansion = shape->non_scaling ? 0 : shape->growth;
    return true;
}

static int make_exact(struct value *value, int db, const char *key, size_t key_bytes,
                      const struct bloom_shape *shape)
{
    unsigned char head[HEAD_ROOM];
    const size_t bytes = head_of_shape(shape, head);
    if (head_is_too_large(head, bytes)) return TAMIS_ENOMEM;
    if (begin_exact(value, db, key, key_bytes, shape, head, bytes)) return 0;
    return make_from_head(value, db, key, key_bytes, head, bytes);
}

int make_bloom(struct value *value, int db, const char *key, size_t key_bytes,
               const struct bloom_shape *shape)
{
    if (config.exact) return make_exact(value, db, key, key_bytes, shape);
    struct tamis_sizing sizing = {.size = sizeof sizing,
                                  .kind = (uint32_t)config.kind,
                                  .capacity = shape->capacity,
                                  .fp_rate = shape->rate};
    struct tamis_filter_spec spec = {.size = sizeof spec,
                                     .capacity = shape->capacity,
                                     .fp_rate = shape->rate,
                                     .kind = (uint32_t)config.kind,
                                     .on_full = shape->non_scaling ? TAMIS_ON_FULL_REFUSE
                                                                   : TAMIS_ON_FULL_GROW,
                                     .flags = TAMIS_FILTER_OWNED | TAMIS_FILTER_IN_DRAWER};
    if (shape->capacity / 8 > config_max_bytes()) return TAMIS_ENOMEM; /* of any size */
    int rc = size_once(&sizing);
    if (rc < 0) return rc;
    if (sizing.file_bytes > config_max_bytes()) return TAMIS_ENOMEM;
    const struct maker maker = maker_of_spec(&spec);
    rc = shape->at_once ? make_filter(value, db, key, key_bytes, &maker)
                        : make_by_spec(value, db, key, key_bytes, &spec, &sizing);
    if (rc == 0) value->expansion = shape->non_scaling ? 0 : shape->growth;
    return rc;
}
