/* SPDX-License-Identifier: BSD-2-Clause */
/* merges.c: see merges.h. */
#include "merges.h"

#include <signal.h>
#include <unistd.h>

#include "hooks.h"
#include "streams.h"

tamis_filter *merges_make(tamis_store *store, const char *name,
                          const struct tamis_filter_spec *spec)
{
    return fixture_create(store, name, spec);
}

tamis_filter *merges_import_empty(tamis_store *store, const char *name)
{
    struct stream nothing = {.data = NULL};
    const struct tamis_source source = stream_source(&nothing);
    tamis_filter *filter = NULL;
    assert_done(tamis_filter_import(store, name, "redis-bitmap",
                                    IMPORT_SPEC(.hash_set = "guava", .m_bits = 50000, .k = 5),
                                    &source, &filter));
    return filter;
}

void merges_add(tamis_filter *filter, uint64_t from, uint64_t to, uint64_t step)
{
    char key[RANDOM_KEY_BYTES];
    for (uint64_t i = from; i < to; i += step)
        assert_done(tamis_filter_add(filter, key, random_key(i, key)));
}

int merges_into(tamis_filter *filter, tamis_filter *source)
{
    return tamis_filter_merge(filter, MERGE(.sources = &source, .count = 1));
}

int merges_new(tamis_store *store, const char *name, tamis_filter **sources, size_t count,
               uint32_t flags, tamis_filter **filter)
{
    return tamis_filter_create_merged(
        store, name, MERGE(.sources = sources, .count = count, .flags = flags), filter);
}

int merges_stop(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    assert_true(done_bytes > 0 && done_bytes <= all_bytes);
    return --*(int *)context == 0 ? TAMIS_ELIMIT : 0;
}

/* ---- Killed ---------------------------------------------------------------------------------- */

struct death {
    const char *path, *made;
    unsigned point;
    unsigned passes;
};

static struct death death;

static void merge_until_killed(void *context)
{
    tamis_store *store = fixture_open(death.path, 0);
    tamis_filter *filters[2];
    (void)context;
    if (tamis_filter_open(store, "b", 0, &filters[0]) < 0) _exit(2);
    const bool both = tamis_filter_open(store, "a", 0, &filters[1]) == 0;
    if (!both && death.made == NULL) _exit(2);
    hooks_signal_at(death.point, SIGKILL, death.passes);
    if (death.made != NULL)
        (void)merges_new(store, death.made, filters, both ? 2 : 1, 0, NULL);
    else
        (void)merges_into(filters[1], filters[0]);
    _exit(1); /* the point was not reached */
}

void merges_killed(const char *path, unsigned point, unsigned passes, const char *made)
{
    death = (struct death){.path = path, .made = made, .point = point, .passes = passes};
    assert_int_equal(fixture_child(merge_until_killed, NULL), SPAWN_KILLED);
}
