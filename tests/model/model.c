/* SPDX-License-Identifier: BSD-2-Clause */
/* model.c: the order of a key's elements, the rules by which NEW is told, and the tally. */
#include "model.h"

/* Does an element of Z before this place name the same bits? */
static bool repeats(const struct key *key, bool reversed, unsigned missing, int place)
{
    const struct element *element = key_visit(key, reversed, place);

    for (int i = 0; i < place; i++) {
        const struct element *other = key_visit(key, reversed, i);
        if ((missing >> i & 1) && other->word == element->word && other->mask == element->mask)
            return true;
    }
    return false;
}

bool rule_says_new(const struct key *key, enum rule rule, bool reversed, unsigned missing,
                   unsigned flipped)
{
    if (rule == RULE_ANY) return flipped != 0;
    for (int place = key->elements - 1; place >= 0; place--) {
        if (!(missing >> place & 1)) continue;
        if (rule == RULE_FRESH && repeats(key, reversed, missing, place)) continue;
        return flipped >> place & 1;
    }
    return false; /* Z is empty: SEEN */
}

void tally_init(struct tally *tally)
{
    *tally = (struct tally){
        .new_min = RACERS_MAX + 1, .new_max = -1, .due_min = RACERS_MAX + 1, .due_max = -1};
}

void tally_ending(struct tally *tally, int told, int owed, int survivors)
{
    tally->endings++;
    if (told < tally->new_min) tally->new_min = told;
    if (told > tally->new_max) tally->new_max = told;
    if (survivors == 0) return;
    if (told + owed < tally->due_min) tally->due_min = told + owed;
    if (told + owed > tally->due_max) tally->due_max = told + owed;
}
