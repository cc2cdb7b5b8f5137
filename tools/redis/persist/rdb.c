/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdb.c: values in dumps.
 *
 *     RedisBloom's  of exact filters: rdb_layers.c, and rdb_cuckoo.c of cuckoo filters
 *     ours          U version, U 0 (RedisBloom has the number of layers there, and refuses 0),
 *                   U flags, U expansion; with FLAG_ID: S id, U id of the store; then
 *         LAYERS    U exact, U refuses, U growth, U options, U capacity, D rate, U layers; of each
 *                   U m, U k, U words, U kind, U hash set, U seed, U capacity, U items, U step,
 *                   D rate, D bits per entry, U n2, and the bits: S S ..., 16 MiB at most
 *         STREAM    a stream of format tamis: S S S ..., and an empty S
 *         neither   a reference to the filter of that id
 *
 * An id is told in this server's own dumps and in the preamble of its AOF, and is taken by a server
 * that loads these beside the store of that number.  In all else a value draws a new one.
 *
 * U is an unsigned number, D a double, S a string, as the server writes them; the server adds a
 * checksum of its own.
 */
#include "persist/rdb.h"

#include <inttypes.h>
#include <signal.h>

#include "home/bind.h"
#include "home/labels.h"
#include "home/promote.h"
#include "keys/make.h"
#include "server/config.h"
#include "server/system.h"
#include "value/drops.h"
#include "value/exact.h"
#include "value/guest.h"
#include "value/head.h"
#include "value/homes.h"
#include "value/outline.h"
#include "value/pieces.h"
#include "value/store.h"

#define VERSION 2u
#define FLAG_ID 1u
#define FLAG_LAYERS 2u
#define FLAG_STREAM 4u
#define FLAG_ATTACHED 8u
#define FLAG_DURABLE 16u
#define FLAG_COUNTS 32u
#define FLAGS_KNOWN 63u
#define ENCODING_MAX 5 /* RedisBloom's newest */

/* What is made, and what is loaded. */
static struct {
    enum saving saving;
    bool of_master;
} dump;

void rdb_saving(enum saving what)
{
    dump.saving = what;
}

void rdb_loading_of_master(bool is)
{
    dump.of_master = is;
}

void save_lacks(RedisModuleIO *io, const char *what, const struct value *value)
{
    char name[TAMIS_ID_NAME_BYTES] = ":in memory";
    const bool of_child = work_is_child();
    if (value->home >= HOME_STORE) tamis_id_name(value->stored->id.bytes, name);
    RedisModule_LogIOError(io, "warning", "the %s lacks the filter of the id %s, and %s: %s", what,
                           strchr(name, ':') + 1,
                           of_child ? "is given up; the one before stays" : "refers to it alone",
                           tamis_last_error());
    /* A module cannot tell the server that it has failed.  The server removes what the child has
     * written, and says that the save has failed. */
    if (of_child) (void)raise(SIGKILL);
}

/* ---- Saving ---------------------------------------------------------------------------------- */

static bool is_own_file(void)
{
    return dump.saving == SAVING_FILE || dump.saving == SAVING_AOF;
}

static void save_begins(RedisModuleIO *rdb, const struct value *value, uint64_t flags)
{
    const bool stored = value->home >= HOME_STORE;
    const bool tells = stored && (is_own_file() || (flags & (FLAG_LAYERS | FLAG_STREAM)) == 0);
    if (tells) flags |= FLAG_ID;
    if (stored && value->stored->attached) flags |= FLAG_ATTACHED;
    if (stored && value->stored->durable) flags |= FLAG_DURABLE;
    if (stored && stored_counts(value->stored)) flags |= FLAG_COUNTS;
    RedisModule_SaveUnsigned(rdb, VERSION);
    RedisModule_SaveUnsigned(rdb, 0);
    RedisModule_SaveUnsigned(rdb, flags);
    RedisModule_SaveUnsigned(rdb, value->expansion);
    if (!tells) return;
    const struct stored *s = value->stored;
    RedisModule_SaveStringBuffer(rdb, (const char *)s->id.bytes, sizeof s->id);
    RedisModule_SaveUnsigned(rdb, s->store_id != 0 ? s->store_id : store_id());
}

static void save_layer_head(RedisModuleIO *rdb, const struct layer *l)
{
    const struct tamis_memory_filter *b = &l->bits;
    const uint64_t numbers[] = {b->m_bits, b->k,        b->words, b->kind, b->hash_set,
                                b->seed,   b->capacity, b->items, b->step};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        RedisModule_SaveUnsigned(rdb, numbers[i]);
    RedisModule_SaveDouble(rdb, b->fp_rate);
    RedisModule_SaveDouble(rdb, l->bits_per_entry);
    RedisModule_SaveUnsigned(rdb, b->reserved); /* n2 */
}

/* Saves the bits from `position` on, which are those of a layer.  Those of the store that cannot be
 * read are zeros. */
static bool save_bits(RedisModuleIO *rdb, const struct value *value, uint64_t position,
                      uint64_t bytes)
{
    bool good = true;
    for (uint64_t at = 0; at < bytes;) {
        const void *piece;
        char *buffer, *none = NULL;
        int64_t got = pieces_read(value, position + at, &piece, &buffer);
        if (got <= 0) {
            good = false;
            got = (int64_t)(bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES);
            piece = none = zeros((uint64_t)got);
        }
        RedisModule_SaveStringBuffer(rdb, piece, (size_t)got);
        RedisModule_Free(buffer);
        RedisModule_Free(none);
        at += (uint64_t)got;
    }
    return good;
}

static void save_layers(RedisModuleIO *rdb, const struct value *value, const struct memory *memory)
{
    uint64_t position = 0;
    bool good = true;
    save_begins(rdb, value, FLAG_LAYERS);
    RedisModule_SaveUnsigned(rdb, memory->exact);
    RedisModule_SaveUnsigned(rdb, memory->refuses);
    RedisModule_SaveUnsigned(rdb, memory->growth);
    RedisModule_SaveUnsigned(rdb, memory->options);
    RedisModule_SaveUnsigned(rdb, memory->capacity);
    RedisModule_SaveDouble(rdb, memory->rate);
    RedisModule_SaveUnsigned(rdb, memory->count);
    for (uint32_t i = 0; i < memory->count; i++) {
        save_layer_head(rdb, &memory->layers[i]);
        good &= save_bits(rdb, value, position, layer_bytes(memory, &memory->layers[i]));
        position += layer_bytes(memory, &memory->layers[i]);
    }
    if (!good) save_lacks(rdb, "dump", value);
}

static int save_piece(void *context, const void *data, size_t bytes)
{
    RedisModule_SaveStringBuffer(context, data, bytes);
    return 0;
}

static void save_stream(RedisModuleIO *rdb, const struct value *value)
{
    const struct tamis_sink sink = {.size = sizeof sink, .write = save_piece, .context = rdb};
    save_begins(rdb, value, FLAG_STREAM);
    if (tamis_filter_export(value->stored->filter, "tamis", TAMIS_EXPORT_WITH_KEY, &sink) < 0)
        save_lacks(rdb, "dump", value);
    RedisModule_SaveStringBuffer(rdb, "", 0);
}

/* Is only a reference to the filter saved?  Of one that counts always: whoever loads commands
 * behind its content would count again. */
static bool refers(const struct stored *stored)
{
    return stored_counts(stored) || (dump.saving == SAVING_FILE && config.rdb == RDB_REFERENCE);
}

static void save_stored(RedisModuleIO *rdb, struct value *value)
{
    struct memory *memory = NULL;
    const bool opened = stored_open(value->stored) == 0;
    if (value->home == HOME_BROKEN) {
        save_begins(rdb, value, 0);
        return;
    }
    if (!opened && !(is_own_file() && config.rdb == RDB_REFERENCE)) save_lacks(rdb, "dump", value);
    if (!opened || refers(value->stored)) {
        save_begins(rdb, value, 0);
        return;
    }
    work_wait(&value->stored->line);
    if (stored_is_plain(value->stored) && outline_make(value, &memory) == 0) {
        if (memory->exact && !is_own_file() && outline_fill(value, memory) == 0)
            rdb_save_layers(rdb, memory);
        else
            save_layers(rdb, value, memory);
        memory_release(memory);
        return;
    }
    save_stream(rdb, value);
}

void rdb_save_value(RedisModuleIO *rdb, void *saved)
{
    struct value *value = saved;
    if (value->home == HOME_VALKEY) {
        guest->save(rdb, value->valkey);
        return;
    }
    if (value->as_valkey) RedisModule_SaveUnsigned(rdb, 0);
    switch (value->home) {
    case HOME_CUCKOO:
        rdb_save_cuckoo(rdb, value->cuckoo);
        break;
    case HOME_MEMORY:
        if (value->exact && !value->as_valkey)
            rdb_save_layers(rdb, value->memory);
        else
            save_layers(rdb, value, value->memory);
        break;
    case HOME_STORE:
        save_stored(rdb, value);
        break;
    default:
        save_begins(rdb, value, 0);
    }
}

/* ---- Loading --------------------------------------------------------------------------------- */

/* What stands before the filter. */
struct said {
    uint64_t flags, expansion, store_id;
    struct id id;
    bool is_told; /* by the AOF, behind which a RESTORE stands */
    struct id told_id;
    const char *key;
    size_t key_bytes;
    int db;
};

static bool load_said(RedisModuleIO *rdb, uint64_t version, struct said *said)
{
    *said = (struct said){.flags = RedisModule_LoadUnsigned(rdb)};
    said->expansion = RedisModule_LoadUnsigned(rdb);
    const RedisModuleString *key = RedisModule_GetKeyNameFromIO(rdb);
    said->key = key != NULL ? RedisModule_StringPtrLen(key, &said->key_bytes) : "";
    said->db = RedisModule_GetDbIdFromIO(rdb);
    if (RedisModule_IsIOError(rdb) || version != VERSION ||
        (said->flags & ~(uint64_t)FLAGS_KNOWN) != 0 || said->expansion > UINT32_MAX)
        return false;
    if ((said->flags & FLAG_ID) == 0) return true;
    size_t bytes = 0;
    char *id = RedisModule_LoadStringBuffer(rdb, &bytes);
    said->store_id = RedisModule_LoadUnsigned(rdb);
    const bool good = id != NULL && bytes == sizeof said->id && !RedisModule_IsIOError(rdb);
    if (good) memcpy(&said->id, id, sizeof said->id);
    RedisModule_Free(id);
    return good;
}

/* Are the data those of this server, so that ids of the store beside it are to be taken?  A store
 * that was restored since the dump has another number, and may lack what the dump has; a dump that
 * has no content needs it all the same. */
static bool is_own_load(const struct said *said)
{
    const int flags = RedisModule_GetContextFlags(NULL);
    return (said->flags & FLAG_ID) != 0 && (flags & REDISMODULE_CTX_FLAGS_LOADING) != 0 &&
           !dump.of_master && store_open() != NULL &&
           (said->store_id == store_id() || (said->flags & (FLAG_LAYERS | FLAG_STREAM)) == 0);
}

static bool load_layer_head(RedisModuleIO *rdb, struct layer *l)
{
    uint64_t n[9];
    for (size_t i = 0; i < 9; i++)
        n[i] = RedisModule_LoadUnsigned(rdb);
    *l = (struct layer){.bits = {.size = sizeof l->bits,
                                 .m_bits = n[0],
                                 .k = (uint32_t)n[1],
                                 .words = (uint32_t)n[2],
                                 .kind = (uint32_t)n[3],
                                 .hash_set = (uint32_t)n[4],
                                 .seed = n[5],
                                 .capacity = n[6],
                                 .items = n[7],
                                 .step = (uint32_t)n[8]}};
    l->bits.fp_rate = RedisModule_LoadDouble(rdb);
    l->bits_per_entry = RedisModule_LoadDouble(rdb);
    l->bits.reserved = (uint8_t)RedisModule_LoadUnsigned(rdb);
    l->bits.data_bytes = (l->bits.m_bits / 64 + (l->bits.m_bits % 64 != 0)) * 8;
    return !RedisModule_IsIOError(rdb) && l->bits.data_bytes <= config_max_bytes() &&
           tamis_memory_filter_check(&l->bits) == 0;
}

/* Reads the bits of a layer, and leaves them in data_bytes bytes of memory.  Nothing is allocated
 * but what is there, in pieces, so that a damaged head does no harm. */
static bool load_bits(RedisModuleIO *rdb, struct layer *l, uint64_t all, bool skips)
{
    uint64_t at = 0;
    while (at < all) {
        size_t bytes = 0;
        char *piece = RedisModule_LoadStringBuffer(rdb, &bytes);
        const bool good = piece != NULL && bytes > 0 && bytes <= all - at;
        if (good && at == 0 && !skips && bytes == l->bits.data_bytes) {
            l->bits.data = piece; /* all of it */
            return true;
        }
        if (good && !skips && l->bits.data == NULL) l->bits.data = zeros(l->bits.data_bytes);
        if (good && !skips && l->bits.data != NULL) memcpy((char *)l->bits.data + at, piece, bytes);
        RedisModule_Free(piece);
        if (!good || (!skips && l->bits.data == NULL)) return false;
        at += bytes;
    }
    return true;
}

/* Loads layers; with `skips` without their bits. */
static struct memory *load_layers(RedisModuleIO *rdb, bool skips)
{
    struct memory *memory = RedisModule_Calloc(1, sizeof *memory);
    memory->references = 1;
    memory->exact = RedisModule_LoadUnsigned(rdb) != 0;
    memory->refuses = RedisModule_LoadUnsigned(rdb) != 0;
    memory->growth = (uint32_t)RedisModule_LoadUnsigned(rdb);
    memory->options = (uint8_t)RedisModule_LoadUnsigned(rdb);
    memory->capacity = RedisModule_LoadUnsigned(rdb);
    memory->rate = RedisModule_LoadDouble(rdb);
    const uint64_t count = RedisModule_LoadUnsigned(rdb);
    bool good = !RedisModule_IsIOError(rdb) && count >= 1 && count <= LAYERS_MAX;
    if (good) memory->layers = RedisModule_Calloc(count, sizeof *memory->layers);
    for (; good && memory->count < count; memory->count += good) {
        struct layer *l = &memory->layers[memory->count];
        good = load_layer_head(rdb, l) && load_bits(rdb, l, layer_bytes(memory, l), skips);
        if (!good) RedisModule_Free(l->bits.data);
    }
    if (good) return memory;
    memory_release(memory);
    return NULL;
}

static bool load_stream(RedisModuleIO *rdb, const struct said *said, struct value *value,
                        bool skips)
{
    struct stream stream = {.durable = (said->flags & FLAG_DURABLE) != 0};
    size_t bytes = 0;
    char *piece;
    while ((piece = RedisModule_LoadStringBuffer(rdb, &bytes)) != NULL && bytes > 0) {
        if (!skips) (void)stream_append(&stream, piece, bytes);
        RedisModule_Free(piece);
    }
    const bool good = piece != NULL;
    RedisModule_Free(piece);
    if (skips) return good;
    if (!good || head_is_too_large(stream.data, stream.bytes)) {
        RedisModule_Free(stream.data);
        return false;
    }
    struct making *making = making_of_stream(&stream);
    if (said->is_told) making->id = said->told_id;
    return make_late(value, said->db, said->key, said->key_bytes, making) == 0;
}

/* Gives the value the filter of its id, if the store has it; it is opened when it is used. */
static bool take_stored(const struct said *said, struct value *value)
{
    if (!is_own_load(said) || config.restore == RESTORE_REPLACE) return false;
    if (!bind_to_store(value, &said->id, said->db, said->key, said->key_bytes)) return false;
    if (value->stored->filter != NULL) return true; /* which tells it: it was detached since */
    value->stored->attached = (said->flags & FLAG_ATTACHED) != 0;
    value->stored->durable = (said->flags & FLAG_DURABLE) != 0;
    return true;
}

/* The same of a RESTORE in the AOF, behind TAMIS.BIND. */
static bool take_told(struct said *said, struct value *value)
{
    said->is_told = bind_take(said->db, said->key, said->key_bytes, &said->told_id);
    return said->is_told &&
           bind_to_store(value, &said->told_id, said->db, said->key, said->key_bytes);
}

static struct value *break_value(const struct said *said, struct value *value)
{
    struct stored *stored = stored_new(value, &said->id, NULL);
    stored->store_id = said->store_id;
    stored->attached = (said->flags & FLAG_ATTACHED) != 0;
    if ((said->flags & FLAG_COUNTS) != 0) stored->kind = TAMIS_KIND_COUNTING;
    value_settle(value, HOME_BROKEN, stored);
    return value;
}

struct value *rdb_load_own(RedisModuleIO *rdb, uint64_t version, bool as_valkey)
{
    struct said said;
    if (!load_said(rdb, version, &said)) {
        RedisModule_LogIOError(rdb, "warning", "the dump is damaged, or of a newer Tamis");
        return NULL;
    }
    struct value *value = value_new(TYPE_BLOOM);
    value->as_valkey = as_valkey;
    value->expansion = (uint32_t)said.expansion;
    const bool found = take_stored(&said, value) || take_told(&said, value);
    bool good = true;
    if ((said.flags & FLAG_LAYERS) != 0) {
        struct memory *memory = load_layers(rdb, found);
        good = memory != NULL;
        if (good) value->exact = memory->exact;
        if (good && found) memory_release(memory);
        if (good && !found) value_settle(value, HOME_MEMORY, memory);
        if (good && !found) promote_if_large(value, said.db, said.key, said.key_bytes);
    } else if ((said.flags & FLAG_STREAM) != 0) {
        good = load_stream(rdb, &said, value, found);
    } else if (!found) {
        return break_value(&said, value);
    }
    if (good) return value;
    RedisModule_LogIOError(rdb, "warning", "the filter of the key '%.*s' cannot be loaded",
                           (int)said.key_bytes, said.key);
    value_free(value);
    return NULL;
}

/* Is the value of an encoding that is read here? */
static bool is_read(RedisModuleIO *rdb, int encver)
{
    if (encver <= ENCODING_MAX) return true;
    RedisModule_LogIOError(rdb, "warning",
                           "the dump is of the module of Tamis 0.x, or of a newer RedisBloom "
                           "(encoding %d), which this module does not read; load it where it was "
                           "made, and bring each key here by BF.SCANDUMP and BF.LOADCHUNK",
                           encver);
    return false;
}

void *rdb_load_bloom(RedisModuleIO *rdb, int encver)
{
    if (!is_read(rdb, encver)) return NULL;
    const uint64_t first = RedisModule_LoadUnsigned(rdb), layers = RedisModule_LoadUnsigned(rdb);
    if (RedisModule_IsIOError(rdb)) return NULL;
    if (layers == 0) return rdb_load_own(rdb, first, false);
    struct value *value = rdb_load_layers(rdb, encver, layers);
    if (value == NULL) return NULL;
    size_t bytes = 0;
    const RedisModuleString *key = RedisModule_GetKeyNameFromIO(rdb);
    const char *name = key != NULL ? RedisModule_StringPtrLen(key, &bytes) : "";
    promote_if_large(value, RedisModule_GetDbIdFromIO(rdb), name, bytes);
    return value;
}

void *rdb_load_cuckoo(RedisModuleIO *rdb, int encver)
{
    return is_read(rdb, encver) ? rdb_load_redisbloom_cuckoo(rdb, encver) : NULL;
}
