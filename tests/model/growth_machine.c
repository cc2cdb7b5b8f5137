/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * growth_machine.c: an abstract machine for adders of one key, growers and openers on a list of
 * segments; every state that it can reach is visited once.
 *
 * MEMORY.  A place is a word of a segment (reduced to: has it all the key's bits there, or not) or
 * the `next` of a segment (is it set, or not).  Each goes from 0 to 1 once, so a history is two
 * values and a view, what a process may not unsee, is a set of places.  As in machine.c, with the
 * fences of the view machines of Kang et al. 2017:
 *
 *     load      of a place in the view: 1.  Else 0, and if it has been set also 1: then the view
 *               takes over what was attached to it (acquire).  Where memory is not stale: what is
 *               there.
 *     OR, CAS   sees what is there; if it sets the place it attaches its view (release)
 *     fence     the view and a common one are joined, and both become that
 *     locks     the catalog has a view too: who gets the lock takes it over, who gives it back adds
 *               to it
 *
 * That one that sets nothing attaches nothing loses no behaviour: machine.c says why.
 *
 * PROCESSES.  An adder has a list of n segments and runs through the steps of add_key() and of
 * view.c: follow `next` (each step of it with its fence), ask the older segments, newest first, add
 * to the newest, fence, look at its `next`, go on.  A grower commits and sets `next` under the
 * exclusive lock; an opener reads the catalog's list under the shared one, and sets what is not set
 * yet.  Death gives a lock back.
 */
#include <stdlib.h>
#include <string.h>

#include "growth.h"
#include "states.h"

enum pc { FOLLOW, LIST_FENCE, OPEN, LINK, ASK, LOAD, OR, WIN_FENCE, LOOK, NEW, SEEN, DEAD, ABSENT };
enum grower_pc { GROW_BEGIN, GROW_LINK, GROW_COMMIT, GROW_LEAVE, GROW_END, GROW_DEAD };

struct adder {
    uint8_t pc;
    uint8_t view;
    uint8_t n;       /* segments in its list           */
    uint8_t from;    /* the first one to ask           */
    uint8_t segment; /* being asked, or being linked   */
    uint8_t word;
    uint8_t missing;
    uint8_t flipped; /* by the last OR                 */
};

struct grower {
    uint8_t pc;
    uint8_t view;
};

/* All bytes, without holes: states are compared by memcmp. */
struct growth_state {
    struct adder adder[ADDERS_MAX];
    struct grower grower[GROWERS_MAX];
    uint8_t set; /* the places, a bit each */
    uint8_t attached[8];
    uint8_t fenced, locked; /* the fences' common view; the catalog's */
    uint8_t committed;      /* segments in the catalog's list */
    uint8_t exclusive;      /* a grower has the lock */
    uint8_t shared;         /* so many openers have it */
    uint8_t killed;
    uint8_t unused[4];
    uint8_t used; /* never 0 */
};
_Static_assert(sizeof(struct growth_state) == 48, "no holes, and a whole number of words");
_Static_assert(SEGMENTS_MAX *KEY_WORDS_MAX + SEGMENTS_MAX - 1 <= 8, "a set of places is a byte");

struct search {
    const struct growth *growth;
    struct growth_tally *tally;
    struct states states;
    uint64_t attempts; /* steps tried */
    struct growth_step path[RUN_MAX];
    int depth;
};

static uint8_t place_of_word(int segment, int word)
{
    return (uint8_t)(segment * KEY_WORDS_MAX + word);
}

static uint8_t place_of_next(int segment)
{
    return (uint8_t)(SEGMENTS_MAX * KEY_WORDS_MAX + segment);
}

static bool is_in(uint8_t set, uint8_t place)
{
    return set >> place & 1;
}

/* ---- Memory ------------------------------------------------------------------------------- */

/* Values that a load may return: bit 0: 0, bit 1: 1. */
static unsigned readable(const struct growth *growth, const struct growth_state *state,
                         uint8_t view, uint8_t place)
{
    if (!is_in(state->set, place)) return 1;
    return !growth->stale || is_in(view, place) ? 2 : 3;
}

static void see(const struct growth_state *state, uint8_t *view, uint8_t place)
{
    *view |= (uint8_t)(1u << place | state->attached[place]);
}

/* An OR or a CAS; returns whether it set the place. */
static bool set_place(struct growth_state *state, uint8_t *view, uint8_t place)
{
    const bool sets = !is_in(state->set, place);
    *view |= (uint8_t)(1u << place);
    if (sets) {
        state->set |= (uint8_t)(1u << place);
        state->attached[place] = *view;
    }
    return sets;
}

static void fence(struct growth_state *state, uint8_t *view)
{
    state->fenced |= *view;
    *view = state->fenced;
}

/* Equal futures, equal states: what an ended process saw is over, and adders have no names. */
static struct growth_state tidy(const struct growth *growth, const struct growth_state *state)
{
    struct growth_state tidied = *state;
    struct adder *adders = tidied.adder;
    for (int i = 0; i < growth->adders; i++) {
        struct adder adder = {.pc = adders[i].pc};
        int at = i;
        if (adder.pc < NEW) adder = adders[i];
        for (; at > 0 && memcmp(&adders[at - 1], &adder, sizeof adder) > 0; at--)
            adders[at] = adders[at - 1];
        adders[at] = adder;
    }
    return tidied;
}

/* ---- The steps ---------------------------------------------------------------------------- */

static void visit(struct search *search, const struct growth_state *state);

static void step(struct search *search, const struct growth_state *next, const char *what, char who,
                 int segment, int word)
{
    const struct growth_state tidied = tidy(search->growth, next);
    search->attempts++;
    if (search->depth == RUN_MAX) abort(); /* growth.h has it too small */
    search->path[search->depth++] =
        (struct growth_step){what, who, (uint8_t)(segment + 1), (uint8_t)(word + 1)};
    if (states_enter(&search->states, &tidied)) {
        search->tally->states++;
        visit(search, next);
    }
    search->depth--;
}

/* To the segment before, or, all being asked, to the adding. */
static void ask_next(struct adder *me, int segment)
{
    me->word = 0;
    me->missing = 0;
    me->flipped = 0;
    me->pc = segment >= me->from ? ASK : LOAD;
    me->segment = (uint8_t)(me->pc == ASK ? segment : me->n - 1);
}

static void load_next(struct search *search, const struct growth_state *state, int i)
{
    const struct growth *growth = search->growth;
    const bool look = state->adder[i].pc == LOOK;
    const int newest = state->adder[i].n - 1;
    const uint8_t place = place_of_next(newest);
    const unsigned values =
        newest + 1 < growth->segments ? readable(growth, state, state->adder[i].view, place) : 1;
    for (int value = 0; value < 2; value++) {
        struct growth_state next = *state;
        struct adder *me = &next.adder[i];
        if (!(values >> value & 1)) continue;
        if (value == 1) {
            see(&next, &me->view, place);
            if (look) me->from = me->n;
            me->n++;
            me->pc = growth->no_list_fence ? FOLLOW : LIST_FENCE;
        } else if (look) {
            me->pc = NEW;
        } else {
            ask_next(me, me->n - 2);
        }
        step(search, &next,
             value  ? "reads next: set"
             : look ? "reads next: 0, NEW"
                    : "reads next: 0",
             (char)('A' + i), newest, -1);
    }
}

static void load_word(struct search *search, const struct growth_state *state, int i)
{
    const struct growth *growth = search->growth;
    const struct adder *was = &state->adder[i];
    const uint8_t place = place_of_word(was->segment, was->word);
    const unsigned values = readable(growth, state, was->view, place);
    for (int value = 0; value < 2; value++) {
        struct growth_state next = *state;
        struct adder *me = &next.adder[i];
        if (!(values >> value & 1)) continue;
        if (value == 1) see(&next, &me->view, place);
        if (me->pc == ASK && value == 0) {
            ask_next(me, was->segment - 1);
        } else {
            if (value == 0) me->missing |= (uint8_t)(1u << me->word);
            if (++me->word == growth->words) {
                me->pc = me->pc == LOAD && me->missing ? OR : SEEN;
                me->word = me->missing & 1 ? 0 : 1;
            }
        }
        const bool seen = me->pc == SEEN;
        step(search, &next,
             seen    ? "reads it, SEEN"
             : value ? "reads it"
                     : "reads it as missing",
             (char)('A' + i), was->segment, was->word);
    }
}

static void or_word(struct search *search, const struct growth_state *state, int i)
{
    struct growth_state next = *state;
    struct adder *me = &next.adder[i];
    const int word = me->word;
    me->flipped = set_place(&next, &me->view, place_of_word(me->segment, word));
    const bool flipped = me->flipped;
    if (word == 0 && me->missing == 3) {
        me->word = 1;
    } else if (!me->flipped) {
        me->pc = SEEN;
    } else {
        me->pc = search->growth->no_look ? NEW : search->growth->no_win_fence ? LOOK : WIN_FENCE;
    }
    const bool seen = me->pc == SEEN;
    step(search, &next,
         seen      ? "ORs in vain, SEEN"
         : flipped ? "ORs it"
                   : "ORs in vain",
         (char)('A' + i), state->adder[i].segment, word);
}

/* Under the shared lock: the catalog's list, each segment of which then names the next one. */
static void open_handle(struct search *search, const struct growth_state *state, int i)
{
    struct growth_state next = *state;
    struct adder *me = &next.adder[i];
    if (me->pc == OPEN) {
        if (state->exclusive) return;
        next.shared++;
        me->view |= next.locked;
        me->n = next.committed;
        me->pc = LINK;
        step(search, &next, "locks, reads the catalog", (char)('A' + i), me->n - 1, -1);
        return;
    }
    const int segment = me->segment++;
    if (segment == me->n - 1) {
        next.locked |= me->view;
        next.shared--;
        me->pc = search->growth->no_list_fence ? FOLLOW : LIST_FENCE;
        step(search, &next, "unlocks", (char)('A' + i), segment, -1);
        return;
    }
    const uint8_t place = place_of_next(segment);
    if (is_in(next.set, place))
        see(&next, &me->view, place);
    else if (!search->growth->no_link)
        (void)set_place(&next, &me->view, place);
    step(search, &next, "links", (char)('A' + i), segment, -1);
}

static void adder_step(struct search *search, const struct growth_state *state, int i)
{
    struct growth_state next = *state;
    struct adder *me = &next.adder[i];
    switch ((enum pc)me->pc) {
    case FOLLOW:
    case LOOK:
        load_next(search, state, i);
        break;
    case LIST_FENCE:
    case WIN_FENCE:
        me->pc = me->pc == WIN_FENCE ? LOOK : FOLLOW;
        fence(&next, &me->view);
        step(search, &next, "fence", (char)('A' + i), -1, -1);
        break;
    case OPEN:
    case LINK:
        open_handle(search, state, i);
        break;
    case ASK:
    case LOAD:
        load_word(search, state, i);
        break;
    case OR:
        or_word(search, state, i);
        break;
    case NEW:
    case SEEN:
    case DEAD:
    case ABSENT:
        break;
    }
}

static void grower_step(struct search *search, const struct growth_state *state, int i)
{
    struct growth_state next = *state;
    struct grower *me = &next.grower[i];
    const char who = (char)('X' + i);
    const int newest = state->committed - 1;
    switch ((enum grower_pc)me->pc) {
    case GROW_BEGIN:
        if (state->exclusive || state->shared) return;
        next.exclusive = 1;
        me->view |= next.locked;
        me->pc = GROW_LINK;
        step(search, &next, "locks", who, -1, -1);
        break;
    case GROW_LINK: /* who has the catalog's list has linked it; here in one step, nobody else may
                     */
        for (int s = 0; s < newest && !search->growth->no_link; s++)
            (void)set_place(&next, &me->view, place_of_next(s));
        me->pc = GROW_COMMIT;
        step(search, &next, "has the list", who, newest, -1);
        break;
    case GROW_COMMIT:
        next.committed++;
        next.locked |= me->view;
        me->pc = GROW_LEAVE;
        step(search, &next, "commits", who, newest + 1, -1);
        break;
    case GROW_LEAVE:
        (void)set_place(&next, &me->view, place_of_next(newest - 1));
        next.locked |= me->view;
        next.exclusive = 0;
        *me = (struct grower){.pc = GROW_END};
        step(search, &next, "sets next", who, newest - 1, -1);
        break;
    case GROW_END:
    case GROW_DEAD:
        break;
    }
}

/* ---- Deaths, other keys, the end ---------------------------------------------------------- */

static void kill_any(struct search *search, const struct growth_state *state)
{
    for (int i = 0; !search->growth->growers_only && i < search->growth->adders; i++) {
        struct growth_state next = *state;
        if (state->adder[i].pc >= NEW) continue;
        if (state->adder[i].pc == LINK) next.shared--;
        next.adder[i] = (struct adder){.pc = DEAD};
        next.killed++;
        step(search, &next, "dies", (char)('A' + i), -1, -1);
    }
    for (int i = 0; i + 1 < search->growth->segments; i++) {
        struct growth_state next = *state;
        if (state->grower[i].pc >= GROW_END) continue;
        if (state->grower[i].pc > GROW_BEGIN) next.exclusive = 0;
        next.grower[i] = (struct grower){.pc = GROW_DEAD};
        next.killed++;
        step(search, &next, "dies", (char)('X' + i), -1, -1);
    }
}

static void third_any(struct search *search, const struct growth_state *state)
{
    for (int segment = 0; segment < state->committed; segment++)
        for (int word = 0; word < search->growth->words; word++) {
            struct growth_state next = *state;
            uint8_t view = 0;
            if (!set_place(&next, &view, place_of_word(segment, word))) continue;
            step(search, &next, "another key fills it", 0, segment, word);
        }
}

static bool key_is_in(const struct growth *growth, const struct growth_state *state)
{
    for (int segment = 0; segment < state->committed; segment++) {
        int words = 0;
        for (int word = 0; word < growth->words; word++)
            words += is_in(state->set, place_of_word(segment, word));
        if (words == growth->words) return true;
    }
    return false;
}

static void ending(struct search *search, const struct growth_state *state)
{
    struct growth_tally *tally = search->tally;
    int told = 0, answered = 0;
    for (int i = 0; i < search->growth->adders; i++) {
        told += state->adder[i].pc == NEW;
        answered += state->adder[i].pc == NEW || state->adder[i].pc == SEEN;
    }
    if (answered > 0 && !key_is_in(search->growth, state))
        tally->broken = "all have ended, and no segment of the list has the key";
    if (told < tally->new_min) tally->new_min = told;
    if (told <= tally->new_max) return;
    tally->new_max = told;
    tally->steps = search->depth;
    memcpy(tally->example, search->path, sizeof tally->example);
}

static void visit(struct search *search, const struct growth_state *state)
{
    const struct growth *growth = search->growth;
    bool running = false;
    for (int i = 0; i < growth->adders; i++) {
        const uint64_t before = search->attempts;
        if (state->adder[i].pc >= NEW) continue;
        running = true;
        adder_step(search, state, i);
        if (search->attempts == before && !(state->adder[i].pc == OPEN && state->exclusive))
            search->tally->broken = "an adder cannot go on";
    }
    if (!running) { /* what growers do after the last answer changes no answer */
        ending(search, state);
        return;
    }
    for (int i = 0; i + 1 < growth->segments; i++)
        grower_step(search, state, i);
    if (state->killed < growth->kills) kill_any(search, state);
    if (growth->third) third_any(search, state);
}

void growth_explore(const struct growth *growth, struct growth_tally *tally)
{
    struct search search = {.growth = growth, .tally = tally};
    struct growth_state state;
    memset(&state, 0, sizeof state);
    state.used = 1;
    state.committed = 1;
    for (int i = 0; i < ADDERS_MAX; i++) {
        state.adder[i].pc = i >= growth->adders ? ABSENT : i < growth->openers ? OPEN : FOLLOW;
        state.adder[i].n = i < growth->adders;
    }
    for (int word = 0; word < growth->words; word++)
        if (growth->start >> word & 1) state.set |= (uint8_t)(1u << place_of_word(0, word));
    for (int i = 0; i < ADDERS_MAX; i++)
        state.adder[i].view = i < growth->adders ? state.set : 0;
    states_init(&search.states, sizeof state);
    const struct growth_state tidied = tidy(growth, &state);
    (void)states_enter(&search.states, &tidied);
    tally->states++;
    visit(&search, &state);
    states_clear(&search.states);
}
