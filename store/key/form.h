/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * form.h: the form of a key by the rule of its filter: what the hash set gets in place of the key.
 *
 * A form is made where a public call takes keys, and nowhere else: what is below such a call, from
 * the segments to the logs and the exceptions, knows forms alone.  A filter whose rule is `bytes`
 * has no rule here: the pointer to it is NULL, and its keys are not looked at.
 *
 * The form of a form is the form.  To make it fails only where memory is out.
 */
#pragma once

#include "key/rule.h"

/* Memory for forms that are not the key itself. */
struct tamis__form_room {
    struct tamis__form_block
        *blocks; /* the one that is filled, and behind it those that are full */
    size_t used; /* of the first block, or of `small` if there is none */
    unsigned char small[1024];
};

static inline void tamis__form_room_init(struct tamis__form_room *room)
{
    room->blocks = NULL;
    room->used = 0;
}

/* Makes the form of a key, which lives as long as both the key and the room do.  Returns 0 or
 * TAMIS_ENOMEM. */
int tamis__form_key(const struct tamis__key_rule *rule, const void *key, size_t bytes,
                    struct tamis__form_room *room, struct tamis_key *form);
/* The same for `count` keys, which were checked. */
int tamis__form_keys(const struct tamis__key_rule *rule, const struct tamis_key *keys, size_t count,
                     struct tamis__form_room *room, struct tamis_key *forms);
/* Gives all memory back but one block: the forms that were made so far are gone. */
void tamis__form_room_reuse(struct tamis__form_room *room);
void tamis__form_room_clear(struct tamis__form_room *room);

/* So many keys of a batch get their forms at once. */
#define TAMIS__FORMS_AT_ONCE 1024u

/* Forms of a batch, TAMIS__FORMS_AT_ONCE at a time:
 *
 *     struct tamis__form_walk walk;
 *     tamis__form_walk_begin(&walk, rule, keys, count);
 *     while ((rc = tamis__form_walk_next(&walk)) > 0)
 *         ... walk.forms, walk.now; they are of keys[walk.done] and so on
 *     tamis__form_walk_end(&walk);
 */
struct tamis__form_walk {
    const struct tamis__key_rule *rule;
    const struct tamis_key *keys;
    size_t count;
    size_t done, now;
    struct tamis__form_room room;
    struct tamis_key forms[TAMIS__FORMS_AT_ONCE];
};
void tamis__form_walk_begin(struct tamis__form_walk *walk, const struct tamis__key_rule *rule,
                            const struct tamis_key *keys, size_t count);
/* Returns how many forms there are now, 0 at the end, or TAMIS_ENOMEM. */
int64_t tamis__form_walk_next(struct tamis__form_walk *walk);
void tamis__form_walk_end(struct tamis__form_walk *walk);
