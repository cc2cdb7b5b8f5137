/* SPDX-License-Identifier: BSD-2-Clause */
/* orphans.c: see orphans.h. */
#include "value/orphans.h"

#include "value/drops.h"
#include "value/store.h"
#include "value/stored.h"

static int64_t there; /* atomic, relaxed: when somebody looked */

struct looking {
    orphan_fn *fn;
    void *context;
    int64_t count;
};

static int look(void *context, const char *name, const uint8_t *bytes, int owned)
{
    struct looking *looking = context;
    struct id id;
    if (!owned || bytes == NULL) return 0;
    memcpy(&id, bytes, sizeof id);
    if (stored_has(&id) || store_is_claimed(&id) || drops_have(&id)) return 0;
    looking->count++;
    if (looking->fn != NULL) looking->fn(looking->context, name, &id);
    return 0;
}

int64_t orphans_each(orphan_fn *fn, void *context)
{
    struct looking looking = {.fn = fn, .context = context};
    tamis_store *store = store_is_open();
    if (store == NULL || store_is_of_another()) return 0;
    const int rc = tamis_store_list_ids(store, look, &looking);
    if (rc == 0) __atomic_store_n(&there, looking.count, __ATOMIC_RELAXED);
    return rc < 0 ? rc : looking.count;
}

int64_t orphans_count(void)
{
    return __atomic_load_n(&there, __ATOMIC_RELAXED);
}
