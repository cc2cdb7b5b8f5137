/* SPDX-License-Identifier: BSD-2-Clause */
/* drafts_held.c: drafts that stay out of the store until all is loaded (drafts_list.c). */
#include "value/draft_parts.h"
#include "value/drafts.h"

void draft_hold(struct value *value)
{
    drafts_lock(true);
    draft_move(value->draft, &drafts_held);
    drafts_lock(false);
}

void draft_release(struct value *value, const char *name)
{
    drafts_lock(true);
    if (name != NULL) draft_set_name(value, name);
    draft_move(value->draft, &drafts_ready);
    drafts_lock(false);
}

void drafts_relieve(void)
{
    char apart[NAME_ROOM];
    if (!drafts_held_are_large()) return;
    while (drafts_held.first != NULL) {
        name_apart(NAME_LOADING, apart);
        draft_release(drafts_held.first->value, apart);
    }
    (void)drafts_enter();
}

struct value *drafts_first_held(void)
{
    return drafts_held.first != NULL ? drafts_held.first->value : NULL;
}
