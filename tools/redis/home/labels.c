/* SPDX-License-Identifier: BSD-2-Clause */
/* labels.c: see labels.h.  All but the job runs in the main thread. */
#include "home/labels.h"

#include "server/names.h"
#include "value/store.h"

#define AT_ONCE 500

struct labelling {
    struct job job;
    size_t count;
    struct tamis_label labels[AT_ONCE];
    char names[AT_ONCE][NAME_ROOM];
};

static struct {
    uint64_t waiting;
    bool busy; /* atomic */
} state;

void labels_want(struct stored *stored, int db, const char *key, size_t key_bytes)
{
    if (stored->key == NULL || stored->key_bytes != key_bytes ||
        memcmp(stored->key, key, key_bytes) != 0) {
        stored->key = RedisModule_Realloc(stored->key, key_bytes + 1);
        memcpy(stored->key, key, key_bytes);
        stored->key_bytes = key_bytes;
    }
    stored->db = db;
    if (stored->attached) return;
    if (!stored->wants_label) state.waiting++;
    stored->wants_label = true;
}

void labels_swap(int first, int second)
{
    for (struct stored *s = stored_first(); s != NULL; s = s->next) {
        if (s->key == NULL || (s->db != first && s->db != second)) continue;
        labels_want(s, s->db == first ? second : first, s->key, s->key_bytes);
    }
}

static void run(struct job *job)
{
    struct labelling *l = (struct labelling *)(void *)job;
    if (tamis_filters_label(store_is_open(), l->labels, l->count) < 0)
        RedisModule_Log(NULL, "warning", "filters have not got their names: %s",
                        tamis_last_error());
    RedisModule_Free(l);
    /* ORDER release: pairs with labels_pass(). */
    __atomic_store_n(&state.busy, false, __ATOMIC_RELEASE);
}

void labels_pass(void)
{
    if (state.waiting == 0 || store_is_open() == NULL || store_is_of_another() ||
        __atomic_load_n(&state.busy, __ATOMIC_ACQUIRE))
        return;
    struct labelling *l = RedisModule_Calloc(1, sizeof *l);
    state.waiting = 0;
    for (struct stored *s = stored_first(); s != NULL; s = s->next) {
        if (!s->wants_label) continue;
        if (l->count == AT_ONCE) {
            state.waiting++;
            continue;
        }
        char *name = l->names[l->count];
        name_of_key(s->db, s->key, s->key_bytes, name);
        memcpy(l->labels[l->count].id, s->id.bytes, TAMIS_ID_BYTES);
        l->labels[l->count++].name = name;
        s->wants_label = false;
    }
    if (l->count == 0) {
        RedisModule_Free(l);
        return;
    }
    l->job.run = run;
    __atomic_store_n(&state.busy, true, __ATOMIC_RELEASE);
    work_submit(NULL, &l->job);
}

uint64_t labels_waiting(void)
{
    return state.waiting;
}
