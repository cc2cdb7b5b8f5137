/* SPDX-License-Identifier: BSD-2-Clause */
/* model.c: the order of a key's elements, the rules by which NEW is told, and the tally. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "states.h"

_Static_assert(RACERS_MAX * 2 * ELEMENTS_MAX <= 64, "an outcome is a 64-bit number");

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

void tally_clear(struct tally *tally)
{
    free(tally->outcome);
    tally_init(tally);
}

void tally_outcome(struct tally *tally, const uint8_t *missing, const uint8_t *flipped)
{
    uint16_t part[RACERS_MAX] = {0};
    uint64_t outcome = 0;
    size_t at = 0;

    for (int racer = 0; racer < RACERS_MAX; racer++) {
        uint16_t mine = (uint16_t)(missing[racer] << ELEMENTS_MAX | flipped[racer]);
        int i = racer;
        for (; i > 0 && part[i - 1] > mine; i--)
            part[i] = part[i - 1];
        part[i] = mine;
    }
    for (int i = 0; i < RACERS_MAX; i++)
        outcome = outcome << 2 * ELEMENTS_MAX | part[i];

    for (size_t end = tally->outcomes; at < end;) {
        size_t middle = at + (end - at) / 2;
        if (tally->outcome[middle] < outcome)
            at = middle + 1;
        else
            end = middle;
    }
    if (at < tally->outcomes && tally->outcome[at] == outcome) return;

    uint64_t *grown = model_alloc(tally->outcomes + 1, sizeof(*grown));
    if (tally->outcomes > 0) {
        memcpy(grown, tally->outcome, at * sizeof(*grown));
        memcpy(grown + at + 1, tally->outcome + at, (tally->outcomes - at) * sizeof(*grown));
    }
    grown[at] = outcome;
    free(tally->outcome);
    tally->outcome = grown;
    tally->outcomes++;
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
