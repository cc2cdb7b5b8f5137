/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdb.c: values in dumps.
 *
 *     ours          U 1, U flags, U created_at, U origin, U expansion, seven U of struct cuckoo;
 *                   with FLAG_REFERENCE: S name, U generation;
 *                   with FLAG_PAYLOAD: a head, and data (rdb_payload.c); times and origin are 0;
 *                   with FLAG_DRAFT: what makes the filter (rdb_draft.c);
 *                   with FLAG_SLOTS: S slots of each sub-filter (exact.h);
 *                   else the filter as a stream of format tamis: S S S ..., and an empty S
 *     RedisBloom's  encoding versions 0 to 5 (encver): U items, U layers, U options, U growth;
 *                   for each layer U capacity, D rate, U hashes, D bits per entry, U bits, U n2,
 *                   S data, U items; in version 5 U seed
 *
 * A filter of RedisBloom becomes one of hash set redisbloom.  rdb_cuckoo.c has its cuckoo filters,
 * and rdb_valkey.c what stands before ours, or in its place, in values of valkey-bloom's type.
 *
 * U is an unsigned number, D a double, S a string, as the server writes them; the server adds a
 * checksum of its own.
 */
#include "persist/rdb.h"

#include <inttypes.h>
#include <string.h>

#include "kept/kept.h"
#include "kept/leftovers.h"
#include "kept/naming.h"
#include "kept/store.h"
#include "keys/make.h"
#include "keys/shape.h"
#include "persist/frames.h"
#include "persist/freeze.h"
#include "persist/load.h"
#include "persist/pull.h"
#include "persist/rdb_parts.h"
#include "registry/registry.h"
#include "server/args.h"
#include "server/config.h"
#include "value/durable.h"
#include "value/handles.h"
#include "value/light.h"

#define VERSION 1u
#define NUMBERS 12u
#define FLAG_REFERENCE 1u
#define FLAG_ATTACHED 2u
#define FLAG_SLOTS 4u
#define FLAG_DURABLE 8u
#define FLAG_PAYLOAD 16u
#define FLAG_DRAFT 32u
#define FLAGS_KNOWN 63u

#define BLOOM_ENCODING_MAX 5
#define FROZEN_PIECE ((size_t)1 << 20)

static bool saving, saving_to_file, loading_aof;

void rdb_saving(bool begins, bool to_file)
{
    saving = begins;
    saving_to_file = to_file;
}

void rdb_loading(bool aof)
{
    loading_aof = aof;
}

/* ---- Saving ---------------------------------------------------------------------------------- */

static int save_piece(void *context, const void *data, size_t bytes)
{
    RedisModule_SaveStringBuffer(context, data, bytes);
    return 0;
}

/* Is only a reference to the filter saved?  Not to one of kind counting: an AOF that is loaded
 * behind the dump would count its keys again. */
static bool refers(const struct value *value)
{
    if (value->slots != NULL) return false;
    return saving_to_file && config.rdb == RDB_REFERENCE && !value_counts(value);
}

/* The filter need not be open.  The generation is for people who read the dump; it is 0 for one
 * that is closed. */
static void save_reference(RedisModuleIO *rdb, const struct value *value)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    char name[NAME_ROOM];
    if (value->filter == NULL || tamis_filter_stat(value->filter, &stat) < 0) stat.generation = 0;
    handles_name(value, name); /* a thread may be about to rename it */
    RedisModule_SaveStringBuffer(rdb, name, strlen(name));
    RedisModule_SaveUnsigned(rdb, stat.generation);
}

/* Saves the copy that the child made before it began to save. */
static void save_frozen(RedisModuleIO *rdb, const char *stream, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += FROZEN_PIECE) {
        const size_t left = bytes - at;
        (void)save_piece(rdb, stream + at, left < FROZEN_PIECE ? left : FROZEN_PIECE);
    }
}

/* Is a dump of use without the content of a filter, which could not be read?  Where the store has
 * it, the key finds it there.  But an AOF takes nothing from the store, a replica has another
 * store, and with an error that passes the next dump will be better. */
static bool does_without(int rc)
{
    return saving_to_file && rc != TAMIS_EDROPPED && rc != TAMIS_EBUSY && rc != TAMIS_ELIMIT &&
           rc != TAMIS_ENOMEM;
}

/* Opens the filter, and saves it. */
static void save_opened(RedisModuleIO *rdb, struct value *value, const struct tamis_sink *sink)
{
    int rc = value_open(value);
    const bool opened = rc == 0 && value->filter != NULL;
    if (opened) rc = handles_export(value, sink);
    if (opened && rc >= 0) return;
    if (does_without(rc))
        RedisModule_LogIOError(rdb, "warning",
                               "the dump has no content of the filter '%s', which cannot be %s, "
                               "and can be loaded only beside a store that has it: %s",
                               value->name, opened ? "read" : "opened", tamis_last_error());
    else
        save_lacks(rdb, "dump", value);
}

static void save_content(RedisModuleIO *rdb, struct value *value)
{
    const struct tamis_sink sink = {.size = sizeof sink, .write = save_piece, .context = rdb};
    size_t bytes = 0;
    const struct draft_stream *loaded = draft_content(value);
    const char *frozen = loaded != NULL ? NULL : freeze_stream(value, &bytes);
    if (loaded != NULL)
        (void)save_piece(rdb, loaded->data, loaded->bytes);
    else if (frozen != NULL)
        save_frozen(rdb, frozen, bytes);
    else if (!light_export(value, &sink))
        save_opened(rdb, value, &sink);
    RedisModule_SaveStringBuffer(rdb, "", 0);
}

static void save_payload_begins(RedisModuleIO *rdb)
{
    for (unsigned i = 0; i < NUMBERS; i++)
        RedisModule_SaveUnsigned(rdb, i == 0 ? VERSION : i == 1 ? FLAG_PAYLOAD : 0);
}

/* The same of a draft of what RedisBloom's dump has brought.  Returns false if it is none. */
static bool save_loaded_payload(RedisModuleIO *rdb, const struct value *v)
{
    const struct draft_stream *loaded = draft_content(v);
    if (loaded == NULL || !loaded->is_redisbloom) return false;
    save_payload_begins(rdb);
    rdb_save_frames(rdb, loaded);
    return true;
}

/* Saves the payload of DUMP for a filter that RedisBloom could have too.  Returns false if the
 * filter is another one, or if no payload of DUMP is being made. */
static bool save_payload(RedisModuleIO *rdb, struct value *v)
{
    unsigned char head[HEAD_ROOM];
    if (saving || !v->exact || v->durable || value_open(v) < 0 || v->filter == NULL) return false;
    const int64_t bytes = head_of_value(v, head);
    if (bytes < 0) return false;
    save_payload_begins(rdb);
    if (!rdb_save_payload(rdb, v, head, (size_t)bytes))
        RedisModule_LogIOError(rdb, "warning", "the payload lacks the filter '%s': %s", v->name,
                               tamis_last_error());
    return true;
}

void rdb_save_value(RedisModuleIO *rdb, void *value)
{
    struct value *v = value;
    const struct cuckoo *c = &v->cuckoo;
    durable_wait(v);
    making_wait_for_told(v);
    rdb_settle_draft(rdb, "dump", v);
    if (rdb_save_valkey(rdb, v) || save_payload(rdb, value)) return; /* which may end a draft */
    if (save_loaded_payload(rdb, v)) return;
    const bool draft = v->draft != NULL && draft_content(v) == NULL;
    const bool reference = v->draft == NULL && refers(v);
    const uint64_t numbers[NUMBERS] = {VERSION,
                                       (reference ? FLAG_REFERENCE : 0) | (draft ? FLAG_DRAFT : 0) |
                                           (value_is_ours(v) ? 0 : FLAG_ATTACHED) |
                                           (v->slots != NULL ? FLAG_SLOTS : 0) |
                                           (v->durable ? FLAG_DURABLE : 0),
                                       (uint64_t)v->created_at,
                                       (uint64_t)v->origin,
                                       v->expansion,
                                       c->buckets,
                                       c->items,
                                       c->deletes,
                                       c->filters,
                                       c->bucket_size,
                                       c->max_iterations,
                                       c->expansion};
    for (size_t i = 0; i < NUMBERS; i++)
        RedisModule_SaveUnsigned(rdb, numbers[i]);
    if (draft)
        rdb_save_draft(rdb, v);
    else if (v->slots != NULL)
        rdb_save_slots(rdb, v);
    else if (reference)
        save_reference(rdb, v);
    else
        save_content(rdb, v);
}

/* ---- Loading our own ------------------------------------------------------------------------- */

/* Why a filter was not loaded. */
static const char *failure_of(int rc)
{
    if (rc == TAMIS_ENOMEM) return "it is larger than tamis.max-bytes";
    if (rc == TAMIS_EINVAL) return "a key of this type cannot have a filter of that kind";
    return tamis_last_error();
}

/* What the dump says before the filter. */
struct said {
    uint64_t flags;
    int64_t created_at, origin;
    uint64_t expansion;
    struct cuckoo cuckoo;
};

static bool load_said(RedisModuleIO *rdb, struct said *said)
{
    uint64_t numbers[NUMBERS];
    for (size_t i = 0; i < NUMBERS; i++) {
        numbers[i] = load_number(rdb);
        if (load_has_failed(rdb)) return false;
    }
    *said = (struct said){.flags = numbers[1],
                          .created_at = (int64_t)numbers[2],
                          .origin = (int64_t)numbers[3],
                          .expansion = numbers[4],
                          .cuckoo = {.buckets = numbers[5],
                                     .items = numbers[6],
                                     .deletes = numbers[7],
                                     .filters = (uint32_t)numbers[8],
                                     .bucket_size = (uint32_t)numbers[9],
                                     .max_iterations = (uint32_t)numbers[10],
                                     .expansion = (uint32_t)numbers[11]}};
    return numbers[0] == VERSION && (said->flags & ~(uint64_t)FLAGS_KNOWN) == 0 &&
           said->expansion <= UINT32_MAX;
}

/* Opens the filter that a dump refers to, if the store had it when the server began, or has kept
 * it. */
static bool find_again(const struct said *said, struct value *value)
{
    return store_open() != NULL &&
           ((leftovers_are_open() && leftovers_take(said->created_at, value)) ||
            kept_take_back(said->created_at, rdb_is_loading(), value) ||
            leftovers_take_others(said->created_at, value));
}

/*
 * Takes the filter that the store had of the key when the server began, if the dump has the same
 * one, made at the same time: it has at least what the dump has.  Another one of its name is left
 * for rejoin_finish(), which looks what that has; but counts cannot be compared.
 *
 * Nothing is taken beside an AOF: commands are still to come, which may have deleted, renamed and
 * restored keys since, and the filter is that of the last of them.
 */
static bool take_stored(const struct said *said, int db, const char *key, size_t key_bytes,
                        struct value *value)
{
    char name[NAME_ROOM];
    if (store_open() == NULL) return false;
    if ((said->flags & FLAG_ATTACHED) != 0) /* a client's RESTORE makes a copy */
        return rdb_is_loading() && leftovers_take_others(said->created_at, value);
    if (!leftovers_are_open() || loading_aof) return false;
    if (leftovers_take(said->created_at, value)) return true;
    name_of_key(db, key, key_bytes, name);
    return value->type == TYPE_CUCKOO && leftovers_take_counts(name, said->origin, value);
}

static int load_reference(RedisModuleIO *rdb, const struct said *said, struct value *value)
{
    size_t bytes;
    char *name = load_string(rdb, &bytes);
    (void)load_number(rdb);
    if (name == NULL || load_has_failed(rdb)) {
        RedisModule_Free(name);
        return TAMIS_EIO;
    }
    const bool found = find_again(said, value);
    if (!found)
        load_complain(rdb,
                      "the dump refers to the filter '%.*s', made at %" PRId64
                      " ns, and the store %s does not have it; give the store that the "
                      "dump was made beside",
                      (int)bytes, name, said->created_at, config.store);
    RedisModule_Free(name);
    return found ? 0 : TAMIS_ENOTFOUND;
}

/* Loads a draft: the store has its filter, or it is made. */
static int load_draft(RedisModuleIO *rdb, const struct said *said, struct value *value,
                      int64_t created_at)
{
    size_t key_bytes;
    const char *key = load_key(rdb, &key_bytes);
    const int db = load_db(rdb);
    /* Later (DEBUG RELOAD, a full sync), a draft of the same time may be about to be made and
     * dropped, by its name and this time. */
    struct dumped_draft draft = {.created_at = leftovers_are_open() ? created_at : 0};
    const struct maker maker = rdb_draft_maker(&draft);
    int rc = rdb_load_draft(rdb, &draft);
    if (rc == 0 && rdb_is_loading() && loading_aof)
        rc = rdb_draft_anew(value, db, key, key_bytes, &draft);
    else if (rc == 0)
        rc = loading_now() == NULL && take_stored(said, db, key, key_bytes, value)
                 ? rdb_add_dumped(value, &draft)
                 : make_filter(value, db, key, key_bytes, &maker);
    rdb_forget_draft(&draft);
    return rc;
}

/* Loads the stream of a filter. */
static int load_stream(RedisModuleIO *rdb, const struct said *said, struct value *value,
                       int64_t created_at)
{
    size_t key_bytes;
    const char *key = load_key(rdb, &key_bytes);
    const int db = load_db(rdb);
    struct pull pull = {
        .rdb = rdb, .durable = (said->flags & FLAG_DURABLE) != 0, .created_at = created_at};
    const struct maker maker = {.make = pull_import, .context = &pull};
    struct draft_stream small = {.data = NULL};
    int rc;
    if (loading_now() == NULL && take_stored(said, db, key, key_bytes, value)) {
        rc = pull_skip(&pull);
    } else {
        const bool is_loaded = rdb_is_loading();
        rc = is_loaded               ? pull_small(&pull, &small)
             : loading_now() == NULL ? pull_all_small(&pull, &small)
                                     : pull_all(&pull);
        if (rc == 0 &&
            !make_content_draft(value, db, key, key_bytes, &small, created_at, is_loaded))
            rc = make_filter(value, db, key, key_bytes, &maker);
    }
    pull_clear(&pull);
    return rc;
}

static int load_content(RedisModuleIO *rdb, const struct said *said, struct value *value)
{
    size_t key_bytes;
    const char *key = load_key(rdb, &key_bytes);
    /* A filter of a dump keeps its time of creation: when the dump is loaded once more, the filter
     * is found by that.  What RESTORE makes is a new filter, also when the RESTORE comes from an
     * AOF. */
    const int64_t created_at = rdb_is_loading() && !loading_aof ? said->created_at : 0;
    int rc;
    if ((said->flags & FLAG_PAYLOAD) != 0)
        rc = rdb_load_payload(rdb, value, load_db(rdb), key, key_bytes);
    else if ((said->flags & FLAG_DRAFT) != 0)
        rc = load_draft(rdb, said, value, created_at);
    else
        rc = load_stream(rdb, said, value, created_at);
    if (rc < 0)
        load_complain(rdb, "the filter of the key '%.*s' cannot be loaded: %s", (int)key_bytes, key,
                      failure_of(rc));
    return rc;
}

/* In a thread: nobody else knows the filter. */
static void *abandon_alone(struct value *value)
{
    if (value->filter != NULL) (void)registry_drop_filter(value->name);
    tamis_filter_release(value->filter);
    value_free(value);
    return NULL;
}

/* Gives up a value that was loaded in part.  A filter that the store had stays there. */
static void *abandon(struct value *value)
{
    if (loading_now() != NULL) return abandon_alone(value);
    if (value->link == NULL) value->life = LIFE_OTHERS;
    if (value->link != NULL || value->filter != NULL)
        kept_release(value);
    else
        value_free(value);
    return NULL;
}

/* The same as value_describe() for a filter that is not open: the dump knows it. */
static int describe_closed(struct value *value, const struct said *said)
{
    value->origin = said->origin;
    return value_counts(value) == (value->type == TYPE_CUCKOO) ? 0 : TAMIS_EINVAL;
}

static void *load_value(RedisModuleIO *rdb, enum type type)
{
    struct said said;
    size_t key_bytes;
    if (!load_said(rdb, &said) || (type == TYPE_CUCKOO && !cuckoo_is_sound(&said.cuckoo))) {
        load_complain(rdb, "the dump is damaged, or of a newer Tamis");
        return NULL;
    }
    struct value *value = value_new(type);
    if ((said.flags & FLAG_SLOTS) != 0) {
        value->cuckoo = said.cuckoo;
        if (type == TYPE_CUCKOO && rdb_load_slots(rdb, value, false)) return value;
        load_complain(rdb, "the dump of a cuckoo filter is damaged");
        return abandon(value);
    }
    if (loading_now() != NULL && (said.flags & FLAG_REFERENCE) != 0) {
        load_complain(rdb, "the payload has only the name of a filter"); /* DUMP gives none such */
        return abandon(value);
    }
    int rc = said.flags & FLAG_REFERENCE ? load_reference(rdb, &said, value)
                                         : load_content(rdb, &said, value);
    const bool is_closed = rc == 0 && value->filter == NULL; /* as leftovers_take() gives it */
    if (rc == 0 && value->link == NULL && loading_now() == NULL) { /* the store had it */
        const char *key = load_key(rdb, &key_bytes);
        rc = is_closed ? describe_closed(value, &said) : value_describe(value);
        if (rc == 0) naming_adopt(value, load_db(rdb), key, key_bytes);
    }
    if (rc < 0) return abandon(value);
    /* A draft in the preamble of an AOF is what its commands would be: its origin is unknown.  Nor
     * does a payload of DUMP, which RESTORE of an AOF has, tell one. */
    const bool is_made = loading_aof && (said.flags & (FLAG_DRAFT | FLAG_PAYLOAD)) != 0;
    if (value->life == LIFE_MADE && !is_made) value->life = LIFE_LOADED;
    value->cuckoo = said.cuckoo;
    const bool is_told = (said.flags & FLAG_PAYLOAD) == 0; /* the head of a payload tells it */
    if (is_told && (!value->exact || value->filter == NULL))
        value->expansion = (uint32_t)said.expansion;
    return value;
}

/* ---- Loading RedisBloom's -------------------------------------------------------------------- */

struct layers {
    unsigned char head[HEAD_ROOM];
    size_t head_bytes;
    uint32_t count;
    char *data[LAYERS_MAX];
    size_t bytes[LAYERS_MAX];
};

static bool load_layer(RedisModuleIO *rdb, int encver, struct layers *layers)
{
    struct bloom_layer layer = {.capacity = load_number(rdb)};
    layer.rate = load_double(rdb);
    layer.hashes = (uint32_t)load_number(rdb);
    layer.bits_per_entry = load_double(rdb);
    if (encver >= 1) {
        layer.bits = load_number(rdb);
        layer.n2 = (uint8_t)load_number(rdb);
    }
    const uint32_t i = layers->count;
    layers->data[i] = load_string(rdb, &layers->bytes[i]);
    layer.items = load_number(rdb);
    if (load_has_failed(rdb) || layers->data[i] == NULL) return false;
    layers->count++;
    layer.bytes = layers->bytes[i];
    if (encver < 1) layer.bits = layer.bytes * 8;
    layers->head_bytes = bloom_head_add(layers->head, layers->head_bytes, &layer);
    return true;
}

static bool load_layers(RedisModuleIO *rdb, int encver, struct layers *layers)
{
    (void)load_number(rdb); /* items: the sum of the layers' */
    const uint64_t count = load_number(rdb);
    const uint64_t options = encver >= 2 ? load_number(rdb) : 0;
    const uint64_t growth = encver >= 4 ? load_number(rdb) : 2;
    if (load_has_failed(rdb) || count == 0) return false;
    if (count > LAYERS_MAX) {
        load_complain(rdb,
                      "the filter has %" PRIu64 " layers, and here one has at most %u; "
                      "make it anew there for more keys",
                      count, LAYERS_MAX);
        return false;
    }
    layers->head_bytes = bloom_head_begin((uint32_t)options, (uint32_t)growth, layers->head);
    for (uint64_t i = 0; i < count; i++)
        if (!load_layer(rdb, encver, layers)) return false;
    return rdb_load_seed(rdb, encver, BLOOM_SEED);
}

static int fill_layers(struct value *value, const struct layers *layers)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < layers->count; i++)
        rc = tamis_filter_write_data(value->filter, i, 0, layers->data[i], layers->bytes[i]);
    return rc;
}

static void *load_redisbloom(RedisModuleIO *rdb, int encver)
{
    size_t key_bytes;
    const char *key = load_key(rdb, &key_bytes);
    struct layers *layers = RedisModule_Calloc(1, sizeof *layers);
    struct value *value = value_new(TYPE_BLOOM);
    int rc = load_layers(rdb, encver, layers) ? 0 : TAMIS_ECORRUPT;
    if (rc == 0 && !(layers->count == 1 &&
                     rdb_begin_layer(value, load_db(rdb), key, key_bytes, layers->head,
                                     layers->head_bytes, layers->data[0], layers->bytes[0]))) {
        rc = make_from_head(value, load_db(rdb), key, key_bytes, layers->head, layers->head_bytes);
        if (rc == 0) rc = fill_layers(value, layers);
        if (rc < 0)
            load_complain(rdb, "the filter of RedisBloom under the key '%.*s': %s", (int)key_bytes,
                          key, tamis_last_error());
    }
    for (uint32_t i = 0; i < LAYERS_MAX;
         i++) /* layers->count may be one too low, if the dump ended within a layer */
        RedisModule_Free(layers->data[i]);
    RedisModule_Free(layers);
    return rc < 0 ? abandon(value) : value;
}

/* The type of a key that a dump brings is that of the dump, whatever tamis.like says. */
static struct value *as_type(struct value *value, bool as_valkey)
{
    if (value != NULL) value->as_valkey = as_valkey;
    return value;
}

void *rdb_load_bloom(RedisModuleIO *rdb, int encver)
{
    return as_type(encver <= BLOOM_ENCODING_MAX ? load_redisbloom(rdb, encver)
                                                : load_value(rdb, TYPE_BLOOM),
                   false);
}

void *rdb_load_valkey(RedisModuleIO *rdb, int encver)
{
    struct value *value;
    return rdb_begins_own(rdb, encver, &value) ? as_type(load_value(rdb, TYPE_BLOOM), true) : value;
}

void *rdb_load_cuckoo(RedisModuleIO *rdb, int encver)
{
    return encver <= BLOOM_ENCODING_MAX ? rdb_load_redisbloom_cuckoo(rdb, encver)
                                        : load_value(rdb, TYPE_CUCKOO);
}
