/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drafts_make.c: what a thread does for drafts (drafts.c) without their mutex: it waits for the
 * disk.
 */
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "server/clock.h"
#include "server/config.h"
#include "value/draft_parts.h"

/* A look takes as long as a command of an AOF, so commands that come one after the other share it.
 * The least that is asked for is far more than they need meanwhile. */
#define LOOK_AGAIN_NS 10000000

bool draft_disk_has(uint64_t bytes)
{
    static int64_t again_at;
    static uint64_t room;
    struct statvfs disk;
    const int64_t now = clock_ns();
    if (now >= again_at) {
        again_at = now + LOOK_AGAIN_NS;
        room = statvfs(config.store, &disk) == 0 ? (uint64_t)disk.f_bavail * disk.f_frsize : 0;
    }
    return room >= bytes;
}

void draft_give(struct draft *draft)
{
    draft->handed = draft->key_count;
    draft->in_hands = RedisModule_Alloc((draft->handed + 1) * sizeof *draft->in_hands);
    if (draft->handed > 0)
        memcpy(draft->in_hands, draft->keys, draft->handed * sizeof *draft->in_hands);
    (void)strcpy(draft->name, draft->value->name);
}

int draft_add_others(tamis_store *store, struct draft *draft)
{
    int rc = tamis_filter_open(store, draft->name, 0, &draft->filter);
    if (rc == TAMIS_ENOTFOUND) return 0;
    for (size_t i = draft->stored; rc >= 0 && i < draft->handed; i++)
        rc = tamis_filter_add(draft->filter, draft->in_hands[i].data, draft->in_hands[i].bytes);
    if (rc >= 0) return 0;
    tamis_filter_release(draft->filter);
    draft->filter = NULL;
    return rc == TAMIS_EDROPPED ? 0 : rc;
}

struct tamis_filled draft_filled(const struct draft *draft, const char *name,
                                 const struct tamis_key *keys, size_t key_count)
{
    const struct draft_exact *exact = draft->exact;
    struct tamis_filled filled = {
        .name = name, .keys = keys, .key_count = key_count, .created_at = draft->value->created_at};
    if (draft->content.data != NULL) {
        const bool redisbloom = draft->content.is_redisbloom;
        filled.stream = draft->content.data;
        filled.stream_bytes = draft->content.bytes;
        filled.format = redisbloom ? "redisbloom" : "tamis";
        filled.flags = TAMIS_IMPORT_OWNED | (redisbloom ? TAMIS_IMPORT_AS_THERE : 0);
        return filled;
    }
    if (exact == NULL) {
        filled.spec = &draft->spec;
        return filled;
    }
    filled.stream = exact->head;
    filled.stream_bytes = exact->head_bytes;
    filled.format = "redisbloom";
    filled.flags = TAMIS_IMPORT_HEAD | TAMIS_IMPORT_AS_THERE | TAMIS_IMPORT_OWNED;
    return filled;
}

static struct tamis_filled filled_of(const struct draft *draft)
{
    const size_t first = draft->handed < draft->key_most ? draft->handed : draft->key_most;
    return draft_filled(draft, draft->name, draft->in_hands, first);
}

/* Makes the filter of one draft.  If another process has just made one of that name, it gets a name
 * apart. */
static int make_one(tamis_store *store, struct draft *draft, const struct tamis_filled *one)
{
    const int rc = tamis_filter_create_filled(store, one, 1);
    if (rc != TAMIS_EEXIST) return rc;
    name_apart(NAME_ASIDE, draft->name);
    return tamis_filter_create_filled(store, one, 1);
}

/* The filter is made, and has its first keys.  Adds the others that it was handed. */
static int add_those_behind(tamis_store *store, struct draft *draft)
{
    draft->stored = draft->handed < draft->key_most ? draft->handed : draft->key_most;
    return draft->stored < draft->handed ? draft_add_others(store, draft) : 0;
}

/* The same, of a head or of content; the filter has the time of the draft. */
static int make_alone_of_stream(tamis_store *store, struct draft *draft)
{
    const struct tamis_filled filled = filled_of(draft);
    int rc = make_one(store, draft, &filled);
    if (rc == 0) rc = add_those_behind(store, draft);
    if (rc == 0 && draft->filter == NULL &&
        tamis_filter_open(store, draft->name, 0, &draft->filter) < 0)
        draft->filter = NULL; /* the command that wants it says why */
    if (draft->filter != NULL) value_mark(draft->filter);
    return rc;
}

int draft_make_alone(tamis_store *store, struct draft *draft)
{
    if (draft->exact != NULL || draft->content.data != NULL)
        return make_alone_of_stream(store, draft);
    int rc = tamis_filter_create(store, draft->name, &draft->spec, &draft->filter);
    if (rc == TAMIS_EEXIST) {
        name_apart(NAME_ASIDE, draft->name);
        rc = tamis_filter_create(store, draft->name, &draft->spec, &draft->filter);
    }
    if (rc < 0) return rc;
    draft->is_alone = true;
    for (size_t i = 0; rc >= 0 && i < draft->handed; i++)
        rc = tamis_filter_add(draft->filter, draft->in_hands[i].data, draft->in_hands[i].bytes);
    if (rc < 0)
        RedisModule_Log(NULL, "warning", "the filter '%s' lacks items: %s", draft->name,
                        tamis_last_error());
    return 0;
}

/* Makes the filters of those that are not made.  What is wrong with one must not keep the others.
 */
static void make_filters(tamis_store *store, struct draft **drafts, unsigned count, char *failure)
{
    static struct tamis_filled filled[TAMIS_FILLED_MAX]; /* of the only thread of this */
    unsigned to_make = 0;
    for (unsigned i = 0; i < count; i++)
        if (!drafts[i]->made) filled[to_make++] = filled_of(drafts[i]);
    const int together = tamis_filter_create_filled(store, filled, to_make);
    if (together < 0) (void)snprintf(failure, DRAFT_SENTENCE_ROOM, "%s", tamis_last_error());
    to_make = 0;
    for (unsigned i = 0; i < count; i++) {
        struct draft *draft = drafts[i];
        if (draft->made) continue;
        const bool alone =
            together < 0 && together != TAMIS_EBUSY; /* it would be for each of them */
        draft->rc = alone ? make_one(store, draft, &filled[to_make]) : together;
        to_make++;
        if (alone && draft->rc < 0)
            (void)snprintf(failure, DRAFT_SENTENCE_ROOM, "%s", tamis_last_error());
    }
}

void drafts_make(tamis_store *store, struct draft **drafts, unsigned count, bool opens,
                 char failure[DRAFT_SENTENCE_ROOM])
{
    make_filters(store, drafts, count, failure);
    for (unsigned i = 0; i < count; i++) {
        struct draft *draft = drafts[i];
        if (draft->made) {
            draft->rc = draft_add_others(store, draft);
            if (draft->rc < 0)
                (void)snprintf(failure, DRAFT_SENTENCE_ROOM, "%s", tamis_last_error());
            continue;
        }
        if (draft->rc == 0) draft->rc = add_those_behind(store, draft);
        if (opens && draft->rc == 0 && draft->filter == NULL &&
            tamis_filter_open(store, draft->name, 0, &draft->filter) < 0) {
            draft->filter = NULL; /* the command that wants it says why */
        }
        /* The next add does not wait for that. */
        if (count == 1 && draft->filter != NULL) value_mark(draft->filter);
    }
}
