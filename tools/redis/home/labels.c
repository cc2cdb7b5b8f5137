/* SPDX-License-Identifier: BSD-2-Clause */
/* labels.c: see labels.h.  All but the job runs in the main thread. */
#include "home/labels.h"

#include "server/args.h"
#include "server/names.h"
#include "value/drops.h"
#include "value/store.h"

#define AT_ONCE 500

struct labelling {
    struct job job;
    int rc;
    struct waiting_list clients; /* of the filters that get their labels */
    size_t count;
    struct tamis_label labels[AT_ONCE];
    char names[AT_ONCE][NAME_ROOM];
};

static struct {
    uint64_t waiting;
    uint64_t drops; /* when the thread began: what was dropped since had names */
    bool unnamed;
    bool failed; /* the thread that ended last */
    size_t now;  /* as many are written by a thread */
    struct waiting_list clients;
} state;

static void want(struct stored *stored)
{
    if (stored->attached || stored->value == NULL) return; /* of others, or on its way */
    if (!stored->wants_label) state.waiting++;
    stored->wants_label = true;
}

void labels_want(struct stored *stored, int db, const char *key, size_t key_bytes)
{
    if (stored->key == NULL || stored->key_bytes != key_bytes ||
        memcmp(stored->key, key, key_bytes) != 0) {
        stored->key = RedisModule_Realloc(stored->key, key_bytes + 1);
        memcpy(stored->key, key, key_bytes);
        stored->key_bytes = key_bytes;
    }
    stored->db = db;
    want(stored);
}

void labels_swap(int first, int second)
{
    for (struct stored *s = stored_first(); s != NULL; s = stored_next(s)) {
        if (s->key == NULL || (s->db != first && s->db != second)) continue;
        s->db = s->db == first ? second : first;
        want(s);
    }
}

static void run(struct job *job)
{
    struct labelling *l = (struct labelling *)(void *)job;
    l->rc = tamis_filters_label(store_is_open(), l->labels, l->count);
    if (l->rc < 0)
        RedisModule_Log(NULL, "warning", "filters have not got their names yet: %s",
                        tamis_last_error());
}

/* What the thread has not written is tried again. */
static void end(RedisModuleCtx *ctx, struct job *job)
{
    struct labelling *l = (struct labelling *)(void *)job;
    (void)ctx;
    for (size_t i = 0; i < l->count; i++) {
        struct id id;
        memcpy(&id, l->labels[i].id, sizeof id);
        struct stored *s = stored_find(&id);
        if (s != NULL && l->rc < 0) want(s);
        if (s != NULL) s->unnamed = l->rc >= 0 && l->labels[i].result == TAMIS_EEXIST;
        state.unnamed = state.unnamed || (s != NULL && s->unnamed);
    }
    state.failed = l->rc < 0;
    waiting_let_go(&l->clients, NULL);
    RedisModule_Free(l);
    state.now = 0;
}

/* The names of filters that were dropped are free. */
static void try_again(void)
{
    state.unnamed = false;
    for (struct stored *s = stored_first(); s != NULL; s = stored_next(s))
        if (s->unnamed) want(s);
}

void labels_pass(void)
{
    if (state.now > 0) return;
    if (state.unnamed && drops_done() != state.drops) try_again();
    if (state.waiting == 0 || store_is_open() == NULL || store_is_of_another()) {
        waiting_let_go(&state.clients, NULL);
        return;
    }
    struct labelling *l = RedisModule_Calloc(1, sizeof *l);
    state.waiting = 0;
    for (struct stored *s = stored_first(); s != NULL; s = stored_next(s)) {
        if (!s->wants_label) continue;
        const bool is_made = s->filter != NULL || !work_is_busy(&s->line);
        if (l->count == AT_ONCE || !is_made) {
            state.waiting++;
            continue;
        }
        char *name = l->names[l->count];
        name_of_key(s->db, s->key, s->key_bytes, name);
        struct tamis_label *label = &l->labels[l->count++];
        *label = (struct tamis_label){.size = sizeof *label, .name = name};
        memcpy(label->id, s->id.bytes, TAMIS_ID_BYTES);
        s->wants_label = false;
    }
    if (l->count == 0) {
        RedisModule_Free(l);
        return;
    }
    if (l->count < AT_ONCE) waiting_move(&state.clients, &l->clients);
    l->job.run = run;
    l->job.end = end;
    state.now = l->count;
    state.drops = drops_done();
    work_submit(NULL, &l->job);
}

uint64_t labels_waiting(void)
{
    return state.waiting + state.now;
}

void labels_take_clients(struct waiting_list *clients)
{
    waiting_move(clients, &state.clients);
}

bool labels_wait(RedisModuleCtx *ctx, const struct stored *stored, RedisModuleReplyFunc *again)
{
    if ((!stored->wants_label && state.now == 0) || !args_can_wait(ctx)) return false;
    waiting_put(&state.clients, ctx, again, NULL);
    return true;
}

bool labels_have_failed(void)
{
    return state.failed;
}
