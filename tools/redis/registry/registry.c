/* SPDX-License-Identifier: BSD-2-Clause */
/* registry.c: see registry.h. */
#include "registry/registry.h"

#include <pthread.h>
#include <string.h>

#include "server/busy.h"
#include "server/config.h"
#include "value/drafts.h"
#include "value/handles.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
static struct value *values;
static tamis_store *store;

/* The values by the hashes of their keys. */
static struct value **table;
static size_t table_size, value_count;

void registry_lock(void)
{
    (void)pthread_mutex_lock(&mutex);
}

void registry_unlock(void)
{
    (void)pthread_mutex_unlock(&mutex);
}

void registry_wait(void)
{
    (void)pthread_cond_wait(&told, &mutex);
}

void registry_tell(void)
{
    (void)pthread_cond_broadcast(&told);
}

/* ---- The store ------------------------------------------------------------------------------- */

int registry_open(void)
{
    if (store != NULL) return 0;
    const int rc = tamis_store_open(config.store, TAMIS_CREATE, &store);
    if (rc < 0) return rc;
    busy_watch(store);
    handles_set_store(store);
    drafts_set_store(store, handles_open_made);
    return 1;
}

tamis_store *registry_store(void)
{
    return store;
}

int registry_drop_filter(const char *name)
{
    const int rc = tamis_filter_drop(store, name);
    if (rc < 0 && rc != TAMIS_ENOTFOUND)
        RedisModule_Log(NULL, "warning", "the filter '%s' stays in the store: %s", name,
                        tamis_last_error());
    return rc;
}

int registry_rename(struct value *value, const char *name)
{
    const int rc = tamis_filter_rename(store, value->name, name);
    if (rc == 0) (void)strcpy(value->name, name);
    return rc;
}

/* ---- The table of keys ----------------------------------------------------------------------- */

/* FNV-1a.  Keys are short, and who makes keys collide gets a slower look-up and nothing else. */
static uint64_t hash_of_key(const char *key, size_t bytes)
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
    value->hash = hash_of_key(value->key, value->key_bytes);
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

bool registry_is_empty(void)
{
    return __atomic_load_n(&value_count, __ATOMIC_RELAXED) ==
           0; /* ORDER relaxed: a thread sees the values that it has entered */
}

bool registry_has_key(const char *key, size_t key_bytes)
{
    const uint64_t hash = hash_of_key(key, key_bytes);
    registry_lock();
    const struct value *v = table_size == 0 ? NULL : table[hash & (table_size - 1)];
    while (v != NULL &&
           (v->hash != hash || v->key_bytes != key_bytes || memcmp(v->key, key, key_bytes) != 0))
        v = v->same;
    registry_unlock();
    return v != NULL;
}

/* ---- The list -------------------------------------------------------------------------------- */

static void (*fork_begins)(void), (*child_begins)(void);

void registry_at_fork(void (*before)(void), void (*in_child)(void))
{
    fork_begins = before;
    child_begins = in_child;
}

static void before_fork(void)
{
    registry_lock();
    if (fork_begins != NULL) fork_begins();
}

static void after_fork_in_child(void)
{
    registry_unlock();
    if (child_begins != NULL) child_begins();
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
    if (!prepared) {
        handles_prepare_for_fork(); /* whoever has several mutexes has the registry's first */
        drafts_prepare_for_fork();
        (void)pthread_atfork(before_fork, registry_unlock, after_fork_in_child);
        drafts_enter_before_fork();
    }
    prepared = true;
}

void registry_enter(struct value *value)
{
    prepare_for_fork();
    table_enter(value);
    value->next = values;
    value->link = &values;
    if (values != NULL) values->link = &value->next;
    values = value;
    if (value->draft == NULL) handles_enter(value);
}

void registry_leave(struct value *value)
{
    handles_leave(value);
    if (value->link == NULL) return;
    table_leave(value);
    *value->link = value->next;
    if (value->next != NULL) value->next->link = value->link;
    value->link = NULL;
}

void registry_set_key(struct value *value, int db, const char *key, size_t key_bytes)
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
    /* RENAME and MOVE have unlinked it from the name before. */
    if (value->life == LIFE_LEFT) value->life = LIFE_OTHERS;
    if (listed) table_enter(value);
}

struct value *registry_first(void)
{
    return values;
}

struct value *registry_find(const char *name)
{
    struct value *v = values;
    while (v != NULL && strcmp(v->name, name) != 0)
        v = v->next;
    return v;
}

struct value *registry_find_loaded(int64_t origin)
{
    registry_lock();
    struct value *v = values;
    while (v != NULL && (v->life != LIFE_LOADED || v->origin != origin))
        v = v->next;
    registry_unlock();
    return v;
}

void registry_each(void (*fn)(void *context, struct value *value), void *context)
{
    registry_lock();
    for (struct value *v = values; v != NULL; v = v->next)
        fn(context, v);
    registry_unlock();
}

int registry_give_away(struct value *value)
{
    int rc = 0;
    registry_lock();
    if (value_is_ours(value)) rc = tamis_filter_set_owned(store, value->name, 0);
    if (rc == 0) value->life = LIFE_OTHERS;
    registry_unlock();
    return rc;
}

void registry_key_is_gone(struct value *value)
{
    registry_lock();
    if (value->life == LIFE_OTHERS) value->life = LIFE_LEFT;
    registry_unlock();
}
