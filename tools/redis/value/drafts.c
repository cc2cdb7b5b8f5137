/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drafts.c: see drafts.h.
 *
 * The mutex guards the list.  The main thread holds it while drafts come into the store, so a value
 * that is freed meanwhile has either a draft or a filter.
 */
#include "value/drafts.h"

#include <pthread.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>

#include "server/config.h"

/* What a draft may be.  A larger filter is made at once: its client is to know whether there is
 * room for it. */
#define FILE_BYTES_MAX ((uint64_t)64 << 10)
#define KEYS_MAX 128u
#define KEY_BYTES_MAX ((size_t)16 << 10)
/* With less room on the disk than the drafts of one call and some more might need, filters are made
 * at once. */
#define ROOM_BYTES (2 * TAMIS_FILLED_MAX * FILE_BYTES_MAX)

/* If no more come into the store together, they are opened: whoever makes few filters is about to
 * use them, and a filter that is open needs no lock of the store. */
#define OPENED_MAX 16u

struct draft {
    struct draft *next, **link; /* in the list of drafts */
    struct value *value;
    struct tamis_filter_spec spec;
    struct tamis_key *keys; /* each allocated */
    size_t key_count, key_room, key_bytes, key_most;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct draft *first, **last = &first;
static unsigned draft_count; /* atomic: changed with the mutex, read without it */
static pthread_t main_thread;
static bool allowed, prepared, asleep, stuck;
static bool has_room; /* the disk, when it was last looked at in this turn */
static tamis_store *store;
static made_fn *made_value;
static named_fn *name_value;

void drafts_set_store(tamis_store *of, made_fn *made, named_fn *named)
{
    store = of;
    made_value = made;
    name_value = named;
}

void drafts_allow(void)
{
    main_thread = pthread_self();
    allowed = true;
}

/* ---- The list -------------------------------------------------------------------------------- */

static void lock(void)
{
    (void)pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
    (void)pthread_mutex_unlock(&mutex);
}

/* ORDER relaxed: the main thread adds drafts, and another one takes off those that nobody wants. */
static unsigned count_drafts(void)
{
    return __atomic_load_n(&draft_count, __ATOMIC_RELAXED);
}

static void append(struct draft *draft)
{
    draft->next = NULL;
    draft->link = last;
    *last = draft;
    last = &draft->next;
    __atomic_store_n(&draft_count, draft_count + 1, __ATOMIC_RELAXED);
}

/* Takes it off the list, and frees it: its value has a filter now, or goes. */
static void end_draft(struct draft *draft)
{
    *draft->link = draft->next;
    if (draft->next != NULL)
        draft->next->link = draft->link;
    else
        last = draft->link;
    __atomic_store_n(&draft_count, draft_count - 1, __ATOMIC_RELAXED);
    draft->value->draft = NULL;
    for (size_t i = 0; i < draft->key_count; i++)
        RedisModule_Free((void *)(uintptr_t)draft->keys[i].data);
    RedisModule_Free(draft->keys);
    RedisModule_Free(draft);
}

bool draft_forget(struct value *value)
{
    if (!value_is_stored(value)) return false;
    lock();
    struct draft *draft = value->draft;
    if (draft != NULL) end_draft(draft);
    unlock();
    return draft != NULL;
}

/* ---- fork() ---------------------------------------------------------------------------------- */

void drafts_prepare_for_fork(void)
{
    (void)pthread_atfork(lock, unlock, unlock);
    prepared = true;
}

/* Another thread that starts a program has no need of the drafts. */
static void enter_before_fork(void)
{
    if (allowed && pthread_equal(pthread_self(), main_thread) != 0) (void)drafts_enter();
}

void drafts_enter_before_fork(void)
{
    (void)pthread_atfork(enter_before_fork, NULL, NULL);
}

/* ---- A draft --------------------------------------------------------------------------------- */

static int64_t next_instant(void)
{
    static int64_t told; /* no two filters have the same one: dumps find them by it */
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const int64_t ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    told = ns > told ? ns : told + 1;
    return told;
}

/* How many come into the store by one call: each takes a descriptor meanwhile. */
static unsigned batch_size(void)
{
    const long long half = config.max_open / 2;
    return half < 1 ? 1 : half < (long long)TAMIS_FILLED_MAX ? (unsigned)half : TAMIS_FILLED_MAX;
}

/* The first filter of a server is none: the handlers of fork() are registered when it is open,
 * after those of the library. */
bool drafts_take(uint64_t file_bytes)
{
    struct statvfs disk;
    if (!allowed || !prepared || asleep || stuck || file_bytes > FILE_BYTES_MAX) return false;
    if (count_drafts() >= batch_size() && drafts_enter() < 0) return false;
    if (count_drafts() == 0)
        has_room = statvfs(config.store, &disk) == 0 &&
                   (uint64_t)disk.f_bavail * disk.f_frsize >= ROOM_BYTES;
    return has_room;
}

void draft_begin(struct value *value, const struct tamis_filter_spec *spec,
                 const struct tamis_sizing *sizing)
{
    struct draft *draft = RedisModule_Calloc(1, sizeof *draft);
    draft->value = value;
    draft->spec = *spec;
    draft->key_most = spec->capacity < KEYS_MAX ? (size_t)spec->capacity : KEYS_MAX;
    value->draft = draft;
    value->created_at = value->origin = next_instant();
    value->kind = spec->kind;
    value->known = (struct known){
        .segments = 1, .bytes = sizing->file_bytes, .size_bytes = 32 + 64 + sizing->data_bytes};
    lock();
    append(draft);
    unlock();
}

bool draft_has_room(const struct value *value, size_t keys)
{
    const struct draft *draft = value->draft;
    return draft != NULL && keys <= draft->key_most - draft->key_count &&
           draft->key_bytes <= KEY_BYTES_MAX;
}

bool draft_contains(const struct value *value, const void *key, size_t bytes)
{
    const struct draft *draft = value->draft;
    for (size_t i = 0; i < draft->key_count; i++)
        if (draft->keys[i].bytes == bytes && memcmp(draft->keys[i].data, key, bytes) == 0)
            return true;
    return false;
}

int draft_add(struct value *value, const void *key, size_t bytes)
{
    struct draft *draft = value->draft;
    if (draft_contains(value, key, bytes)) return 0;
    if (draft->key_count == draft->key_room) {
        draft->key_room = draft->key_room == 0 ? 1 : 2 * draft->key_room;
        draft->keys = RedisModule_Realloc(draft->keys, draft->key_room * sizeof *draft->keys);
    }
    char *copy = RedisModule_Alloc(bytes + 1);
    memcpy(copy, key, bytes);
    draft->keys[draft->key_count++] = (struct tamis_key){copy, bytes};
    draft->key_bytes += bytes;
    value->known.items++;
    return 1;
}

/* ---- Into the store -------------------------------------------------------------------------- */

static struct tamis_filled filled_of(const struct draft *draft)
{
    return (struct tamis_filled){.name = draft->value->name,
                                 .spec = &draft->spec,
                                 .keys = draft->keys,
                                 .key_count = draft->key_count,
                                 .created_at = draft->value->created_at};
}

/* Makes one filter.  If another process has just made one of that name, the key keeps its own,
 * under a name apart. */
static int enter_one(const struct draft *draft)
{
    struct tamis_filled filled = filled_of(draft);
    const int rc = tamis_filter_create_filled(store, &filled, 1);
    if (rc != TAMIS_EEXIST) return rc;
    char apart[NAME_ROOM];
    name_apart(NAME_ASIDE, apart);
    name_value(draft->value, apart);
    filled.name = draft->value->name;
    return tamis_filter_create_filled(store, &filled, 1);
}

static struct tamis_filled filled[TAMIS_FILLED_MAX];

static unsigned take_some(unsigned most)
{
    unsigned count = 0;
    for (const struct draft *draft = first; draft != NULL && count < most; draft = draft->next)
        filled[count++] = filled_of(draft);
    return count;
}

/* Makes the filters of the first ones of the list.  What is wrong with one must not keep the
 * others. */
static int enter_some(unsigned most, bool opens)
{
    const unsigned count = take_some(most);
    const int together = tamis_filter_create_filled(store, filled, count);
    if (together == TAMIS_EBUSY) return together; /* it would be for each of them */
    struct draft *draft = first;
    int rc = 0;
    for (unsigned i = 0; i < count; i++) {
        struct draft *next = draft->next;
        struct value *value = draft->value;
        const int one = together < 0 ? enter_one(draft) : 0;
        if (one == 0) end_draft(draft);
        if (one == 0) made_value(value, opens);
        if (one < 0) rc = one;
        draft = next;
    }
    return rc;
}

/* Makes the filter of the only draft and adds its keys, which takes less than a batch of one; it
 * stays open. */
static int enter_alone(struct draft *draft)
{
    struct value *value = draft->value;
    const uint32_t expansion = value->expansion;
    int rc = tamis_filter_create(store, value->name, &draft->spec, &value->filter);
    if (rc == TAMIS_EEXIST) {
        char apart[NAME_ROOM];
        name_apart(NAME_ASIDE, apart);
        name_value(value, apart);
        rc = tamis_filter_create(store, value->name, &draft->spec, &value->filter);
    }
    if (rc < 0) return rc;
    (void)value_describe(value); /* it was made now, and as the spec says */
    value->expansion = expansion;
    for (size_t i = 0; rc >= 0 && i < draft->key_count; i++)
        rc = tamis_filter_add(value->filter, draft->keys[i].data, draft->keys[i].bytes);
    if (rc < 0)
        RedisModule_Log(NULL, "warning", "the filter '%s' lacks items: %s", value->name,
                        tamis_last_error());
    end_draft(draft);
    made_value(value, true);
    return 0;
}

int drafts_enter(void)
{
    int rc = 0;
    if (count_drafts() == 0) return 0;
    lock();
    const bool opens = draft_count <= OPENED_MAX;
    if (draft_count == 1) rc = enter_alone(first);
    while (rc == 0 && first != NULL)
        rc = enter_some(batch_size(), opens);
    unlock();
    if (rc < 0 && !stuck)
        RedisModule_Log(NULL, "warning",
                        "%u new filters are in memory only, and the server tries again: %s",
                        count_drafts(), tamis_last_error());
    stuck = rc < 0;
    return rc;
}

void drafts_before_sleep(void)
{
    asleep = true;
    if (!stuck) (void)drafts_enter();
}

void drafts_after_sleep(void)
{
    asleep = false;
}

void drafts_try_again(void)
{
    (void)drafts_enter();
    if (count_drafts() == 0) stuck = false;
}
