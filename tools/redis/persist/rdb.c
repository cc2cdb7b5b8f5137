/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdb.c: values in dumps.
 *
 *     RedisBloom's  of exact filters in memory, and of cuckoo filters
 *     ours          U version, U 0 (RedisBloom has the number of layers there, and refuses 0),
 *                   U flags, U expansion; with FLAG_ID: S id, U id of the store; then
 *         LAYERS    the layers (rdb_layers.c)
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
#include "value/drops.h"
#include "value/exact.h"
#include "value/guest.h"
#include "value/store.h"

#define VERSION 3u
#define FLAG_ID 1u
#define FLAG_LAYERS 2u
#define FLAG_STREAM 4u
#define FLAG_ATTACHED 8u
#define FLAG_DURABLE 16u
#define FLAG_COUNTS 32u
#define FLAG_EXACT 64u /* the layers are */
#define FLAGS_KNOWN 127u
#define ENCODING_MAX 5 /* RedisBloom's newest */

/* What is made, and what is loaded. */
static struct {
    enum saving saving;
    bool lacks; /* a payload lacks a filter */
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
    char name[TAMIS_ID_NAME_BYTES];
    const bool of_child = work_is_child();
    RedisModule_LogIOError(
        io, "warning", "the %s lacks the filter of the id %s, and %s: %s", what,
        value->home >= HOME_STORE ? id_digits(&value->stored->id, name) : "in memory",
        of_child ? "is given up; the one before stays" : "refers to it alone", tamis_last_error());
    dump.lacks = true;
    /* A module cannot tell the server that it has failed.  The server removes what the child has
     * written, and says that the save has failed. */
    if (of_child) (void)raise(SIGKILL);
}

/* ---- Saving ---------------------------------------------------------------------------------- */

static bool is_file(void)
{
    return dump.saving == SAVING_FILE || dump.saving == SAVING_WHOLE;
}

static void save_begins(RedisModuleIO *rdb, const struct value *value, uint64_t flags)
{
    const bool stored = value->home >= HOME_STORE;
    const bool tells = stored && (is_file() || (flags & (FLAG_LAYERS | FLAG_STREAM)) == 0);
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

static void save_layers(RedisModuleIO *rdb, const struct value *value, const struct memory *memory)
{
    const bool redisbloom =
        memory->exact && !value->as_valkey && (value->home == HOME_MEMORY || !is_file());
    if (!redisbloom) save_begins(rdb, value, FLAG_LAYERS | (memory->exact ? FLAG_EXACT : 0));
    if (!rdb_save_layers(rdb, value, memory, redisbloom)) save_lacks(rdb, "dump", value);
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

/* Is only a reference to the filter saved?  Of one that counts always, but by COPY: whoever loads
 * commands behind its content would count again. */
static bool refers(const struct stored *stored)
{
    return (stored_counts(stored) && dump.saving != SAVING_COPY) ||
           (dump.saving == SAVING_FILE && config.rdb == RDB_REFERENCE);
}

static void save_stored(RedisModuleIO *rdb, struct value *value)
{
    struct memory *memory = NULL;
    const bool opened = stored_open(value->stored) == 0;
    if (!opened && value->home == HOME_STORE && !(is_file() && config.rdb == RDB_REFERENCE))
        save_lacks(rdb, "dump", value);
    if (!opened || refers(value->stored)) {
        save_begins(rdb, value, 0);
        return;
    }
    work_wait(&value->stored->line);
    if (!stored_is_plain(value->stored) || pieces_outline(value, &memory) < 0) {
        save_stream(rdb, value);
        return;
    }
    save_layers(rdb, value, memory);
    memory_release(memory);
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
        save_layers(rdb, value, value->memory);
        break;
    case HOME_STORE:
        save_stored(rdb, value);
        break;
    default:
        save_begins(rdb, value, 0);
    }
}

static int encoding_of(const struct value *value)
{
    return value->as_valkey ? RDB_ENCODING_VALKEY : RDB_ENCODING;
}

RedisModuleString *rdb_copy_out(struct value *value)
{
    const RedisModuleType *type = value_type_of(value);
    dump.saving = SAVING_COPY;
    dump.lacks = false;
    RedisModuleString *payload = RedisModule_SaveDataTypeToString(NULL, value, type);
    dump.saving = SAVING_PAYLOAD;
    if (payload == NULL || !dump.lacks) return payload;
    RedisModule_FreeString(NULL, payload);
    return NULL;
}

struct value *rdb_copy_in(const RedisModuleString *payload, const struct value *of)
{
    return RedisModule_LoadDataTypeFromStringEncver(payload, value_type_of(of), encoding_of(of));
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

static struct said where_of(RedisModuleIO *rdb)
{
    struct said said = {.key = "", .db = RedisModule_GetDbIdFromIO(rdb)};
    const RedisModuleString *key = RedisModule_GetKeyNameFromIO(rdb);
    if (key != NULL) said.key = RedisModule_StringPtrLen(key, &said.key_bytes);
    return said;
}

static bool load_said(RedisModuleIO *rdb, uint64_t version, struct said *said)
{
    *said = where_of(rdb);
    said->flags = RedisModule_LoadUnsigned(rdb);
    said->expansion = RedisModule_LoadUnsigned(rdb);
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

/* Loads layers; the value has a filter already, or gets them. */
static bool load_layers(RedisModuleIO *rdb, const struct said *said, struct value *value,
                        bool found)
{
    struct memory *memory = NULL;
    const uint64_t numbers[] = {RedisModule_LoadUnsigned(rdb), RedisModule_LoadUnsigned(rdb)};
    value->exact = (said->flags & FLAG_EXACT) != 0;
    if (!rdb_load_layers(rdb, RDB_ENCODING, value->exact, numbers, found ? NULL : &memory))
        return false;
    if (found) return true;
    value_settle(value, HOME_MEMORY, memory);
    promote_if_large(value, said->db, said->key, said->key_bytes);
    return true;
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
        good = load_layers(rdb, &said, value, found);
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

/* Loads a filter of RedisBloom, when its two first numbers were read. */
static struct value *load_redisbloom(RedisModuleIO *rdb, int encver, const uint64_t numbers[2])
{
    struct memory *memory;
    if (!rdb_load_layers(rdb, encver, true, numbers, &memory)) {
        RedisModule_LogIOError(rdb, "warning",
                               "the dump of a filter of RedisBloom is damaged, or "
                               "of a sort that is not known here");
        return NULL;
    }
    const struct said said = where_of(rdb);
    struct value *value = value_new(TYPE_BLOOM);
    value->as_valkey = false;
    value->exact = true;
    value->expansion = memory->refuses ? 0 : memory->growth;
    value_settle(value, HOME_MEMORY, memory);
    promote_if_large(value, said.db, said.key, said.key_bytes);
    return value;
}

void *rdb_load_bloom(RedisModuleIO *rdb, int encver)
{
    if (!is_read(rdb, encver)) return NULL;
    const uint64_t first = RedisModule_LoadUnsigned(rdb), second = RedisModule_LoadUnsigned(rdb);
    if (RedisModule_IsIOError(rdb)) return NULL;
    return second == 0 ? rdb_load_own(rdb, first, false)
                       : load_redisbloom(rdb, encver, (const uint64_t[]){first, second});
}

void *rdb_load_cuckoo(RedisModuleIO *rdb, int encver)
{
    return is_read(rdb, encver) ? rdb_load_redisbloom_cuckoo(rdb, encver) : NULL;
}
