/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keeper.c: see keeper.h.
 *
 * The mutex guards the list, the names of the values in it and the list of what was kept.  It is
 * held while a filter is renamed, as a name and its filter must not part; not while one is dropped
 * that is so large that this takes long.
 */
#include "keeper.h"

#include <pthread.h>
#include <string.h>

#include "busy.h"
#include "config.h"
#include "durable.h"

/* A filter of fewer bytes is dropped at once; a larger one later, by keeper_tidy(). */
#define LARGE_BYTES ((uint64_t)64 << 20)

/* A filter whose key is gone, under its name apart. */
struct kept {
    struct kept *next;
    char name[NAME_ROOM];
    int64_t created_at;
    uint64_t number;      /* so many went before it */
    tamis_filter *filter; /* open: closing it before the drop would bring it to the disk */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct value *values;
static struct kept *kept;
static bool unsettled;
static bool child, dumps;                    /* keeper_hold() */
static uint64_t gone, gone_before, released; /* how many filters went; before the dump that is being
                                                made; before one that is whole */
static tamis_store *store;

/* The values by the hashes of their keys. */
static struct value **table;
static size_t table_size, value_count;

static void lock(void)
{
    (void)pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
    (void)pthread_mutex_unlock(&mutex);
}

tamis_store *keeper_store(void)
{
    if (store != NULL) return store;
    if (tamis_store_open(config.store, TAMIS_CREATE, &store) < 0) return NULL;
    busy_watch(store);
    leftovers_read(store);
    return store;
}

int keeper_drop_filter(const char *name)
{
    const int rc = tamis_filter_drop(store, name);
    if (rc < 0 && rc != TAMIS_ENOTFOUND)
        RedisModule_Log(NULL, "warning", "the filter '%s' stays in the store: %s", name,
                        tamis_last_error());
    return rc;
}

/* ---- The list -------------------------------------------------------------------------------- */

/* FNV-1a: short keys, and nobody gains by collisions but a longer look. */
static uint64_t hash_of(const char *key, size_t bytes)
{
    uint64_t hash = 0xCBF29CE484222325;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)key[i]) * 0x100000001B3;
    return hash ^ hash >> 32;
}

static void table_put(struct value *value)
{
    struct value **place = &table[value->hash & (table_size - 1)];
    value->same = *place;
    *place = value;
}

static void table_enter(struct value *value)
{
    if (value_count++ == table_size) {
        struct value **old = table;
        const size_t old_size = table_size;
        table_size = old_size == 0 ? 64 : 2 * old_size;
        table = RedisModule_Calloc(table_size, sizeof *table);
        for (size_t i = 0; i < old_size; i++)
            for (struct value *v = old[i], *next; v != NULL; v = next) {
                next = v->same;
                table_put(v);
            }
        RedisModule_Free(old);
    }
    value->hash = hash_of(value->key, value->key_bytes);
    table_put(value);
}

static void table_leave(const struct value *value)
{
    struct value **place = &table[value->hash & (table_size - 1)];
    while (*place != value)
        place = &(*place)->same;
    *place = value->same;
    value_count--;
}

bool keeper_is_empty(void)
{
    return __atomic_load_n(&value_count, __ATOMIC_RELAXED) == 0; /* ORDER: a value of one's own
                                                                    thread is seen */
}

bool keeper_has_key(const char *key, size_t key_bytes)
{
    const uint64_t hash = hash_of(key, key_bytes);
    lock();
    const struct value *v = table_size == 0 ? NULL : table[hash & (table_size - 1)];
    while (v != NULL &&
           (v->hash != hash || v->key_bytes != key_bytes || memcmp(v->key, key, key_bytes) != 0))
        v = v->same;
    unlock();
    return v != NULL;
}

static void enter(struct value *value)
{
    table_enter(value);
    value->next = values;
    value->link = &values;
    if (values != NULL) values->link = &value->next;
    values = value;
}

static void leave(struct value *value)
{
    if (value->link == NULL) return;
    table_leave(value);
    *value->link = value->next;
    if (value->next != NULL) value->next->link = value->link;
    value->link = NULL;
}

static struct value *find(const char *name)
{
    struct value *v = values;
    while (v != NULL && strcmp(v->name, name) != 0)
        v = v->next;
    return v;
}

static void set_key(struct value *value, int db, const char *key, size_t key_bytes)
{
    char *copy = RedisModule_Alloc(key_bytes + 1);
    const bool listed = value->link != NULL;
    memcpy(copy, key, key_bytes);
    copy[key_bytes] = '\0';
    if (listed) table_leave(value);
    RedisModule_Free(value->key);
    value->key = copy;
    value->key_bytes = key_bytes;
    value->db = db;
    value->goes = false; /* RENAME and MOVE have unlinked it from the name before */
    if (listed) table_enter(value);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static int rename_filter(struct value *value, const char *name)
{
    const int rc = tamis_filter_rename(store, value->name, name);
    if (rc == 0) (void)strcpy(value->name, name);
    return rc;
}

/* So does a filter whose key is gone. */
static bool kept_makes_way(const char *name)
{
    char apart[NAME_ROOM];
    struct kept *k = kept;
    while (k != NULL && strcmp(k->name, name) != 0)
        k = k->next;
    name_apart(NAME_TRASH, apart);
    if (k == NULL || tamis_filter_rename(store, k->name, apart) < 0) return false;
    (void)strcpy(k->name, apart);
    return true;
}

/* Whoever of ours has the name makes way.  Returns whether somebody has. */
static bool make_way(const char *name)
{
    char apart[NAME_ROOM];
    struct value *owner = find(name);
    if (owner == NULL) return kept_makes_way(name) || leftovers_make_way(store, name);
    if (owner->attached) return false;
    name_apart(NAME_ASIDE, apart);
    if (rename_filter(owner, apart) < 0) return false;
    owner->settled = false;
    unsettled = true;
    return true;
}

/* Gives the filter the name of its key. */
static void settle(struct value *value)
{
    char name[NAME_ROOM];
    name_of_key(value->db, value->key, value->key_bytes, name);
    value->settled = value->attached || strcmp(name, value->name) == 0;
    if (value->settled) return;
    int rc = rename_filter(value, name);
    if (rc == TAMIS_EEXIST && make_way(name)) rc = rename_filter(value, name);
    value->settled = rc == 0;
    if (rc < 0) unsettled = true;
}

/* Drops the filter, and closes it then: a close before the drop would bring it to the disk. */
static void drop(const char *name, tamis_filter *filter)
{
    (void)keeper_drop_filter(name);
    (void)tamis_filter_close(filter);
}

int maker_of_spec(void *spec, tamis_store *in, const char *name, tamis_filter **filter)
{
    return tamis_filter_create(in, name, spec, filter);
}

int keeper_make(struct value *value, int db, const char *key, size_t key_bytes, maker_fn *make,
                void *context)
{
    char name[NAME_ROOM];
    if (keeper_store() == NULL) return TAMIS_ENOSTORE;
    name_of_key(db, key, key_bytes, name);
    int rc = make(context, store, name, &value->filter);
    if (rc == TAMIS_EEXIST) {
        lock();
        (void)make_way(name); /* or who had it was just dropped, by the thread that frees values */
        unlock();
        rc = make(context, store, name, &value->filter);
    }
    if (rc == TAMIS_EEXIST && leftovers_are_open()) {
        name_apart(NAME_ASIDE, name); /* a filter of others has it; the key must be loaded */
        rc = make(context, store, name, &value->filter);
    }
    if (rc < 0) return rc;
    (void)strcpy(value->name, name);
    rc = value_describe(value);
    if (rc < 0) {
        drop(name, value->filter);
        value->filter = NULL;
        return rc;
    }
    keeper_adopt(value, db, key, key_bytes);
    return 0;
}

/*
 * fork() runs the handlers in the reverse order of their registration.  A thread that drops a
 * filter has this mutex first and the library's then, so this handler must come first, too: it is
 * registered when a filter is open, as then the library has registered its own.  (The child has no
 * other thread that could unlock the mutex.)
 */
static void prepare_for_fork(void)
{
    static bool prepared;
    if (!prepared) (void)pthread_atfork(lock, unlock, unlock);
    prepared = true;
}

void keeper_adopt(struct value *value, int db, const char *key, size_t key_bytes)
{
    prepare_for_fork();
    lock();
    set_key(value, db, key, key_bytes);
    enter(value);
    settle(value);
    unlock();
}

void keeper_settle(struct value *value, int db, const char *key, size_t key_bytes)
{
    if (value->filter == NULL) return; /* it is in memory: cf_exact.h */
    lock();
    set_key(value, db, key, key_bytes);
    settle(value);
    unlock();
}

void keeper_replace(struct value *value, const char *name, tamis_filter *filter)
{
    const uint32_t expansion = value->expansion;
    durable_wait(value);
    lock();
    drop(value->name, value->filter);
    value->filter = filter;
    value->from_dump = false;
    (void)strcpy(value->name, name);
    if (value_describe(value) == 0) value->expansion = expansion;
    settle(value);
    unlock();
}

void keeper_swap(int a, int b)
{
    lock();
    for (struct value *v = values; v != NULL; v = v->next)
        if (v->db == a || v->db == b) v->db = v->db == a ? b : a;
    for (struct value *v = values; v != NULL; v = v->next)
        if (v->db == a || v->db == b) settle(v);
    unlock();
}

/* ---- Going ----------------------------------------------------------------------------------- */

/* Puts the filter of a value on the list of those that are kept, under the name that it has. */
static void put_aside(struct value *value)
{
    struct kept *k = RedisModule_Alloc(sizeof *k);
    *k = (struct kept){
        .next = kept, .created_at = value->created_at, .number = gone++, .filter = value->filter};
    (void)strcpy(k->name, value->name);
    value->filter = NULL; /* it is with the kept one now */
    kept = k;
}

/* Keeps the filter under a name apart; if the catalog is busy, under the name that it has.  Returns
 * false if the store has lost it already. */
static bool keep(struct value *value)
{
    char apart[NAME_ROOM];
    name_apart(NAME_TRASH, apart);
    const int rc = rename_filter(value, apart);
    if (rc < 0 && rc != TAMIS_EBUSY) return false;
    put_aside(value);
    return true;
}

/* May a dump that is being made, or one that may yet be loaded, need the filter?  Dumps never refer
 * to filters of kind counting. */
static bool must_stay(const struct value *value)
{
    return child || (dumps && value->kind != TAMIS_KIND_COUNTING);
}

/* Has a local process dropped it?  Another filter may have its name by now. */
static bool is_lost(const struct value *value)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    return tamis_filter_stat(value->filter, &stat) == TAMIS_EDROPPED;
}

/* Drops a filter of ours, or puts it on the list of those that are kept. */
static void drop_or_keep(struct value *value)
{
    if (must_stay(value) || value_size_bytes(value) >= LARGE_BYTES)
        (void)keep(value);
    else if (keeper_drop_filter(value->name) == TAMIS_EBUSY)
        put_aside(value); /* for later */
}

void keeper_drop(struct value *value)
{
    durable_wait(value);
    lock();
    leave(value);
    if (!value->attached && value->filter != NULL && !is_lost(value)) drop_or_keep(value);
    unlock();
    (void)tamis_filter_close(value->filter); /* before a drop, this would bring it to the disk */
    value_free(value);
}

int keeper_leave(struct value *value)
{
    int rc = 0;
    lock();
    if (!value->attached) rc = tamis_filter_set_owned(store, value->name, 0);
    if (rc == 0) value->attached = true;
    unlock();
    return rc;
}

void keeper_goes(struct value *value)
{
    lock();
    value->goes = true;
    unlock();
}

/* Has another key the filter?  A value whose key is gone, or is empty now, is about to be freed by
 * another thread. */
static bool is_held(const char *name, int db, const char *key, size_t key_bytes)
{
    lock();
    const struct value *v = find(name);
    const bool goes = v != NULL && v->attached &&
                      (v->goes || (v->db == db && v->key_bytes == key_bytes &&
                                   memcmp(v->key, key, key_bytes) == 0));
    unlock();
    return v != NULL && !goes;
}

int keeper_attach(struct value *value, int db, const char *key, size_t key_bytes, const char *name)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    if (keeper_store() == NULL) return TAMIS_ENOSTORE;
    if (is_held(name, db, key, key_bytes)) return TAMIS_EBUSY;
    int rc = tamis_filter_open(store, name, 0, &value->filter);
    if (rc == 0) rc = value_describe(value);
    if (rc == 0) rc = tamis_filter_stat(value->filter, &stat);
    if (rc < 0) {
        (void)tamis_filter_close(value->filter);
        value->filter = NULL;
        return rc;
    }
    (void)strcpy(value->name, name);
    /* An orphan is ours again. */
    value->attached = (stat.flags & TAMIS_FILTER_OWNED) == 0;
    if (!value->attached) leftovers_forget(name);
    keeper_adopt(value, db, key, key_bytes);
    return 0;
}

void keeper_hold(bool child_is_active, bool dumps_refer)
{
    lock();
    child = child_is_active;
    dumps = dumps_refer;
    unlock();
}

void keeper_dump_begins(void)
{
    lock();
    gone_before = gone;
    unlock();
}

void keeper_dump_ends(bool well)
{
    lock();
    if (well) released = gone_before;
    unlock();
}

/* Takes one off the list of those that were kept and need not be any more; NULL if there is none.
 */
static struct kept *next_kept(void)
{
    lock();
    struct kept **link = &kept;
    while (*link != NULL && (child || (dumps && (*link)->number >= released)))
        link = &(*link)->next;
    struct kept *k = *link;
    if (k != NULL) *link = k->next;
    unlock();
    return k;
}

/* Drops what was kept.  Returns false if the catalog is busy. */
static bool drop_kept(void)
{
    struct kept *k;
    while ((k = next_kept()) != NULL) {
        if (keeper_drop_filter(k->name) == TAMIS_EBUSY) {
            lock();
            k->next = kept;
            kept = k;
            unlock();
            return false;
        }
        (void)tamis_filter_close(k->filter);
        RedisModule_Free(k);
    }
    return true;
}

void keeper_tidy(void)
{
    if (store != NULL) busy_pass(store);
    if (busy_is_stuck() || !drop_kept()) return;
    lock();
    if (unsettled) {
        unsettled = false;
        for (struct value *v = values; v != NULL; v = v->next)
            if (!v->settled) settle(v);
    }
    unlock();
}

/* Opens the filter of a value that another thread will free.  From now on that one does not drop
 * it. */
static bool open_beside(int64_t created_at, struct value *value)
{
    struct value *v = values;
    while (v != NULL && v->created_at != created_at)
        v = v->next;
    if (v == NULL || tamis_filter_open(store, v->name, 0, &value->filter) < 0) return false;
    (void)strcpy(value->name, v->name);
    value->attached = v->attached;
    v->attached = true;
    return true;
}

bool keeper_take_back(int64_t created_at, bool about_to_go, struct value *value)
{
    lock();
    struct kept **link = &kept;
    while (*link != NULL && (*link)->created_at != created_at)
        link = &(*link)->next;
    struct kept *found = *link;
    if (found != NULL) {
        *link = found->next;
        value->filter = found->filter;
        (void)strcpy(value->name, found->name);
    }
    const bool taken = found != NULL || (about_to_go && open_beside(created_at, value));
    unlock();
    RedisModule_Free(found);
    return taken;
}

struct value *keeper_find(const char *name)
{
    lock();
    struct value *v = find(name);
    unlock();
    return v;
}

struct value *keeper_find_loaded(int64_t origin)
{
    lock();
    struct value *v = values;
    while (v != NULL && (!v->from_dump || v->attached || v->origin != origin))
        v = v->next;
    unlock();
    return v;
}

void keeper_each(void (*fn)(void *context, const struct value *value), void *context)
{
    lock();
    for (const struct value *v = values; v != NULL; v = v->next)
        fn(context, v);
    unlock();
}
