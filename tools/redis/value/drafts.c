/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drafts.c: see drafts.h.
 *
 * The mutex guards the list.  The main thread holds it while it brings drafts into the store
 * itself, so a value that is freed meanwhile has either a draft or a filter.
 *
 * Without tamis.make sync a thread makes the filters, without the mutex:
 *
 *                  hand_over()            the thread               take_in()
 *     WAITING ---------------> IN_WORK -----------------> DONE ---------------> a filter
 *        ^                                                 |
 *        '------- it has got further keys, or an error ----'
 *
 * A draft that is IN_WORK is not freed.  If its key goes, it is off the list, and whoever drops the
 * filter waits for the thread (draft_wait()).
 */
#include "value/drafts.h"

#include <pthread.h>
#include <string.h>

#include "server/clock.h"
#include "server/config.h"
#include "server/thread.h"
#include "value/draft_parts.h"

/* What a draft may be.  A larger filter is made at once: its client is to know whether there is
 * room for it. */
#define FILE_BYTES_MAX ((uint64_t)64 << 10)
#define KEY_BYTES_MAX ((size_t)16 << 10)
/* With less room on the disk than the drafts of one call and some more might need, 128 MiB, filters
 * are made at once. */
#define ROOM_BYTES (2 * TAMIS_FILLED_MAX * FILE_BYTES_MAX)

/* If no more come into the store together, they are opened: whoever makes few filters is about to
 * use them, and a filter that is open needs no lock of the store. */
#define OPENED_MAX 16u

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct draft *in_work[TAMIS_FILLED_MAX]; /* of the thread, while it works */
static unsigned in_work_count;
static unsigned done_count;               /* how many of the list are DONE */
static bool working;                      /* atomic: changed with the mutex, read without it */
static char failure[DRAFT_SENTENCE_ROOM]; /* the sentence of the last error of the thread */
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

void drafts_lock(bool locks)
{
    (locks ? lock : unlock)();
}

void draft_set_name(struct value *value, const char *name)
{
    name_value(value, name);
}

bool drafts_are_stuck(void)
{
    return stuck;
}

/* What draft_take_off() does, and what is done is counted here. */
static void take_off(struct draft *draft)
{
    done_count -= draft->state == DONE;
    draft_take_off(draft);
}

/* Takes it off the list, and frees it: its value has a filter now, or goes. */
static void end_draft(struct draft *draft)
{
    if (draft->link != NULL) take_off(draft);
    draft_let_go(draft);
    __atomic_store_n(&draft->value->draft, NULL, __ATOMIC_RELAXED); /* ORDER: kept_release() */
    draft_count_bytes(draft, -draft_bytes(draft));
    for (size_t i = 0; i < draft->key_count; i++)
        RedisModule_Free((void *)(uintptr_t)draft->keys[i].data);
    RedisModule_Free(draft->keys);
    RedisModule_Free(draft->exact);
    RedisModule_Free(draft->content.data);
    RedisModule_Free(draft->in_hands);
    RedisModule_Free(draft);
}

/* Nobody wants the draft any more.  Returns whether nothing is in the store of it. */
static bool forget(struct draft *draft)
{
    if (draft->state == WAITING && !draft->made) {
        end_draft(draft);
        return true;
    }
    if (draft->link != NULL) take_off(draft);
    draft_let_go(draft);
    return false;
}

bool draft_forget(struct value *value)
{
    if (!value_is_stored(value)) return false;
    lock();
    struct draft *draft = value->draft;
    const bool is_nowhere = draft != NULL && forget(draft);
    unlock();
    return is_nowhere;
}

static void forget_database(struct draft_list *list, int db)
{
    for (struct draft *draft = list->first, *next; draft != NULL; draft = next) {
        struct value *value = draft->value;
        next = draft->next;
        if ((db < 0 || value->db == db) && forget(draft)) value->is_nowhere = true;
    }
}

void drafts_forget_database(int db)
{
    lock();
    forget_database(&drafts_ready, db);
    forget_database(&drafts_held, db);
    unlock();
}

void draft_wait(struct value *value)
{
    lock();
    struct draft *draft = value->draft;
    while (draft != NULL && draft->state == IN_WORK)
        (void)pthread_cond_wait(&changed, &mutex);
    if (draft != NULL) {
        if (draft->state == DONE && strcmp(draft->name, value->name) != 0)
            name_value(value, draft->name);
        tamis_filter_release(draft->filter);
        end_draft(draft);
    }
    unlock();
}

/* ---- fork() ---------------------------------------------------------------------------------- */

void drafts_prepare_for_fork(void)
{
    (void)pthread_atfork(lock, unlock, unlock);
    prepared = true;
}

/* Another thread that starts a program has no need of the drafts.  A child has them in its memory,
 * too: rdb_draft.c. */
static void enter_before_fork(void)
{
    if (allowed && !drafts_are_made_behind() && pthread_equal(pthread_self(), main_thread) != 0)
        (void)drafts_enter();
}

void drafts_enter_before_fork(void)
{
    (void)pthread_atfork(enter_before_fork, NULL, NULL);
}

/* ---- A draft --------------------------------------------------------------------------------- */

static int64_t next_instant(void)
{
    static int64_t told; /* no two filters have the same one: dumps find them by it */
    const int64_t now = clock_since_1970_ns();
    told = now > told ? now : told + 1;
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
bool drafts_take(uint64_t file_bytes, bool is_loaded)
{
    const bool behind = drafts_are_made_behind();
    if (!allowed || !prepared || (stuck && !is_loaded) || file_bytes > FILE_BYTES_MAX) return false;
    if (!behind && asleep) return false;
    if ((behind ? drafts_are_many(2) : drafts_count() >= batch_size()) && drafts_enter() < 0 &&
        !is_loaded)
        return false;
    if (drafts_count() == 0) has_room = draft_disk_has(ROOM_BYTES);
    return has_room;
}

void draft_begin(struct value *value, const struct tamis_filter_spec *spec,
                 const struct tamis_sizing *sizing)
{
    struct draft *draft = RedisModule_Calloc(1, sizeof *draft);
    draft->value = value;
    draft->spec = *spec;
    draft->key_most = spec->capacity < DRAFT_KEYS_MAX ? (size_t)spec->capacity : DRAFT_KEYS_MAX;
    __atomic_store_n(&value->draft, draft, __ATOMIC_RELAXED); /* ORDER: kept_release() */
    value->created_at = value->origin = next_instant();
    value->kind = spec->kind;
    value->known = (struct known){
        .segments = 1, .bytes = sizing->file_bytes, .size_bytes = 32 + 64 + sizing->data_bytes};
    lock();
    draft_append(draft, &drafts_ready);
    unlock();
}

bool draft_has_room(const struct value *value, size_t keys)
{
    const struct draft *draft = value->draft;
    if (draft == NULL || (draft->content.data != NULL && (keys == 0 || !draft_is_held(value))))
        return false;
    if (keys == 0) return true;
    if (draft_is_held(value) && draft->exact == NULL && value->expansion != 0)
        return draft_held_has_room(draft, keys);
    return draft->key_count <= draft->key_most && keys <= draft->key_most - draft->key_count &&
           draft->key_bytes <= KEY_BYTES_MAX;
}

bool drafts_hold(size_t keys, uint64_t capacity)
{
    return !drafts_are_made_behind() || (keys <= DRAFT_KEYS_MAX && keys <= capacity);
}

bool draft_contains(const struct value *value, const void *key, size_t bytes)
{
    const struct draft *draft = value->draft;
    if (draft->exact != NULL) return draft_bits_have(draft->exact, key, bytes);
    for (size_t i = 0; i < draft->key_count; i++)
        if (draft->keys[i].bytes == bytes && memcmp(draft->keys[i].data, key, bytes) == 0)
            return true;
    return false;
}

int draft_add(struct value *value, const void *key, size_t bytes)
{
    struct draft *draft = value->draft;
    /* While all is loaded nobody waits for the answer. */
    if (draft->key_count <= DRAFT_KEYS_MAX && draft_contains(value, key, bytes)) return 0;
    if (draft->key_count == draft->key_room) {
        draft->key_room = draft->key_room == 0 ? 1 : 2 * draft->key_room;
        draft->keys = RedisModule_Realloc(draft->keys, draft->key_room * sizeof *draft->keys);
    }
    char *copy = RedisModule_Alloc(bytes + 1);
    memcpy(copy, key, bytes);
    if (draft->exact != NULL) draft_bits_set(draft->exact, key, bytes);
    draft->keys[draft->key_count++] = (struct tamis_key){copy, bytes};
    draft->key_bytes += bytes;
    draft_count_bytes(draft, (int64_t)bytes);
    value->known.items++;
    return 1;
}

bool draft_rename(struct value *value, const char *name)
{
    lock();
    const bool may = value->draft->state == WAITING && !value->draft->made;
    if (may) name_value(value, name);
    unlock();
    return may;
}

/* ---- Into the store -------------------------------------------------------------------------- */

/* Those that wait for a draft go on, as it cannot come into the store now. */
static void let_all_go(void)
{
    for (struct draft *draft = drafts_ready.first; draft != NULL; draft = draft->next)
        draft_let_go(draft);
}

static struct tamis_filled filled_of(const struct draft *draft)
{
    return draft_filled(draft, draft->value->name, draft->keys, draft_first_keys(draft));
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
    draft_note_apart(draft->value->created_at);
    filled.name = draft->value->name;
    return tamis_filter_create_filled(store, &filled, 1);
}

static struct tamis_filled filled[TAMIS_FILLED_MAX];

static unsigned take_some(unsigned most)
{
    unsigned count = 0;
    for (const struct draft *draft = drafts_ready.first; draft != NULL && count < most;
         draft = draft->next)
        filled[count++] = filled_of(draft);
    return count;
}

static int enter_others(struct draft *draft);

/* The filter is made, and has the first keys. */
static void end_entered(struct draft *draft, bool opens)
{
    struct value *value = draft->value;
    draft->stored = draft_first_keys(draft);
    draft->made = draft->stored < draft->key_count;
    if (draft->made) {
        (void)enter_others(draft);
        return;
    }
    end_draft(draft);
    made_value(value, opens);
}

/* Makes the filters of the first ones of the list.  What is wrong with one must not keep the
 * others. */
static int enter_some(unsigned most, bool opens)
{
    const unsigned count = take_some(most);
    const int together = tamis_filter_create_filled(store, filled, count);
    if (together == TAMIS_EBUSY) return together; /* it would be for each of them */
    struct draft *draft = drafts_ready.first;
    int rc = 0;
    for (unsigned i = 0; i < count; i++) {
        struct draft *next = draft->next;
        const int one = together < 0 ? enter_one(draft) : 0;
        if (one == 0) end_entered(draft, opens);
        if (one < 0) rc = one;
        draft = next;
    }
    return rc;
}

static void note(int rc, const char *sentence)
{
    if (rc < 0 && !stuck)
        RedisModule_Log(NULL, "warning",
                        "%u new filters are in memory only, and the server tries again: %s",
                        drafts_count(), sentence);
    stuck = rc < 0;
}

/* A filter that was made alone has a time of its own. */
static void describe(struct value *value, tamis_filter *filter)
{
    const uint32_t expansion = value->expansion;
    value->filter = filter;
    (void)value_describe(value); /* it was made now, and as the spec says */
    value->expansion = expansion;
    value->filter = NULL;
}

/* Takes a draft back, from the thread or from ourselves: its filter is made, and its keys are in
 * it, or further ones wait. */
static void take_back(struct draft *draft)
{
    struct value *value = draft->value;
    done_count -= draft->state == DONE;
    draft->state = WAITING;
    RedisModule_Free(draft->in_hands);
    draft->in_hands = NULL;
    if (draft->rc < 0) {
        draft_let_go(draft);
        return;
    }
    if (draft->is_alone) describe(value, draft->filter);
    if (strcmp(draft->name, value->name) != 0) {
        name_value(value, draft->name);
        draft_note_apart(value->created_at);
    }
    draft->is_alone = false;
    draft->made = true;
    draft->stored = draft->handed;
    if (draft->stored < draft->key_count) {
        tamis_filter_release(draft->filter);
        draft->filter = NULL;
        if (draft->clients != NULL) (void)enter_others(draft);
        return;
    }
    value->filter = draft->filter;
    end_draft(draft);
    made_value(value, false);
}

/* Adds the keys that the filter of a draft lacks, which waits for no disk. */
static int enter_others(struct draft *draft)
{
    draft_give(draft);
    const int rc = draft->rc = draft_add_others(store, draft);
    take_back(draft);
    return rc;
}

/* Takes back what the thread has done. */
static void take_back_done(void)
{
    const bool any = done_count > 0;
    int rc = 0;
    for (struct draft *draft = drafts_ready.first, *next; draft != NULL && done_count > 0;
         draft = next) {
        next = draft->next;
        if (draft->state != DONE) continue;
        if (draft->rc < 0) rc = draft->rc;
        take_back(draft);
    }
    if (rc < 0) let_all_go();
    if (any) note(rc, failure);
}

/* Adds the keys that filters lack, of which the thread has made some and not yet the others. */
static int enter_made(void)
{
    int rc = 0;
    for (struct draft *draft = drafts_ready.first, *next; draft != NULL && rc == 0; draft = next) {
        next = draft->next;
        if (draft->made) rc = enter_others(draft);
    }
    return rc;
}

static int enter_alone(struct draft *draft)
{
    draft_give(draft);
    const int rc = draft->rc = draft_make_alone(store, draft);
    take_back(draft);
    return rc;
}

static void wait_for_thread(void)
{
    while (working)
        (void)pthread_cond_wait(&changed, &mutex);
}

/* Is there nothing to do, here and for the thread? */
static bool are_none(void)
{
    return drafts_count() == 0 && !__atomic_load_n(&working, __ATOMIC_RELAXED);
}

int drafts_enter(void)
{
    if (are_none()) return 0;
    lock();
    wait_for_thread();
    take_back_done();
    int rc = enter_made();
    const bool opens = drafts_count() <= OPENED_MAX;
    if (rc == 0 && drafts_count() == 1 && !drafts_are_made_behind())
        rc = enter_alone(drafts_ready.first);
    while (rc == 0 && drafts_ready.first != NULL)
        rc = enter_some(batch_size(), opens);
    if (rc < 0) let_all_go();
    unlock();
    note(rc, tamis_last_error());
    return rc;
}

/* ---- The thread ------------------------------------------------------------------------------ */

static void go_on_making(void *unused);

static void *thread_main(void *unused)
{
    lock();
    for (;;) {
        while (!working)
            (void)pthread_cond_wait(&changed, &mutex);
        unlock();
        drafts_make(store, in_work, in_work_count, in_work_count <= OPENED_MAX, failure);
        lock();
        for (unsigned i = 0; i < in_work_count; i++) {
            in_work[i]->state = DONE;
            done_count += in_work[i]->link != NULL;
        }
        __atomic_store_n(&working, false, __ATOMIC_RELAXED);
        (void)pthread_cond_broadcast(&changed);
        /* The main thread wants the mutex as soon as it hears of this.  If the thread were stopped
         * then with the mutex, as others want the processor, the server would wait for that.
         * Without this call of Redis 7 the drafts are taken back at the next turn. */
        unlock();
        if (RedisModule_EventLoopAddOneShot != NULL)
            (void)RedisModule_EventLoopAddOneShot(go_on_making, NULL);
        lock();
    }
    return unused;
}

/* Hands the first drafts over to the thread.  Returns false if there is none. */
static bool hand_over(void)
{
    static bool running;
    if (working || drafts_ready.first == NULL) return true;
    if (!running) running = thread_start(thread_main, NULL);
    if (!running) return false;
    has_room = draft_disk_has(ROOM_BYTES);
    in_work_count = 0;
    for (struct draft *draft = drafts_ready.first; draft != NULL && in_work_count < batch_size();
         draft = draft->next) {
        draft_give(draft);
        draft->state = IN_WORK;
        in_work[in_work_count++] = draft;
    }
    __atomic_store_n(&working, true, __ATOMIC_RELAXED);
    (void)pthread_cond_broadcast(&changed);
    return true;
}

/* Takes back what is done, and hands over what waits; if the last time failed, only if `again`. */
static void make_behind(bool again)
{
    bool handed = true;
    if (!are_none()) {
        lock();
        take_back_done();
        if (!stuck || again) handed = hand_over();
        unlock();
    }
    if (!handed) (void)drafts_enter();
}

static void go_on_making(void *unused)
{
    (void)unused;
    make_behind(false);
}

/* ---- Turns of the event loop ----------------------------------------------------------------- */

void drafts_before_sleep(void)
{
    asleep = true;
    if (drafts_are_made_behind())
        make_behind(false);
    else if (!stuck)
        (void)drafts_enter();
}

void drafts_after_sleep(void)
{
    asleep = false;
}

void drafts_try_again(void)
{
    if (drafts_are_made_behind())
        make_behind(true);
    else
        (void)drafts_enter();
    if (drafts_count() == 0) stuck = false;
}
