/* SPDX-License-Identifier: BSD-2-Clause */
/* making_order.c: which of those that making.c has wait for which others. */
#include "kept/making_parts.h"

enum use making_use_of(const struct making *m, const struct value *value)
{
    enum use use = USE_NONE;
    bool changes = false;
    if (m->maker.uses == NULL || m->has_let_go) return use;
    for (size_t i = 0; use != USE_CHANGES; i++) {
        const struct value *used = m->maker.uses(m->maker.context, i, &changes);
        if (used == NULL) break;
        if (used == value) use = changes ? USE_CHANGES : USE_READS;
    }
    return use;
}

/* Does one of them change what the other one uses? */
static bool are_in_conflict(const struct making *a, const struct making *b)
{
    bool found = false, changes = false;
    if (a->maker.uses == NULL || b->maker.uses == NULL || b->has_let_go) return false;
    for (size_t i = 0; !found; i++) {
        const struct value *used = b->maker.uses(b->maker.context, i, &changes);
        if (used == NULL) break;
        const enum use use = making_use_of(a, used);
        found = use == USE_CHANGES || (use == USE_READS && changes);
    }
    return found;
}

bool making_is_over(const struct making *m)
{
    return m->is_spoiled ||
           (m->state == DONE && (m->is_replicated || m->rc < 0 || m->value == NULL));
}

struct making *making_find_obstacle(struct making *from, const struct making *m)
{
    if (m->maker.uses == NULL) return NULL;
    while (from != m && (making_is_over(from) || !are_in_conflict(from, m)))
        from = from->next;
    return from == m ? NULL : from;
}
