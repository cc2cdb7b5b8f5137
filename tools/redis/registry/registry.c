/* SPDX-License-Identifier: BSD-2-Clause */
/* registry.c: see registry.h. */
#include "registry/registry.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "server/busy.h"
#include "server/config.h"
#include "value/drafts.h"
#include "value/handles.h"
#include "value/light.h"

/* So long others have the mutex that wait for it. */
#define PAUSE_NS 50000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
static struct value *values;
static tamis_store *store;
static unsigned waiting; /* atomic: how many wait for the mutex */

void registry_lock(void)
{
    if (pthread_mutex_trylock(&mutex) == 0) return;
    (void)__atomic_fetch_add(&waiting, 1, __ATOMIC_RELAXED); /* ORDER relaxed: it is a hint */
    (void)pthread_mutex_lock(&mutex);
    (void)__atomic_fetch_sub(&waiting, 1, __ATOMIC_RELAXED);
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

/* A mutex that is given back and taken again at once goes to the same thread again. */
void registry_let_others(void)
{
    if (__atomic_load_n(&waiting, __ATOMIC_RELAXED) == 0) return;
    registry_unlock();
    (void)nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    registry_lock();
}

/* ---- The tables ------------------------------------------------------------------------------ */

static struct table keys, names, times;
static uint64_t others; /* values in them whose filter is not ours */
/* Atomic: of the values in `keys`, those whose keys are gone; and of these, those whose filter is
 * not ours. */
static uint64_t leaving, leaving_others;
/* Of names and times, beside the registry's mutex: drafts.c changes both without that one, as who
 * has several mutexes has the registry's first.  Whoever has this one takes that of handles.c only.
 */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static void lock_names(void)
{
    (void)pthread_mutex_lock(&changing);
}

static void unlock_names(void)
{
    (void)pthread_mutex_unlock(&changing);
}

static void put_name(struct value *value)
{
    if (value_is_stored(value))
        table_put(&names, &value->by_name, hash_of_bytes(value->name, strlen(value->name)));
}

static void take_name(const struct value *value)
{
    if (value_is_stored(value)) table_take(&names, &value->by_name);
}

static void put_time(struct value *value)
{
    table_put(&times, &value->by_time, hash_of_time(value->created_at));
}

static void put_key(struct value *value)
{
    table_put(&keys, &value->by_key, hash_of_bytes(value->key, value->key_bytes));
}

/* Those of names and of times. */
static void enter_tables(struct value *value)
{
    lock_names();
    put_name(value);
    put_time(value);
    value->in_tables = true;
    unlock_names();
}

static void leave_tables(struct value *value)
{
    lock_names();
    take_name(value);
    table_take(&times, &value->by_time);
    value->in_tables = false;
    unlock_names();
}

bool registry_is_empty(void)
{
    return __atomic_load_n(&keys.count, __ATOMIC_RELAXED) ==
           0; /* ORDER relaxed: a thread sees the values that it has entered */
}

bool registry_has_key(const char *key, size_t key_bytes)
{
    bool has = false;
    registry_lock();
    const struct node *node = table_find(&keys, hash_of_bytes(key, key_bytes));
    for (; node != NULL && !has; node = table_find_next(node)) {
        const struct value *v = NODE_OF(struct value, by_key, node);
        has = v->key_bytes == key_bytes && memcmp(v->key, key, key_bytes) == 0 && !value_is_gone(v);
    }
    registry_unlock();
    return has;
}

/* The next value whose filter has the name, behind `after` or, if that is NULL, the first. */
static struct value *next_named_locked(const char *name, const struct value *after)
{
    const struct node *node = after != NULL ? table_find_next(&after->by_name)
                                            : table_find(&names, hash_of_bytes(name, strlen(name)));
    for (; node != NULL; node = table_find_next(node)) {
        struct value *v = NODE_OF(struct value, by_name, node);
        if (strcmp(v->name, name) == 0) return v;
    }
    return NULL;
}

static struct value *next_named(const char *name, const struct value *after)
{
    lock_names();
    struct value *found = next_named_locked(name, after);
    unlock_names();
    return found;
}

/* The same for the time of its creation. */
static struct value *next_created_locked(int64_t created_at, const struct value *after)
{
    const struct node *node = after != NULL ? table_find_next(&after->by_time)
                                            : table_find(&times, hash_of_time(created_at));
    for (; node != NULL; node = table_find_next(node)) {
        struct value *v = NODE_OF(struct value, by_time, node);
        if (v->created_at == created_at) return v;
    }
    return NULL;
}

static struct value *next_created(int64_t created_at, const struct value *after)
{
    lock_names();
    struct value *found = next_created_locked(created_at, after);
    unlock_names();
    return found;
}

struct value *registry_find_next(const char *name, const struct value *after)
{
    struct value *v = next_named(name, after);
    while (v != NULL && value_is_over(v))
        v = next_named(name, v);
    return v;
}

struct value *registry_find(const char *name)
{
    return registry_find_next(name, NULL);
}

struct value *registry_find_time(int64_t created_at)
{
    struct value *v = next_created(created_at, NULL);
    while (v != NULL && value_is_over(v))
        v = next_created(created_at, v);
    return v;
}

struct value *registry_find_kept(const char *name, const struct value *after)
{
    struct value *v = next_named(name, after);
    while (v != NULL && !value_is_gone(v))
        v = next_named(name, v);
    return v;
}

struct value *registry_find_kept_time(int64_t created_at, const struct value *after)
{
    struct value *v = next_created(created_at, after);
    while (v != NULL && !value_is_gone(v))
        v = next_created(created_at, v);
    return v;
}

void registry_set_name(struct value *value, const char *name)
{
    lock_names();
    if (value->in_tables) take_name(value);
    handles_rename(value, name);
    if (value->in_tables) put_name(value);
    unlock_names();
}

/* A draft is in the store now, created at a time that it has perhaps only now. */
static void set_made(struct value *value, bool opens)
{
    lock_names();
    if (value->in_tables) {
        table_take(&times, &value->by_time);
        put_time(value);
    }
    unlock_names();
    handles_made(value, opens);
}

/* ---- The store ------------------------------------------------------------------------------- */

int registry_open(void)
{
    if (store != NULL) return 0;
    const int rc = tamis_store_open(config.store, TAMIS_CREATE, &store);
    if (rc < 0) return rc;
    busy_watch(store);
    handles_set_store(store);
    light_set_store(store);
    drafts_set_store(store, set_made, registry_set_name);
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
    if (rc == 0) registry_set_name(value, name);
    return rc;
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
    put_key(value);
    enter_tables(value);
    others += !value_is_ours(value);
    value->next = values;
    value->link = &values;
    if (values != NULL) values->link = &value->next;
    values = value;
    if (value->draft == NULL) handles_enter(value);
}

/* ORDER relaxed: they are told to people. */
static void count_leaving(const struct value *value, int change)
{
    (void)__atomic_fetch_add(&leaving, (uint64_t)(int64_t)change, __ATOMIC_RELAXED);
    if (!value_is_ours(value))
        (void)__atomic_fetch_add(&leaving_others, (uint64_t)(int64_t)change, __ATOMIC_RELAXED);
}

void registry_goes(struct value *value, struct kept *kept)
{
    if (value->in_tables) count_leaving(value, 1); /* it is in the list, too */
    __atomic_store_n(&value->kept, kept, __ATOMIC_RELEASE);
}

/* Takes a value off the list and the table of keys, and its handle off those that may be closed. */
static void take_off(struct value *value)
{
    handles_leave(value);
    if (value->link == NULL) return;
    if (value_is_gone(value)) count_leaving(value, -1);
    table_take(&keys, &value->by_key);
    others -= !value_is_ours(value);
    *value->link = value->next;
    if (value->next != NULL) value->next->link = value->link;
    value->link = NULL;
}

void registry_leave(struct value *value)
{
    take_off(value);
    __atomic_store_n(&value->kept, NULL, __ATOMIC_RELEASE);
    if (value->in_tables) leave_tables(value);
}

void registry_keep(struct value *value, struct kept *kept)
{
    take_off(value);
    if (!value->in_tables) enter_tables(value);
    __atomic_store_n(&value->kept, kept, __ATOMIC_RELEASE);
}

void registry_set_key(struct value *value, int db, const char *key, size_t key_bytes)
{
    const bool listed = value->link != NULL;
    if (listed) table_take(&keys, &value->by_key);
    value_set_key(value, key, key_bytes);
    value->db = db;
    /* RENAME and MOVE have unlinked it from the name before. */
    if (value->life == LIFE_LEFT) value->life = LIFE_OTHERS;
    if (listed) put_key(value);
}

void registry_set_life(struct value *value, enum life life)
{
    const bool listed = value->link != NULL;
    if (listed) others -= !value_is_ours(value);
    value->life = life;
    if (listed) others += !value_is_ours(value);
}

uint64_t registry_count(uint64_t *attached)
{
    registry_lock();
    const uint64_t count = keys.count - __atomic_load_n(&leaving, __ATOMIC_RELAXED);
    *attached = others - __atomic_load_n(&leaving_others, __ATOMIC_RELAXED);
    registry_unlock();
    return count;
}

struct value *registry_first(void)
{
    return values;
}

struct value *registry_find_loaded(int64_t origin)
{
    registry_lock();
    struct value *v = values;
    while (v != NULL && (v->life != LIFE_LOADED || v->origin != origin || value_is_over(v)))
        v = v->next;
    registry_unlock();
    return v;
}

void registry_each(void (*fn)(void *context, struct value *value), void *context)
{
    registry_lock();
    for (struct value *v = values; v != NULL; v = v->next)
        if (!value_is_over(v)) fn(context, v);
    registry_unlock();
}

void registry_give_away(struct value *value)
{
    registry_lock();
    registry_set_life(value, LIFE_OTHERS);
    registry_unlock();
}

void registry_key_is_gone(struct value *value)
{
    if (value->life != LIFE_OTHERS) return; /* only the main thread, which this is, changes it */
    registry_lock();
    value->life = LIFE_LEFT;
    registry_unlock();
}
