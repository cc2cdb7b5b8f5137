/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drafts_list.c: the lists of drafts (drafts.h), which the mutex of drafts.c guards.
 *
 *     ready   They are to come into the store.
 *     held    The store had a filter of the key's name when the server began, and an AOF is loaded.
 *             Nobody knows yet whether the key has that filter at the end.  So the draft stays in
 *             memory until then, and most never become filters (kept/rejoin.c).  They do not count,
 *             however many there are: nothing waits for them.  One may have more keys than another
 *             draft, and more than its capacity: the filter that the store has has grown with them.
 */
#include "value/draft_parts.h"
#include "value/drafts.h"

/* With so many drafts that are ready, or so many bytes of keys in them, a client that makes a
 * further filter waits until there are fewer.  For commands that cannot be put off, with twice as
 * many the server waits. */
#define DRAFTS_MAX 8192u
#define DRAFTS_BYTES_MAX ((size_t)64 << 20)

/* What one that is held may have, and what all of them may: an eighth of the bytes of content
 * counts, as to compare filters in the store instead takes much longer. */
#define HELD_KEYS_MAX ((size_t)8192)
#define HELD_KEY_BYTES_MAX ((size_t)1 << 20)
#define HELD_BYTES_MAX ((size_t)128 << 20)

struct draft_list drafts_ready = {.last = &drafts_ready.first},
                  drafts_held = {.last = &drafts_held.first};
static unsigned ready;    /* atomic: changed with the mutex, read without it */
static size_t bytes;      /* atomic: of the keys and the content of those that are ready */
static size_t held_bytes; /* atomic: the same of those that are held */

/* ORDER relaxed: the main thread adds drafts, and another one takes off those that nobody wants. */
unsigned drafts_count(void)
{
    return __atomic_load_n(&ready, __ATOMIC_RELAXED);
}

static void count(const struct draft_list *list, int change)
{
    if (list == &drafts_ready) __atomic_store_n(&ready, ready + (unsigned)change, __ATOMIC_RELAXED);
}

void draft_count_bytes(const struct draft *draft, int64_t change)
{
    (void)__atomic_fetch_add(draft->list == &drafts_ready ? &bytes : &held_bytes, (size_t)change,
                             __ATOMIC_RELAXED); /* ORDER: it is a limit */
}

bool drafts_are_many(unsigned times)
{
    return drafts_count() >= times * DRAFTS_MAX ||
           __atomic_load_n(&bytes, __ATOMIC_RELAXED) >= times * DRAFTS_BYTES_MAX;
}

void draft_append(struct draft *draft, struct draft_list *list)
{
    draft->list = list;
    draft->next = NULL;
    draft->link = list->last;
    *list->last = draft;
    list->last = &draft->next;
    count(list, 1);
}

void draft_take_off(struct draft *draft)
{
    *draft->link = draft->next;
    if (draft->next != NULL)
        draft->next->link = draft->link;
    else
        draft->list->last = draft->link;
    draft->link = NULL;
    count(draft->list, -1);
}

void draft_move(struct draft *draft, struct draft_list *list)
{
    draft_count_bytes(draft, -draft_bytes(draft));
    draft_take_off(draft);
    draft_append(draft, list);
    draft_count_bytes(draft, draft_bytes(draft));
}

bool draft_is_held(const struct value *value)
{
    return value->draft != NULL && value->draft->list == &drafts_held;
}

bool drafts_held_are_large(void)
{
    return __atomic_load_n(&held_bytes, __ATOMIC_RELAXED) > HELD_BYTES_MAX;
}

bool draft_held_has_room(const struct draft *draft, size_t keys)
{
    return draft->key_count + keys <= HELD_KEYS_MAX && draft->key_bytes <= HELD_KEY_BYTES_MAX &&
           !drafts_held_are_large();
}

/* ---- Those that came into the store under names apart -----------------------------------------
 */

#define APART_MAX 64

/* The main thread alone uses these. */
static int64_t apart[APART_MAX];
static unsigned apart_count;

void draft_note_apart(int64_t created_at)
{
    if (apart_count < APART_MAX) apart[apart_count++] = created_at;
}

int64_t drafts_next_apart(void)
{
    return apart_count == 0 ? 0 : apart[--apart_count];
}
