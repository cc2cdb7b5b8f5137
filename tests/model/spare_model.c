/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spare_model.c: an exhaustive model of segments that are made ahead (docs/concurrency.md,
 * "Spares").
 *
 * The word `next` of a segment is 0, the offer of a spare, or the number of the segment that goes
 * on after it.  The catalog's record is a list of segments and, behind it, spares.  Up to four
 * actors, a load or an atomic operation a step:
 *
 *     adder      enters what is offered, by one exchange, and goes on where `next` leads, to its
 *                end
 *     maker      takes the guard, the catalog's exclusive lock, and brings the record up to date;
 *                offers the spare that the record has, or makes one or two, commits and offers
 *     beside     a maker without the guard, whose owner is taken for stopped
 *     publisher  takes the spares back under the exclusive lock and commits a record without them,
 *                as a change of the exceptions does
 *     rotator    the same with a new segment that begins at once, and is told behind the commit
 *     opener     makes its list from the record under the shared lock, links it, and goes on as an
 *                adder
 *
 * Every interleaving is tried, with deaths at any step, which give locks back.  In every state:
 *
 *     nobody is in a spare that was taken out of the record
 *     each segment that somebody is in is a part of the list, once the record is brought up to date
 *     what is offered is the first spare of the record
 *     a `next` that is a number stays so, and is that of the segment after it in the list
 *
 * and when all have ended and nobody died, `next` leads from where each of them was to the end of
 * the list.  The controls change one thing, and somebody must come into a spare that was taken out.
 *
 * Usage: spare_model
 * Exit status: 0 all is as expected, 1 something is not, 2 no memory.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "states.h"

enum { ACTORS_MAX = 4, NUMBERS_MAX = 6, SPARE = 16 };

enum kind { ADDER, MAKER, BESIDE, PUBLISHER, ROTATOR, OPENER, KINDS };
static const char *const kind_names[KINDS] = {"adder",     "maker",   "beside",
                                              "publisher", "rotator", "opener"};

enum break_rule { WHOLE, NO_TAKE_BACK, BLIND_TAKE_BACK, LATE_OFFER, STORED_ENTRY };
static const char *const left_out[] = {"-", "taking back", "the look at who entered",
                                       "the lock of the offer", "the exchange of an entry"};

enum pc {
    LOOK,  /* an adder, at the next of its segment */
    ENTER, /* it has seen an offer */
    GUARD,
    LOOK_UNDER_GUARD,
    LOCK,
    UPDATE, /* the record is brought up to date; from here to UNLOCK the catalog is locked */
    CHECK,
    COMMIT_SPARES,
    OFFER,
    LOOK_BACK,
    TAKE_BACK,
    COMMIT_WITHOUT,
    LEAVE,
    LINK_LOOK,
    LINK_STORE,
    LINK_NEWEST,
    UNLOCK,
    LATE,
    END,
    DEAD
};

struct actor {
    uint8_t kind, pc;
    uint8_t segment; /* the newest that it knows of */
    uint8_t seen;    /* a `next` that it has read */
    uint8_t last;    /* index of the newest segment in the record, as it is up to date */
    uint8_t at;      /* an opener: the segment that it links */
    uint8_t guard;   /* the segment of which it has the guard; 0: none */
    uint8_t unused;
};

/* All bytes, without holes: states are compared by memcmp. */
struct state {
    struct actor actor[ACTORS_MAX];
    uint8_t next[NUMBERS_MAX + 1];
    uint8_t chain[NUMBERS_MAX]; /* the record: segments, then spares */
    uint8_t segments, spares;
    uint8_t given; /* the last number that was given out */
    uint8_t exclusive, shared;
    uint8_t entered, gone; /* a bit each */
    uint8_t killed;
    uint8_t unused[2];
    uint8_t used; /* never 0 */
};
_Static_assert(sizeof(struct state) == 56, "no holes, and a whole number of words");

struct setting {
    int actors, kills;
    enum break_rule broken;
    uint8_t kind[ACTORS_MAX];
};

struct search {
    const struct setting *setting;
    struct states states;
    const char *wrong; /* what did not hold; NULL: all did */
};

static uint8_t bit(int number)
{
    return (uint8_t)(1u << number);
}

static bool is_number(uint8_t next)
{
    return next != 0 && next < SPARE;
}

/* ---- What holds in every state --------------------------------------------------------------- */

/* Index of the newest segment of the record, once it is up to date. */
static int find_last(const struct state *state)
{
    int last = state->segments - 1;
    while (last + 1 < state->segments + state->spares &&
           state->next[state->chain[last]] == state->chain[last + 1])
        last++;
    return last;
}

static const char *find_wrong(const struct state *state, bool all)
{
    const int last = find_last(state);
    uint8_t list = 0;
    if (state->entered & state->gone) return "somebody is in a spare that was taken out";
    for (int i = 0; all && i <= last; i++) {
        const uint8_t next = state->next[state->chain[i]];
        list |= bit(state->chain[i]);
        if (i < last && next != 0 && next != state->chain[i + 1])
            return "a segment leads to another than the list says";
        if (i < last || next == 0) continue;
        if (is_number(next)) return "the newest segment leads on";
        if (last + 1 == state->segments + state->spares || next != (SPARE | state->chain[i + 1]))
            return "something else is offered than the record's spare";
    }
    return all && (state->entered & ~list) ? "somebody is in a segment that is not in the list"
                                           : NULL;
}

static void visit(struct search *search, const struct state *state);

/* Equal futures, equal states: actors have no names. */
static void go(struct search *search, const struct state *next)
{
    struct state tidy = *next;
    for (int i = 0; i < search->setting->actors; i++) {
        struct actor actor = tidy.actor[i];
        int at = i;
        if (actor.pc == DEAD) actor = (struct actor){.pc = DEAD};
        if (actor.pc == END)
            actor = (struct actor){.kind = actor.kind, .pc = END, .segment = actor.segment};
        for (; at > 0 && memcmp(&tidy.actor[at - 1], &actor, sizeof actor) > 0; at--)
            tidy.actor[at] = tidy.actor[at - 1];
        tidy.actor[at] = actor;
    }
    if (search->wrong == NULL && states_enter(&search->states, &tidy)) visit(search, &tidy);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void step_adder(const struct setting *setting, struct state *state, struct actor *me)
{
    uint8_t *next = &state->next[me->segment];
    if (me->pc == LOOK) {
        me->seen = *next;
        me->pc = ENTER;
        if (me->seen >= SPARE) return;
        me->pc = me->seen ? LOOK : END;
        if (me->seen) me->segment = me->seen;
        if (me->seen) state->entered |= bit(me->segment);
    } else { /* a swap that fails has read what is there: the same as to look again */
        if (*next == me->seen || setting->broken == STORED_ENTRY) *next = me->seen & (SPARE - 1);
        me->pc = LOOK;
    }
    me->seen = 0;
}

/* Up to the lock, which not every state has to give. */
static bool step_up_to_lock(struct state *state, struct actor *me)
{
    const uint8_t next = state->next[me->segment];
    switch (me->pc) {
    case GUARD:
        for (int i = 0; i < ACTORS_MAX; i++)
            if (state->actor[i].guard == me->segment) return false;
        if (me->kind == MAKER) me->guard = me->segment;
        me->pc = LOOK_UNDER_GUARD;
        return true;
    case LOOK_UNDER_GUARD:
        me->pc = next == 0 ? LOCK : is_number(next) ? GUARD : END;
        if (is_number(next)) me->segment = next;
        if (is_number(next)) state->entered |= bit(me->segment);
        if (me->pc != LOCK) me->guard = 0;
        return true;
    default:
        if (state->exclusive || (me->kind != OPENER && state->shared > 0)) return false;
        if (me->kind == OPENER)
            state->shared++;
        else
            state->exclusive = 1;
        me->last = (uint8_t)(state->segments - 1);
        me->pc = UPDATE;
        return true;
    }
}

static bool has_spare(const struct state *state, const struct actor *me)
{
    return me->last + 1 < state->segments + state->spares;
}

static void offer(struct state *state, const struct actor *me)
{
    uint8_t *next = &state->next[state->chain[me->last]];
    if (*next == 0 && has_spare(state, me)) *next = SPARE | state->chain[me->last + 1];
}

static void unlock(struct state *state, const struct actor *me)
{
    if (me->kind == OPENER)
        state->shared--;
    else
        state->exclusive = 0;
}

/* So many new spares, behind the list of which the last one is the newest. */
static void commit_spares(struct state *state, const struct actor *me, int count)
{
    state->segments = (uint8_t)(me->last + 1);
    state->spares = (uint8_t)count;
    for (int i = 1; i <= count; i++) {
        const uint8_t number = ++state->given;
        state->chain[me->last + i] = number;
        state->next[number] = i < count ? (uint8_t)(SPARE | (number + 1)) : 0;
    }
}

static void commit_without(struct state *state, struct actor *me)
{
    for (int i = me->last + 1; i < state->segments + state->spares; i++) {
        state->gone |= bit(state->chain[i]);
        state->chain[i] = 0;
    }
    state->segments = (uint8_t)(me->last + 1);
    state->spares = 0;
    me->pc = UNLOCK;
    if (me->kind != ROTATOR || state->given == NUMBERS_MAX) return;
    state->chain[state->segments++] = ++state->given;
    me->pc = LEAVE;
}

static void step_maker(struct search *search, const struct state *state, int i)
{
    struct state next = *state;
    struct actor *me = &next.actor[i];
    if (me->pc == CHECK) {
        me->pc = state->chain[me->last] != me->segment ? UNLOCK
                 : has_spare(state, me)                ? OFFER
                                                       : COMMIT_SPARES;
    } else if (me->pc == COMMIT_SPARES) {
        me->pc = search->setting->broken == LATE_OFFER ? LATE : OFFER;
        if (me->pc == LATE) next.exclusive = 0;
        for (int count = 1; count <= 2 && state->given + count <= NUMBERS_MAX; count++) {
            struct state made = next;
            commit_spares(&made, me, count);
            go(search, &made);
        }
        if (state->given < NUMBERS_MAX) return;
        me->pc = UNLOCK;
        next.exclusive = 1;
    } else {
        if (me->pc == LATE)
            next.next[me->segment] =
                next.next[me->segment] ? next.next[me->segment] : SPARE | next.given;
        else
            offer(&next, me);
        me->pc = me->pc == LATE ? END : UNLOCK;
    }
    go(search, &next);
}

static void step_publisher(const struct setting *setting, struct state *state, struct actor *me)
{
    uint8_t *next = &state->next[state->chain[me->last]];
    switch (me->pc) {
    case LOOK_BACK:
        me->seen = *next;
        if (!has_spare(state, me) || setting->broken == NO_TAKE_BACK || me->seen == 0 ||
            (setting->broken == BLIND_TAKE_BACK && is_number(me->seen)))
            me->pc = COMMIT_WITHOUT;
        else if (me->seen >= SPARE)
            me->pc = TAKE_BACK;
        else
            me->last++; /* entered meanwhile: it is in the list */
        break;
    case TAKE_BACK:
        if (*next == me->seen) *next = 0;
        me->pc = LOOK_BACK;
        break;
    case COMMIT_WITHOUT:
        commit_without(state, me);
        break;
    default: /* LEAVE */
        *next = state->chain[me->last + 1];
        me->pc = UNLOCK;
        break;
    }
    if (me->pc != TAKE_BACK) me->seen = 0;
}

/* What link_segments() of store/handle/view.c does. */
static void step_opener(struct state *state, struct actor *me)
{
    uint8_t *next = &state->next[state->chain[me->at]];
    switch (me->pc) {
    case LINK_LOOK:
        me->pc = LINK_NEWEST;
        if (me->at == me->last) break;
        me->pc = *next == state->chain[me->at + 1] ? LINK_LOOK : LINK_STORE;
        if (me->pc == LINK_LOOK) me->at++;
        break;
    case LINK_STORE:
        *next = state->chain[me->at + 1];
        me->at++;
        me->pc = LINK_LOOK;
        break;
    default: /* LINK_NEWEST; that nothing else stands there is looked at in every state */
        offer(state, me);
        me->segment = state->chain[me->last];
        state->entered |= bit(me->segment);
        me->pc = UNLOCK;
        break;
    }
}

static void step_locked(struct search *search, const struct state *state, int i)
{
    struct state next = *state;
    struct actor *me = &next.actor[i];
    if (me->pc == UPDATE) {
        if (has_spare(state, me) &&
            state->next[state->chain[me->last]] == state->chain[me->last + 1])
            me->last++;
        else
            me->pc = me->kind <= BESIDE ? CHECK : me->kind == OPENER ? LINK_LOOK : LOOK_BACK;
    } else if (me->pc == UNLOCK) {
        unlock(&next, me);
        me->pc = me->kind == OPENER ? LOOK : END;
        me->last = me->at = me->guard = 0;
    } else if (me->pc <= OFFER || me->pc == LATE) {
        step_maker(search, state, i);
        return;
    } else if (me->pc <= LEAVE) {
        step_publisher(search->setting, &next, me);
    } else {
        step_opener(&next, me);
    }
    go(search, &next);
}

static void kill_one(struct search *search, const struct state *state, int i)
{
    struct state next = *state;
    struct actor *me = &next.actor[i];
    if (me->pc >= UPDATE && me->pc <= UNLOCK) unlock(&next, me);
    me->guard = 0;
    me->pc = DEAD;
    next.killed++;
    go(search, &next);
}

/* ---- All runs -------------------------------------------------------------------------------- */

/* Where one comes to that begins at this segment once more. */
static int follow(const struct state *state, int segment)
{
    while (is_number(state->next[segment]))
        segment = state->next[segment];
    return segment;
}

static const char *find_wrong_end(const struct state *state, int actors)
{
    const uint8_t newest = state->chain[find_last(state)];
    for (int i = 0; state->killed == 0 && i < actors; i++)
        if (follow(state, state->actor[i].segment) != newest)
            return "from where one has ended, nothing leads to the end of the list";
    return NULL;
}

static void visit(struct search *search, const struct state *state)
{
    const int actors = search->setting->actors;
    bool running = false, moved = false;
    search->wrong = find_wrong(state, search->setting->broken == WHOLE);
    for (int i = 0; search->wrong == NULL && i < actors; i++) {
        struct state next = *state;
        const uint8_t pc = state->actor[i].pc;
        if (pc >= END) continue;
        running = true;
        if (state->killed < search->setting->kills) kill_one(search, state, i);
        if (pc > LOCK) {
            step_locked(search, state, i);
            moved = true;
            continue;
        }
        if (pc <= ENTER)
            step_adder(search->setting, &next, &next.actor[i]);
        else if (!step_up_to_lock(&next, &next.actor[i]))
            continue; /* it waits for a lock */
        moved = true;
        go(search, &next);
    }
    if (search->wrong != NULL) return;
    if (running && !moved) search->wrong = "nobody can go on";
    if (!running && search->setting->broken == WHOLE) search->wrong = find_wrong_end(state, actors);
}

static int failures;

static void check(const struct setting *setting)
{
    static const uint8_t begin[KINDS] = {LOOK, GUARD, LOOK_UNDER_GUARD, LOCK, LOCK, LOCK};
    struct search search = {.setting = setting};
    struct state state;
    char names[64] = "";
    memset(&state, 0, sizeof state);
    state.used = state.segments = state.given = state.chain[0] = 1;
    state.entered = bit(1);
    for (int i = 0; i < setting->actors; i++) {
        const size_t at = strlen(names);
        const uint8_t kind = setting->kind[i];
        (void)snprintf(names + at, sizeof names - at, "%s%s", i ? " " : "", kind_names[kind]);
        state.actor[i] = (struct actor){.kind = kind, .pc = begin[kind], .segment = 1};
    }
    states_init(&search.states, sizeof state);
    go(&search, &state);
    states_clear(&search.states);
    const bool good = (search.wrong == NULL) == (setting->broken == WHOLE);
    printf("%-42s %6d %-26s %9zu  %s%s\n", names, setting->kills, left_out[setting->broken],
           search.states.used, search.wrong ? search.wrong : "holds", good ? "" : "   FAILED");
    (void)fflush(stdout);
    failures += !good;
}

/* All kinds of actors, in ascending order: who is which makes no difference. */
static void choose_kinds(struct setting *setting, int i, int from)
{
    if (i == setting->actors || i == ACTORS_MAX) {
        check(setting);
        return;
    }
    for (int kind = from; kind < KINDS; kind++) {
        setting->kind[i] = (uint8_t)kind;
        choose_kinds(setting, i + 1, kind);
    }
}

int main(void)
{
    static const struct setting controls[] = {
        {.actors = 3, .kind = {ADDER, MAKER, PUBLISHER}, .broken = NO_TAKE_BACK},
        {.actors = 3, .kind = {ADDER, MAKER, PUBLISHER}, .broken = BLIND_TAKE_BACK},
        {.actors = 3, .kind = {ADDER, MAKER, PUBLISHER}, .broken = LATE_OFFER},
        {.actors = 3, .kind = {ADDER, MAKER, PUBLISHER}, .broken = STORED_ENTRY},
    };
    printf("%-42s %6s %-26s %9s\n", "actors", "deaths", "left out", "states");
    for (int actors = 2; actors <= ACTORS_MAX; actors++) {
        struct setting setting = {.actors = actors, .kills = actors};
        choose_kinds(&setting, 0, 0);
    }
    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++)
        check(&controls[i]);
    return model_end(failures == 0);
}
