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

/* Values may go meanwhile in another thread, which takes the mutex to forget the draft. */
static void release_all(bool apart, bool *at_once)
{
    char name[NAME_ROOM];
    drafts_lock(true);
    while (drafts_held.first != NULL) {
        struct draft *draft = drafts_held.first;
        if (apart) name_apart(NAME_LOADING, name);
        if (apart) draft_set_name(draft->value, name);
        *at_once |= !draft_can_be_saved(draft->value);
        draft_move(draft, &drafts_ready);
    }
    drafts_lock(false);
}

void drafts_relieve(void)
{
    bool at_once = false;
    if (!drafts_held_are_large()) return;
    release_all(true, &at_once);
    (void)drafts_enter();
}

void drafts_release_held(void)
{
    bool at_once = false;
    release_all(false, &at_once);
    if (at_once) (void)drafts_enter();
}
