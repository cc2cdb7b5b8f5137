/* SPDX-License-Identifier: BSD-2-Clause */
/* making_names.c: the names of the filters that making.c has made, or is about to make. */
#include <string.h>

#include "kept/making_parts.h"
#include "registry/registry.h"

/* The first one of that name from `m` on: there may be several.  The caller has the mutex. */
static struct making *next_named(struct making *m, const char *name)
{
    while (m != NULL && (m->value == NULL || strcmp(m->name, name) != 0))
        m = m->next;
    return m;
}

bool making_has(const char *name)
{
    making_lock();
    const bool has = next_named(making_first, name) != NULL;
    making_unlock();
    return has;
}

static struct making *find_undone(const char *name)
{
    struct making *m = next_named(making_first, name);
    while (m != NULL && m->state == DONE)
        m = next_named(m->next, name);
    return m;
}

void making_wait(const char *name)
{
    struct making *m;
    making_lock();
    while ((m = find_undone(name)) != NULL) {
        for (struct making *before = making_first;
             (before = making_find_obstacle(before, m)) != NULL; before = before->next)
            making_settle_one(before);
        making_wait_for(m);
    }
    making_unlock();
}

/* The one that has made the filter of that name. */
static struct making *find_maker(const char *name)
{
    struct making *m = next_named(making_first, name);
    while (m != NULL && (m->state != DONE || m->rc != 0))
        m = next_named(m->next, name);
    return m;
}

bool making_makes_way(const char *name)
{
    char apart[NAME_ROOM];
    int rc = TAMIS_ENOTFOUND;
    making_lock();
    struct making *m = find_maker(name);
    if (m != NULL) {
        name_apart(NAME_ASIDE, apart);
        rc = tamis_filter_rename(registry_store(), name, apart);
        if (rc == 0) {
            (void)strcpy(m->name, apart);
            value_set_name(m->value, apart);
        }
    }
    making_unlock();
    return rc == 0;
}
