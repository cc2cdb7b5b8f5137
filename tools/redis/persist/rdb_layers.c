/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdb_layers.c: what filters in memory have in dumps.  Each form is described once: the function
 * that passes through its numbers saves them or loads them.
 *
 *     exact    RedisBloom's, of encoding versions (encver) 2 to 5: U items, U layers, U options, U
 *              growth (from 4 on); of each layer U capacity, D rate, U hashes, D bits per entry,
 *              U bits, U n2, the bits, U items; in version 5 U seed
 *     own      U capacity, U layers, U whether it refuses, D rate; of each layer U capacity, D
 * rate, U k, U m, U words, U kind, U hash set, U seed, U step, the bits, U items cuckoo   encver 4:
 * U sub-filters, U buckets of the first, U items, U deletes, U bucket size, U most iterations, U
 * expansion; of each U buckets, S slots; in version 5 U seed. Before 4: U sub-filters, U buckets of
 * each, U items; of each S slots
 *
 * The bits are S S ..., 16 MiB each but the last; in RedisBloom's dumps they are one S.  Nothing is
 * allocated but what is there, so that a damaged head does no harm.
 */
#include <inttypes.h>

#include "persist/rdb.h"
#include "server/config.h"
#include "server/system.h"
#include "value/exact.h"

#define ENCODING_WITH_OPTIONS 2
#define ENCODING_WITH_EXPANSION 4
#define ENCODING_WITH_SEED 5

struct form {
    RedisModuleIO *rdb;
    int encver;
    bool loads;
};

static void number(const struct form *f, uint64_t *n)
{
    if (f->loads)
        *n = RedisModule_LoadUnsigned(f->rdb);
    else
        RedisModule_SaveUnsigned(f->rdb, *n);
}

/* One of 32 bits.  A larger one becomes the largest, which no filter has. */
static void small(const struct form *f, uint32_t *n)
{
    uint64_t wide = *n;
    number(f, &wide);
    *n = wide < UINT32_MAX ? (uint32_t)wide : UINT32_MAX;
}

static void real(const struct form *f, double *n)
{
    if (f->loads)
        *n = RedisModule_LoadDouble(f->rdb);
    else
        RedisModule_SaveDouble(f->rdb, *n);
}

bool rdb_load_seed(RedisModuleIO *rdb, int encver, uint64_t usual)
{
    if (encver < ENCODING_WITH_SEED) return true;
    const uint64_t seed = RedisModule_LoadUnsigned(rdb);
    if (RedisModule_IsIOError(rdb)) return false;
    if (seed == usual) return true;
    RedisModule_LogIOError(rdb, "warning",
                           "the filter has a seed of its own, and here RedisBloom's filters have "
                           "none; make it anew there without SEED");
    return false;
}

/* ---- Layers ---------------------------------------------------------------------------------- */

/* What stands of the filter before its layers, but the first two numbers.  False: unsound. */
static bool pass_filter(const struct form *f, struct memory *memory)
{
    uint32_t options = memory->exact ? memory->options : memory->refuses;
    uint32_t growth = f->loads ? 2 : memory->growth;
    small(f, &options);
    if (memory->exact && f->encver >= ENCODING_WITH_EXPANSION) small(f, &growth);
    if (memory->exact) return memory_set_options(memory, options, growth);
    memory->refuses = options != 0;
    real(f, &memory->rate);
    return true;
}

/* What stands of a layer before its bits. */
static void pass_layer(const struct form *f, struct layer *layer, bool exact)
{
    struct tamis_memory_filter *b = &layer->bits;
    number(f, &b->capacity);
    real(f, &b->fp_rate);
    small(f, &b->k);
    if (exact) real(f, &layer->bits_per_entry);
    number(f, &b->m_bits);
    if (exact) {
        small(f, &b->reserved); /* n2 */
        return;
    }
    small(f, &b->words);
    small(f, &b->kind);
    small(f, &b->hash_set);
    number(f, &b->seed);
    small(f, &b->step);
}

/* Saves the bits from `position` on, which are those of a layer.  Those of the store that cannot be
 * read are zeros. */
static bool save_bits(RedisModuleIO *rdb, const struct value *value, uint64_t position,
                      uint64_t bytes, uint64_t most)
{
    bool good = true;
    for (uint64_t at = 0; at < bytes;) {
        const void *piece;
        char *buffer, *none = NULL;
        int64_t got = pieces_read(value, position + at, most, &piece, &buffer);
        if (got <= 0) {
            good = false;
            got = (int64_t)(bytes - at < most ? bytes - at : most);
            piece = none = zeros((uint64_t)got);
        }
        RedisModule_SaveStringBuffer(rdb, piece, (size_t)got);
        RedisModule_Free(buffer);
        RedisModule_Free(none);
        at += (uint64_t)got;
    }
    return good;
}

bool rdb_save_layers(RedisModuleIO *rdb, const struct value *value, const struct memory *memory,
                     bool redisbloom)
{
    const struct form form = {.rdb = rdb, .encver = RDB_ENCODING};
    struct memory filter = *memory; /* a child writes no page that it shares with the server */
    uint64_t position = 0;
    bool good = true;
    RedisModule_SaveUnsigned(rdb, memory->exact ? memory_items(memory) : memory->capacity);
    RedisModule_SaveUnsigned(rdb, memory->count);
    (void)pass_filter(&form, &filter);
    for (uint32_t i = 0; i < memory->count; i++) {
        struct layer layer = memory->layers[i];
        const uint64_t bytes = layer_bytes(memory, &layer);
        pass_layer(&form, &layer, memory->exact);
        good &= save_bits(rdb, value, position, bytes, redisbloom ? UINT64_MAX : PIECE_BYTES);
        number(&form, &layer.bits.items);
        position += bytes;
    }
    return good;
}

/* Loads `all` bytes of bits, with room behind them up to a multiple of 8. */
static bool load_bits(RedisModuleIO *rdb, struct layer *layer, uint64_t all, bool skips)
{
    const uint64_t room = (all + 7) / 8 * 8;
    for (uint64_t at = 0; at < all;) {
        size_t bytes = 0;
        char *piece = RedisModule_LoadStringBuffer(rdb, &bytes);
        const bool good =
            piece != NULL && bytes <= all - at && (bytes == all - at || bytes == PIECE_BYTES);
        if (good && !skips && bytes == room) {
            layer->bits.data = piece;
            return true;
        }
        if (good && !skips && at == 0) layer->bits.data = zeros(room);
        if (good && layer->bits.data != NULL) memcpy((char *)layer->bits.data + at, piece, bytes);
        RedisModule_Free(piece);
        if (!good || (!skips && layer->bits.data == NULL)) return false;
        at += bytes;
    }
    return true;
}

/* Loads a layer, and appends it unless it is skipped. */
static bool load_layer(const struct form *f, struct memory *memory, bool skips)
{
    struct layer layer = {.bits = {.size = sizeof layer.bits}};
    struct tamis_memory_filter *b = &layer.bits;
    pass_layer(f, &layer, memory->exact);
    b->data_bytes =
        memory->exact ? b->m_bits / 8 : (b->m_bits / 64 + (b->m_bits % 64 != 0)) * sizeof(uint64_t);
    bool good = !RedisModule_IsIOError(f->rdb) && b->data_bytes <= config_max_bytes() &&
                (memory->exact || tamis_memory_filter_check(b) == 0) &&
                load_bits(f->rdb, &layer, b->data_bytes, skips);
    number(f, &b->items);
    good = good && !RedisModule_IsIOError(f->rdb);
    if (good && !skips)
        good = (memory->exact ? memory_take_exact(memory, &layer)
                              : memory_append(memory, &layer)) == 0;
    if (!good) RedisModule_Free(b->data);
    return good;
}

/* Loads all that follows the first two numbers. */
static bool load_filter(const struct form *f, struct memory *memory, uint64_t layers, bool skips)
{
    if (memory->exact && f->encver < ENCODING_WITH_OPTIONS) return false;
    bool good = pass_filter(f, memory) && !RedisModule_IsIOError(f->rdb);
    if (good && layers > LAYERS_MAX)
        RedisModule_LogIOError(f->rdb, "warning",
                               "the filter has %" PRIu64 " layers, and here one has at most %u; "
                               "make it anew there for more keys",
                               layers, LAYERS_MAX);
    good = good && layers >= 1 && layers <= LAYERS_MAX;
    for (uint64_t i = 0; good && i < layers; i++)
        good = load_layer(f, memory, skips);
    return good && (!memory->exact || rdb_load_seed(f->rdb, f->encver, BLOOM_SEED));
}

bool rdb_load_layers(RedisModuleIO *rdb, int encver, bool exact, const uint64_t numbers[2],
                     struct memory **loaded)
{
    const struct form form = {.rdb = rdb, .encver = encver, .loads = true};
    struct memory *memory = memory_new(exact);
    if (!exact) memory->capacity = numbers[0];
    const bool good = load_filter(&form, memory, numbers[1], loaded == NULL);
    if (good && loaded != NULL)
        *loaded = memory;
    else
        memory_release(memory);
    return good;
}

/* ---- Cuckoo filters -------------------------------------------------------------------------- */

static void pass_cuckoo(const struct form *f, struct cuckoo *c)
{
    small(f, &c->filters);
    number(f, &c->buckets);
    number(f, &c->items);
    if (f->encver < ENCODING_WITH_EXPANSION) return;
    number(f, &c->deletes);
    small(f, &c->bucket_size);
    small(f, &c->max_iterations);
    small(f, &c->expansion);
}

void rdb_save_cuckoo(RedisModuleIO *rdb, const struct exact *exact)
{
    const struct form form = {.rdb = rdb, .encver = RDB_ENCODING};
    struct cuckoo cuckoo = exact->cuckoo;
    pass_cuckoo(&form, &cuckoo);
    for (uint32_t i = 0; i < cuckoo.filters; i++) {
        const uint64_t slots = exact_slots(&cuckoo, i);
        RedisModule_SaveUnsigned(rdb, slots / cuckoo.bucket_size);
        RedisModule_SaveStringBuffer(rdb, (const char *)exact->slots[i], slots);
    }
}

/* Loads the slots of the next sub-filter, which are the string that is there. */
static bool load_slots(const struct form *f, struct exact *exact)
{
    struct cuckoo *c = &exact->cuckoo;
    const uint64_t slots = exact_slots(c, c->filters);
    uint64_t buckets = slots / c->bucket_size;
    size_t bytes = 0;
    if (f->encver >= ENCODING_WITH_EXPANSION) number(f, &buckets);
    if (RedisModule_IsIOError(f->rdb) || buckets != slots / c->bucket_size) return false;
    char *data = RedisModule_LoadStringBuffer(f->rdb, &bytes);
    if (RedisModule_IsIOError(f->rdb) || data == NULL || bytes != slots) {
        RedisModule_Free(data);
        return false;
    }
    exact->slots =
        RedisModule_Realloc(exact->slots, ((size_t)c->filters + 1) * sizeof *exact->slots);
    exact->slots[c->filters++] = (uint8_t *)data;
    return true;
}

static bool load_cuckoo(const struct form *f, struct exact *exact)
{
    struct cuckoo *c = &exact->cuckoo;
    *c = (struct cuckoo){.bucket_size = (uint32_t)config.cf_bucket_size,
                         .max_iterations = (uint32_t)config.cf_max_iterations,
                         .expansion = 1};
    pass_cuckoo(f, c);
    const uint32_t filters = c->filters;
    const bool sound =
        !RedisModule_IsIOError(f->rdb) && cuckoo_is_sound(c) && cuckoo_slots(c) != UINT64_MAX;
    c->filters = 0;
    while (sound && c->filters < filters && load_slots(f, exact))
        ;
    return sound && c->filters == filters && rdb_load_seed(f->rdb, f->encver, 0);
}

struct value *rdb_load_redisbloom_cuckoo(RedisModuleIO *rdb, int encver)
{
    const struct form form = {.rdb = rdb, .encver = encver, .loads = true};
    struct exact *exact = RedisModule_Calloc(1, sizeof *exact);
    if (load_cuckoo(&form, exact)) {
        struct value *value = value_new(TYPE_CUCKOO);
        value_settle(value, HOME_CUCKOO, exact);
        return value;
    }
    RedisModule_LogIOError(rdb, "warning", "the dump of a cuckoo filter of RedisBloom is damaged");
    exact_free(exact);
    return NULL;
}
