/* SPDX-License-Identifier: BSD-2-Clause */
/* make.c: see make.h. */
#include "keys/make.h"

#include <string.h>

#include "kept/kept.h"
#include "kept/leftovers.h"
#include "kept/naming.h"
#include "kept/store.h"
#include "registry/registry.h"
#include "value/drafts.h"

static int make_of_spec(void *spec, tamis_store *in, const char *name, tamis_filter **filter)
{
    return tamis_filter_create(in, name, spec, filter);
}

static size_t text_bytes(const char *text)
{
    return text == NULL ? 0 : strlen(text) + 1;
}

/* The copy has the name of the hash set and the key rule behind it. */
static void *keep_spec(const void *context)
{
    const struct tamis_filter_spec *spec = context;
    const size_t name_bytes = text_bytes(spec->hash_set), rule_bytes = text_bytes(spec->key_rule);
    struct tamis_filter_spec *copy = RedisModule_Alloc(sizeof *copy + name_bytes + rule_bytes);
    char *texts = (char *)(copy + 1);
    *copy = *spec;
    if (name_bytes > 0) copy->hash_set = memcpy(texts, spec->hash_set, name_bytes);
    if (rule_bytes > 0) copy->key_rule = memcpy(texts + name_bytes, spec->key_rule, rule_bytes);
    return copy;
}

struct maker maker_of_spec(struct tamis_filter_spec *spec)
{
    return (struct maker){.make = make_of_spec, .context = spec, .keep = keep_spec};
}

/* Makes the filter under that name, or under one apart, which `name` gets then. */
static int make_named(struct value *value, tamis_store *store, char name[NAME_ROOM],
                      const struct maker *maker)
{
    int rc = maker->make(maker->context, store, name, &value->filter);
    if (rc == TAMIS_EEXIST) {
        naming_make_way(name); /* if no filter of ours has it any more, the thread that drops
                                  filters has just dropped it */
        rc = maker->make(maker->context, store, name, &value->filter);
    }
    /* One of ours that cannot give way now, such as a draft that the thread has, or one whose
     * exceptions a thread changes, does so later.  If a filter of others has the name, the key must
     * be loaded all the same. */
    if (rc == TAMIS_EEXIST && (leftovers_are_open() || !making_is_of_others(name))) {
        name_apart(NAME_ASIDE, name);
        rc = maker->make(maker->context, store, name, &value->filter);
    }
    return rc;
}

/* The same while keys are loaded and a leftover has the name, which it keeps. */
static int make_beside(struct value *value, tamis_store *store, char name[NAME_ROOM],
                       const struct maker *maker)
{
    char of_leftover[NAME_ROOM];
    (void)strcpy(of_leftover, name);
    name_apart(NAME_LOADING, name);
    const int rc = maker->make(maker->context, store, name, &value->filter);
    if (rc == 0) leftovers_set_heir(of_leftover, tamis_filter_created_at(value->filter));
    return rc;
}

/* Makes the filter, and leaves its name in the value. */
static int make_now(struct value *value, char name[NAME_ROOM], const struct maker *maker)
{
    naming_hold();
    int rc =
        (leftovers_keep_name(name) ? make_beside : make_named)(value, store_open(), name, maker);
    naming_go_on();
    if (rc < 0) return rc;
    rc = value_describe(value);
    if (rc < 0) {
        (void)registry_drop_filter(name);
        (void)tamis_filter_close(
            value->filter); /* a close before the drop would bring it to the disk */
        value->filter = NULL;
        return rc;
    }
    value_set_name(value, name);
    return 0;
}

static _Thread_local struct make_place *place;

void make_in_place(struct make_place *of)
{
    place = of;
}

/* An error of value_describe() leaves the filter to the caller, as make_now() does not. */
static int make_placed(struct value *value, const struct maker *maker)
{
    int rc = maker->make(maker->context, place->store, place->name, &value->filter);
    if (rc == 0) {
        value_set_name(value, place->name);
        rc = value_describe(value);
    }
    place->rc = rc;
    return rc;
}

int make_filter(struct value *value, int db, const char *key, size_t key_bytes,
                const struct maker *maker)
{
    char name[NAME_ROOM];
    int rc;
    if (place != NULL) return make_placed(value, maker);
    if (store_open() == NULL) return TAMIS_ENOSTORE;
    name_of_key(db, key, key_bytes, name);
    if (making_claim(value, &rc)) {
        if (rc == 0 && strcmp(value->name, name) != 0) naming_moves_orphan(name);
    } else if (making_put_off(value->type, name, maker)) {
        return MAKING_IS_PUT_OFF;
    } else {
        rc = make_now(value, name, maker);
    }
    if (rc == 0) naming_adopt(value, db, key, key_bytes);
    return rc;
}

/* Has nobody a filter of that name, in the store, or as a draft that is made under the name of a
 * key before it was renamed?  False also if it cannot be told.  That a leftover has the name does
 * not count: the draft will be held. */
static bool is_free(tamis_store *store, const char *name)
{
    const bool is_leftover = leftovers_keep_name(name);
    registry_lock();
    const struct value *v = registry_find(name);
    const bool is_named = v != NULL && (v->draft != NULL || is_leftover) && !value_is_gone(v);
    registry_unlock();
    return !is_named && (is_leftover || tamis_filter_exists(store, name) == 0);
}

/* May the filter of a key be a draft?  Then the value has its name, which nobody takes until
 * naming_go_on(). */
static bool begins_draft(struct value *value, int db, const char *key, size_t key_bytes,
                         uint64_t file_bytes, bool is_loaded)
{
    char name[NAME_ROOM];
    drafts_relieve();
    tamis_store *store = drafts_take(file_bytes, is_loaded) ? store_open() : NULL;
    if (store == NULL) return false;
    name_of_key(db, key, key_bytes, name);
    naming_hold();
    const bool free = is_free(store, name);
    if (free)
        value_set_name(value, name);
    else
        naming_go_on();
    return free;
}

static void end_begin(struct value *value, int db, const char *key, size_t key_bytes)
{
    if (leftovers_keep_name(value->name)) {
        leftovers_set_heir(value->name, value->created_at);
        draft_hold(value);
    }
    naming_adopt(value, db, key, key_bytes);
    naming_go_on();
}

bool make_as_draft(struct value *value, int db, const char *key, size_t key_bytes,
                   const struct value *from)
{
    if (!begins_draft(value, db, key, key_bytes, from->known.bytes, false)) return false;
    draft_begin_copy(value, from);
    end_begin(value, db, key, key_bytes);
    return true;
}

int make_by_spec(struct value *value, int db, const char *key, size_t key_bytes,
                 struct tamis_filter_spec *spec, const struct tamis_sizing *sizing)
{
    const struct maker maker = maker_of_spec(spec);
    if (making_context() != NULL ||
        !begins_draft(value, db, key, key_bytes, sizing->file_bytes, false))
        return make_filter(value, db, key, key_bytes, &maker);
    draft_begin(value, spec, sizing);
    end_begin(value, db, key, key_bytes);
    return 0;
}

bool make_exact_draft(struct value *value, int db, const char *key, size_t key_bytes,
                      const struct tamis_filter_spec *spec, const struct tamis_sizing *sizing,
                      const void *framed, size_t bytes)
{
    if (making_context() != NULL || place != NULL ||
        !begins_draft(value, db, key, key_bytes, sizing->file_bytes, false))
        return false;
    draft_begin(value, spec, sizing);
    draft_be_exact(value, framed, bytes);
    end_begin(value, db, key, key_bytes);
    return true;
}

bool make_content_draft(struct value *value, int db, const char *key, size_t key_bytes,
                        const struct draft_stream *stream, int64_t created_at, bool is_loaded)
{
    if (stream->data == NULL) return false;
    if (place != NULL || making_context() != NULL ||
        !begins_draft(value, db, key, key_bytes, stream->bytes, is_loaded)) {
        RedisModule_Free(stream->data);
        return false;
    }
    draft_begin_content(value, stream, created_at);
    end_begin(value, db, key, key_bytes);
    return true;
}

/* A value whose key is gone does not count: another thread is about to free it.  Nor does one of
 * the same key, which is empty now. */
bool stored_is_held(const char *name, int db, const char *key, size_t key_bytes)
{
    registry_lock();
    const struct value *v = registry_find(name);
    const bool goes =
        v != NULL && (v->life == LIFE_LEFT ||
                      (v->life == LIFE_OTHERS && v->db == db && v->key_bytes == key_bytes &&
                       memcmp(v->key, key, key_bytes) == 0));
    registry_unlock();
    return (v != NULL && !goes) || making_has(name);
}

int open_stored(struct value *value, const char *name)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    tamis_store *store = store_open();
    if (store == NULL) return TAMIS_ENOSTORE;
    /* A filter that is about to be dropped is none. */
    if (!kept_give_up_name(name, true)) return TAMIS_EBUSY;
    int rc = tamis_filter_open(store, name, 0, &value->filter);
    if (rc == 0) rc = tamis_filter_stat(value->filter, &stat);
    if (rc == 0 && (stat.flags & TAMIS_FILTER_OWNED) != 0 &&
        tamis_kind_has(stat.kind, TAMIS_KIND_COUNTS))
        value->type = TYPE_CUCKOO;
    if (rc == 0) rc = value_describe(value);
    if (rc < 0) {
        (void)tamis_filter_close(value->filter);
        value->filter = NULL;
        return rc;
    }
    value_set_name(value, name);
    value->life = (stat.flags & TAMIS_FILTER_OWNED) != 0 ? LIFE_FOUND : LIFE_OTHERS;
    return 0;
}

void adopt_stored(struct value *value, int db, const char *key, size_t key_bytes)
{
    if (value_is_ours(value)) leftovers_forget(value->name); /* an orphan is a key's again */
    naming_adopt(value, db, key, key_bytes);
}
