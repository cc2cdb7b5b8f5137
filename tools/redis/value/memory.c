/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.c: see memory.h. */
#include "value/memory.h"

#include <math.h>
#include <string.h>

#include "server/config.h"
#include "server/system.h"

/* As RedisBloom writes them: its bits and hashes must come out the same. */
#define LN2 0.693147180559945
#define LN2_SQUARED 0.480453013918201

/* Options of RedisBloom's head; ENTS_IS_BITS is the fourth that it knows. */
#define OPTION_NOROUND 1u
#define OPTION_FORCE64 4u
#define OPTION_NO_SCALING 8u
#define OPTIONS_KNOWN 15u
#define REDISBLOOM 6u /* the hash set's number (docs/format.md) */

/* ---- Layers ---------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct memory) == 48, "there may be millions");

static void *new_data(uint64_t bytes)
{
    return zeros(bytes < 8 ? 8 : bytes);
}

static bool is_too_large(uint64_t bytes)
{
    return bytes > config_max_bytes();
}

/* A layer of RedisBloom, without its data; false: it can have none (the rate has become 0). */
static bool plan_exact(uint64_t capacity, double rate, struct layer *layer)
{
    const double per_entry = -(log(rate) / LN2_SQUARED);
    const double bits = trunc((double)capacity * per_entry);
    const double hashes = ceil(LN2 * per_entry);
    if (!(rate > 0) || hashes > TAMIS_K_MAX || bits > 1e18) return false;
    const uint64_t rounded = ((bits < 1 ? 1 : (uint64_t)bits) + 63) / 64 * 64;
    *layer = (struct layer){.bits = {.size = sizeof layer->bits,
                                     .data_bytes = rounded / 8,
                                     .m_bits = rounded,
                                     .capacity = capacity,
                                     .fp_rate = rate,
                                     .kind = TAMIS_KIND_BLOOM,
                                     .k = (uint32_t)hashes,
                                     .hash_set = REDISBLOOM},
                            .bits_per_entry = per_entry};
    return true;
}

#define LARGE 65536 /* the library gives half of the rate to the first one, too */

/*
 * The first layer of a filter that grows has half of its rate, where the library gives a tenth to
 * one in a file: there it saves a look at the next file, and here it takes memory.  So the next
 * layers share the other half: of a rate of r the library leaves 0.9 r to them.
 */
static struct tamis_filter_spec spec_of_step(const struct tamis_filter_spec *spec, uint32_t step)
{
    struct tamis_filter_spec own = *spec;
    if (spec->on_full == TAMIS_ON_FULL_REFUSE || spec->capacity >= LARGE) return own;
    own.fp_rate = step == 0 ? spec->fp_rate / 2 : spec->fp_rate / 1.8;
    if (step == 0) own.on_full = TAMIS_ON_FULL_REFUSE;
    return own;
}

/* tamis_size() takes some 10 us, so the filter that was planned last is kept.  Main thread. */
static int plan_own(const struct tamis_filter_spec *spec, uint32_t step, struct layer *layer)
{
    static struct {
        struct tamis_filter_spec asked;
        struct tamis_memory_filter told;
    } last;
    *layer = (struct layer){.bits_per_entry = 0};
    if (step == 0 && last.asked.capacity == spec->capacity && last.asked.fp_rate == spec->fp_rate &&
        last.asked.kind == spec->kind && last.asked.on_full == spec->on_full) {
        layer->bits = last.told;
        return 1;
    }
    const struct tamis_filter_spec own = spec_of_step(spec, step);
    const int rc = tamis_memory_filter_init(&layer->bits, &own, step);
    if (rc > 0 && step == 0) {
        last.asked = *spec;
        last.told = layer->bits;
    }
    return rc;
}

static struct tamis_filter_spec spec_of(const struct memory *memory, uint32_t kind)
{
    return (struct tamis_filter_spec){.size = sizeof(struct tamis_filter_spec),
                                      .capacity = memory->capacity,
                                      .fp_rate = memory->rate,
                                      .kind = kind,
                                      .on_full = memory->refuses ? TAMIS_ON_FULL_REFUSE
                                                                 : TAMIS_ON_FULL_GROW};
}

/* Completes a layer of RedisBloom's from outside.  False: it is none that a filter here can have.
 */
static bool complete_exact(struct layer *layer)
{
    struct tamis_memory_filter *b = &layer->bits;
    const bool told = b->m_bits > 0 && b->m_bits % 8 == 0 && b->m_bits / 8 == b->data_bytes;
    b->size = sizeof *b;
    b->data_bytes = (b->m_bits + 63) / 64 * 8;
    b->kind = TAMIS_KIND_BLOOM;
    b->hash_set = REDISBLOOM;
    return told && b->fp_rate > 0 && b->fp_rate < 1 && b->capacity > 0 && b->k >= 1 &&
           b->k <= TAMIS_K_MAX && (double)b->k == ceil(LN2 * layer->bits_per_entry) &&
           b->reserved < 64 && (b->reserved == 0 || b->m_bits == UINT64_C(1) << b->reserved) &&
           tamis_memory_filter_check(b) == 0;
}

int memory_append(struct memory *memory, struct layer *layer)
{
    if (memory->count == LAYERS_MAX) return TAMIS_ELIMIT;
    if (is_too_large(memory_data_bytes(memory) + layer->bits.data_bytes)) return TAMIS_ENOMEM;
    if (layer->bits.data == NULL) layer->bits.data = new_data(layer->bits.data_bytes);
    if (layer->bits.data == NULL) return TAMIS_ENOMEM;
    memory->layers =
        RedisModule_Realloc(memory->layers, (memory->count + 1) * sizeof *memory->layers);
    memory->layers[memory->count++] = *layer;
    return 0;
}

int memory_take_exact(struct memory *memory, struct layer *layer)
{
    if (!complete_exact(layer)) return TAMIS_ECORRUPT;
    if (memory->count == 0) {
        memory->capacity = layer->bits.capacity;
        memory->rate = memory->refuses ? layer->bits.fp_rate : 2 * layer->bits.fp_rate;
    }
    return memory_append(memory, layer);
}

struct memory *memory_new(bool exact)
{
    struct memory *memory = RedisModule_Calloc(1, sizeof *memory);
    memory->references = 1;
    memory->exact = exact;
    return memory;
}

bool memory_set_options(struct memory *memory, uint32_t options, uint32_t growth)
{
    memory->options = (uint8_t)options;
    memory->refuses = (options & OPTION_NO_SCALING) != 0;
    memory->growth = growth;
    return (options & ~OPTIONS_KNOWN) == 0 && (options & OPTION_FORCE64) != 0;
}

int memory_make(const struct bloom_shape *shape, bool exact, struct memory **made)
{
    struct memory *memory = memory_new(exact);
    struct layer layer;
    int rc = 1;
    memory->refuses = shape->non_scaling;
    memory->growth = shape->growth;
    memory->options =
        (uint8_t)(OPTION_NOROUND | OPTION_FORCE64 | (memory->refuses ? OPTION_NO_SCALING : 0));
    memory->capacity = shape->capacity;
    memory->rate = shape->rate;
    const uint32_t kind = config.kind == KIND_BLOCKED ? TAMIS_KIND_BLOCKED : TAMIS_KIND_BLOOM;
    const struct tamis_filter_spec spec = spec_of(memory, kind);
    if (shape->capacity / 8 > config_max_bytes()) rc = TAMIS_ENOMEM; /* of any size */
    /* A filter that grows gives half of its rate to the first layer. */
    if (rc > 0 && exact &&
        !plan_exact(shape->capacity, shape->rate / (shape->non_scaling ? 1 : 2), &layer))
        rc = TAMIS_EINVAL;
    if (rc > 0 && !exact) rc = plan_own(&spec, 0, &layer);
    if (rc > 0) rc = memory_append(memory, &layer);
    if (rc < 0) {
        memory_release(memory);
        return rc;
    }
    *made = memory;
    return 0;
}

/* Makes the next layer. */
static int grow(struct memory *memory)
{
    const struct layer *newest = &memory->layers[memory->count - 1];
    struct layer layer;
    if (memory->refuses) return TAMIS_EFULL;
    if (memory->exact) {
        const uint64_t capacity = newest->bits.capacity * memory->growth;
        if (!plan_exact(capacity, newest->bits.fp_rate / 2, &layer)) return TAMIS_ELIMIT;
    } else {
        const struct tamis_filter_spec spec = spec_of(memory, newest->bits.kind);
        const int rc = plan_own(&spec, newest->bits.step + 1, &layer);
        if (rc <= 0) return rc < 0 ? rc : TAMIS_ELIMIT;
        layer.bits.seed = newest->bits.seed;
    }
    return memory_append(memory, &layer);
}

void memory_release(struct memory *memory)
{
    /* ORDER acq_rel: what the others did with the bits comes before they are freed. */
    if (__atomic_sub_fetch(&memory->references, 1, __ATOMIC_ACQ_REL) > 0) return;
    for (uint32_t i = 0; i < memory->count; i++)
        RedisModule_Free(memory->layers[i].bits.data);
    RedisModule_Free(memory->promotion); /* one that has failed: the others have a reference */
    RedisModule_Free(memory->layers);
    RedisModule_Free(memory);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

bool memory_contains(const struct memory *memory, const void *key, size_t bytes)
{
    for (uint32_t i = memory->count; i > 0; i--)
        if (tamis_memory_filter_contains(&memory->layers[i - 1].bits, key, bytes)) return true;
    return false;
}

void memory_contains_batch(const struct memory *memory, const struct tamis_key *keys, size_t count,
                           uint8_t *answers)
{
    (void)tamis_memory_filter_contains_batch(&memory->layers[0].bits, keys, count, answers);
    for (size_t i = 0; memory->count > 1 && i < count; i++)
        if (!answers[i]) answers[i] = (uint8_t)memory_contains(memory, keys[i].data, keys[i].bytes);
}

/* Is the key in a layer before the newest? */
static bool is_in_older(const struct memory *memory, const void *key, size_t bytes)
{
    for (uint32_t i = memory->count - 1; i > 0; i--)
        if (tamis_memory_filter_contains(&memory->layers[i - 1].bits, key, bytes)) return true;
    return false;
}

static void note(struct key_log *log, const void *key, size_t bytes)
{
    const uint32_t count = (uint32_t)bytes;
    if (log->count + sizeof count + bytes > log->room) {
        log->room = 2 * log->room + sizeof count + bytes;
        log->bytes = RedisModule_Realloc(log->bytes, log->room);
    }
    memcpy(log->bytes + log->count, &count, sizeof count);
    if (bytes > 0) memcpy(log->bytes + log->count + sizeof count, key, bytes);
    log->count += sizeof count + bytes;
}

int memory_add(struct memory *memory, const void *key, size_t bytes)
{
    struct tamis_memory_filter *newest = &memory->layers[memory->count - 1].bits;
    if (memory->count > 1 && is_in_older(memory, key, bytes)) return 0;
    if (newest->items >= newest->capacity) {
        if (tamis_memory_filter_contains(newest, key, bytes)) return 0;
        const int rc = grow(memory);
        if (rc < 0) return rc;
        newest = &memory->layers[memory->count - 1].bits;
    }
    const int is_new = tamis_memory_filter_add(newest, key, bytes);
    if (is_new && memory->log != NULL) note(memory->log, key, bytes);
    return is_new;
}

int memory_add_batch(struct memory *memory, const struct tamis_key *keys, size_t count,
                     uint8_t *answers)
{
    struct tamis_memory_filter *newest = &memory->layers[memory->count - 1].bits;
    int rc = 0;
    if (memory->count == 1 && memory->log == NULL && newest->items + count <= newest->capacity) {
        (void)tamis_memory_filter_add_batch(newest, keys, count, answers);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        const int added = memory_add(memory, keys[i].data, keys[i].bytes);
        answers[i] = added < 0 ? TAMIS_ANSWER_REFUSED : (uint8_t)added;
        if (added < 0) rc = added;
    }
    return rc;
}

/* ---- Figures --------------------------------------------------------------------------------- */

uint64_t layer_bytes(const struct memory *memory, const struct layer *layer)
{
    return memory->exact ? layer->bits.m_bits / 8 : layer->bits.data_bytes;
}

uint64_t memory_items(const struct memory *memory)
{
    uint64_t items = 0;
    for (uint32_t i = 0; i < memory->count; i++)
        items += memory->layers[i].bits.items;
    return items;
}

uint64_t memory_data_bytes(const struct memory *memory)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < memory->count; i++)
        bytes += layer_bytes(memory, &memory->layers[i]);
    return bytes;
}

uint64_t memory_size_bytes(const struct memory *memory)
{
    return 32 + 64 * (uint64_t)memory->count + memory_data_bytes(memory);
}

/* ---- Heads and data -------------------------------------------------------------------------- */

/* RedisBloom's head of a layer, which is read into it, or written. */
static void pass_layer(unsigned char *at, struct layer *layer, bool reads)
{
    struct tamis_memory_filter *b = &layer->bits;
    uint8_t n2 = (uint8_t)b->reserved;
    const struct {
        void *field;
        size_t bytes;
    } fields[] = {{&b->data_bytes, 8},         {&b->m_bits, 8}, {&b->items, 8},    {&b->fp_rate, 8},
                  {&layer->bits_per_entry, 8}, {&b->k, 4},      {&b->capacity, 8}, {&n2, 1}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; at += fields[i++].bytes)
        if (reads)
            memcpy(fields[i].field, at, fields[i].bytes);
        else
            memcpy(at, fields[i].field, fields[i].bytes);
    b->reserved = n2;
}

/* The same of what stands before the layers. */
struct chain {
    uint64_t items;
    uint32_t layers, options, growth;
};

static int64_t head_of_exact(const struct memory *memory, unsigned char head[HEAD_ROOM])
{
    const struct chain chain = {memory_items(memory), memory->count, memory->options,
                                memory->growth};
    memcpy(head, &chain, BLOOM_HEAD_BYTES);
    for (uint32_t i = 0; i < memory->count; i++) {
        struct layer layer = memory->layers[i];
        layer.bits.data_bytes = layer_bytes(memory, &layer);
        pass_layer(head + BLOOM_HEAD_BYTES + i * BLOOM_LAYER_BYTES, &layer, false);
    }
    return BLOOM_HEAD_BYTES + (int64_t)memory->count * BLOOM_LAYER_BYTES;
}

int64_t memory_head(const struct memory *memory, uint32_t expansion, unsigned char head[HEAD_ROOM])
{
    struct tamis_memory_filter filters[LAYERS_MAX];
    if (memory->exact) return head_of_exact(memory, head);
    for (uint32_t i = 0; i < memory->count; i++)
        filters[i] = memory->layers[i].bits;
    const struct tamis_filter_spec spec = spec_of(memory, filters[0].kind);
    _Static_assert(TAMIS_MEMORY_HEAD_BYTES(LAYERS_MAX) + 4 <= HEAD_ROOM, "room for any head");
    const int64_t bytes = tamis_memory_filters_head(filters, memory->count, &spec, head);
    if (bytes < 0) return bytes;
    memcpy(head + bytes, &expansion, sizeof expansion);
    return bytes + (int64_t)sizeof expansion;
}

static int make_exact_of_head(const unsigned char *head, size_t bytes, struct memory **made,
                              uint32_t *expansion)
{
    struct chain chain = {.layers = 0};
    if (bytes >= BLOOM_HEAD_BYTES) memcpy(&chain, head, BLOOM_HEAD_BYTES);
    if (chain.layers < 1 || chain.layers > LAYERS_MAX ||
        bytes != BLOOM_HEAD_BYTES + chain.layers * BLOOM_LAYER_BYTES)
        return TAMIS_ECORRUPT;
    struct memory *memory = memory_new(true);
    int rc = memory_set_options(memory, chain.options, chain.growth) ? 0 : TAMIS_ECORRUPT;
    for (uint32_t i = 0; rc == 0 && i < chain.layers; i++) {
        struct layer layer = {.bits = {.data = NULL}};
        unsigned char at[BLOOM_LAYER_BYTES];
        memcpy(at, head + BLOOM_HEAD_BYTES + i * BLOOM_LAYER_BYTES, sizeof at);
        pass_layer(at, &layer, true);
        rc = memory_take_exact(memory, &layer);
    }
    if (rc == 0 && memory_items(memory) != chain.items) rc = TAMIS_ECORRUPT;
    if (rc < 0) {
        memory_release(memory);
        return rc;
    }
    *expansion = memory->refuses ? 0 : memory->growth;
    *made = memory;
    return 0;
}

static int make_own_of_head(const unsigned char *head, size_t bytes, struct memory **made,
                            uint32_t *expansion)
{
    struct tamis_memory_filter filters[TAMIS_MEMORY_SEGMENTS_MAX];
    struct tamis_filter_spec spec;
    size_t head_bytes;
    const size_t left = head_split(head, bytes, expansion);
    const int count = left == 0
                          ? TAMIS_ECORRUPT
                          : tamis_memory_filters_parse(head, left, filters, &spec, &head_bytes);
    if (count < 0) return count;
    if (filters[0].hash_set == REDISBLOOM || spec.on_full == TAMIS_ON_FULL_WARN)
        return TAMIS_EUNSUPPORTED; /* nothing here makes these, but a store has them */
    struct memory *memory = memory_new(false);
    int rc = 0;
    memory->refuses = spec.on_full == TAMIS_ON_FULL_REFUSE;
    memory->capacity = spec.capacity;
    memory->rate = spec.fp_rate;
    for (int i = 0; rc == 0 && i < count; i++) {
        struct layer layer = {.bits = filters[i]};
        rc = memory_append(memory, &layer);
    }
    if (rc == 0)
        *made = memory;
    else
        memory_release(memory);
    return rc;
}

int memory_make_of_head(const void *head, size_t bytes, struct memory **memory, uint32_t *expansion)
{
    return head_is_tamis(head, bytes) ? make_own_of_head(head, bytes, memory, expansion)
                                      : make_exact_of_head(head, bytes, memory, expansion);
}

void memory_or(unsigned char *at, const void *data, size_t bytes)
{
    const unsigned char *from = data;
    /* ORDER relaxed: the thread of a promotion may read the bits meanwhile, which only go 0 -> 1.
     * Nobody else writes them. */
    for (size_t i = 0, now; i < bytes; i += now) {
        uint64_t word;
        now = (uintptr_t)(at + i) % sizeof word == 0 && bytes - i >= sizeof word ? sizeof word : 1;
        if (now == 1) {
            __atomic_store_n(&at[i], (unsigned char)(at[i] | from[i]), __ATOMIC_RELAXED);
            continue;
        }
        uint64_t *to = (uint64_t *)(void *)(at + i);
        memcpy(&word, from + i, sizeof word);
        __atomic_store_n(to, *to | word, __ATOMIC_RELAXED);
    }
}
