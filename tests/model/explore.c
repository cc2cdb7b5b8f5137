/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * explore.c: walk through every state that the machine can reach.
 *
 * Depth first, with a table of the states already entered (states.h): a state entered before has
 * the same future, so it is not walked again.  States that differ only in which racer is which
 * count as one. A run cannot go round in circles (every step finishes something), so the depth is
 * bounded by STEPS_MAX and recursion is safe.
 *
 * Checked on the way, beside what the tally counts:
 *   - a racer that has not answered always has a step it can take, whatever the others do and
 *     wherever they die: nobody waits for anybody;
 *   - whoever answers, NEW or SEEN, can no longer read the key as absent: every value of every word
 *     that its view still lets it read has all the key's bits, so contains() then says yes;
 *   - when all have ended and one of them lives, all bits of the key are set.
 */
#include <string.h>

#include "machine.h"
#include "states.h"

struct walk {
    const struct setting *setting;
    struct tally *tally;
    struct states states;
    int depth;
    struct step path[STEPS_MAX];
};

static bool key_is_set(const struct setting *setting, const struct state *state)
{
    for (int i = 0; i < setting->key->words; i++) {
        uint8_t lacking =
            setting->key->mask[i] & (uint8_t)~state->word[i].bits[state->word[i].newest];
        if (lacking != 0) return false;
    }
    return true;
}

/* Could the racer still read the key as absent? */
static bool key_can_seem_absent(const struct setting *setting, const struct state *state,
                                const struct racer *racer)
{
    for (int i = 0; i < setting->key->words; i++) {
        int oldest = machine_oldest(state, racer, i);
        for (int value = oldest; value <= state->word[i].newest; value++)
            if ((state->word[i].bits[value] & setting->key->mask[i]) != setting->key->mask[i])
                return true;
    }
    return false;
}

static void ending(struct walk *walk, const struct state *state)
{
    int told = 0, owed = 0, survivors = 0;

    for (int i = 0; i < walk->setting->racers; i++) {
        told += state->racer[i].end == END_NEW;
        owed += state->racer[i].end == END_DEAD_OWED;
        survivors += state->racer[i].end == END_NEW || state->racer[i].end == END_SEEN;
    }
    if (survivors > 0 && !key_is_set(walk->setting, state))
        walk->tally->broken = "all have ended, and the key is not set";
    if (told > walk->tally->new_max) {
        walk->tally->steps = walk->depth;
        memcpy(walk->tally->example, walk->path, sizeof(walk->path));
    }
    tally_ending(walk->tally, told, owed, survivors);
}

static void visit(struct walk *walk, const struct state *state);

/* The state after a step: enter it if it is new. */
static void follow(struct walk *walk, struct state *state, struct step step)
{
    machine_tidy(walk->setting, state);
    struct packed packed = machine_pack(walk->setting, state);
    if (!states_enter(&walk->states, &packed)) return;
    walk->tally->states++;
    walk->path[walk->depth++] = step;
    visit(walk, state);
    walk->depth--;
}

/* Everything that one racer can do next; returns in how many ways. */
static int follow_racer(struct walk *walk, const struct state *state, int index)
{
    const struct setting *setting = walk->setting;
    const struct racer *racer = &state->racer[index];
    int ways = 0;

    for (int place = 0; place < setting->key->elements; place++) {
        if (machine_load_ready(setting, racer, place)) {
            int word = key_visit(setting->key, racer->reversed, place)->word;
            for (int value = machine_oldest(state, racer, word); value <= state->word[word].newest;
                 value++, ways++) {
                struct state next = *state;
                follow(walk, &next, machine_load(setting, &next, index, place, value));
            }
        }
        if (machine_or_ready(setting, racer, place)) {
            struct state next = *state;
            struct step step = machine_or(setting, &next, index, place);
            walk->tally->ors++;
            follow(walk, &next, step);
            ways++;
        }
    }
    if (machine_answer_ready(setting, racer)) {
        struct state next = *state;
        if (key_can_seem_absent(setting, state, racer))
            walk->tally->broken = "a racer answered while the key could still be read as absent";
        follow(walk, &next, machine_answer(setting, &next, index));
        ways++;
    }
    return ways;
}

/* Other keys: any number of adders, each known to nobody before, may set any of our bits that are
 * lacking, some or all of a word's at a time.  An adder with a past would carry a greater view, and
 * let others read less; so these are the worst that other keys can do. */
static void follow_third(struct walk *walk, const struct state *state)
{
    for (int word = 0; word < walk->setting->key->words; word++) {
        const struct word *at = &state->word[word];
        unsigned lacking = walk->setting->key->mask[word] & ~(unsigned)at->bits[at->newest];
        for (unsigned bits = lacking; bits != 0; bits = (bits - 1) & lacking) {
            struct state next = *state;
            follow(walk, &next, machine_third(walk->setting, &next, word, (uint8_t)bits));
        }
    }
}

static void visit(struct walk *walk, const struct state *state)
{
    const struct setting *setting = walk->setting;
    bool running = false, dead = false;

    for (int i = 0; i < setting->racers; i++)
        dead |= state->racer[i].end == END_DEAD || state->racer[i].end == END_DEAD_OWED;
    for (int i = 0; i < setting->racers; i++) {
        if (state->racer[i].end != END_NONE) continue;
        running = true;
        if (follow_racer(walk, state, i) == 0) walk->tally->broken = "a racer cannot go on";
        if (setting->kill && !dead) {
            struct state next = *state;
            follow(walk, &next, machine_kill(setting, &next, i));
        }
    }
    if (!running)
        ending(walk, state);
    else if (setting->third)
        follow_third(walk, state);
}

void explore(const struct setting *setting, struct tally *tally)
{
    struct walk walk = {.setting = setting, .tally = tally};
    struct state state;

    states_init(&walk.states, sizeof(struct packed));
    machine_start(setting, &state);
    struct packed packed = machine_pack(setting, &state);
    states_enter(&walk.states, &packed);
    tally->states++;
    visit(&walk, &state);
    states_clear(&walk.states);
}
