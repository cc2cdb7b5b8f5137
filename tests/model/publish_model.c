/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * publish_model.c: an exhaustive model of publications and of the handles that follow them
 * (docs/concurrency.md, "Publishing", "Another list" and "Without the lock").
 *
 * The catalog says which list is in force, with which exceptions, since which publication.  The
 * newest segment of each list has live words: epoch, next, exceptions, in_force.  Up to four
 * actors, a load, a store or a commit a step:
 *
 *     builder, roller, excepter, dropper
 *                publishers: take the exclusive lock, raise the epoch of the list in force, commit,
 *                tell the words, unlock; one that rolls back takes `next` of the list that comes
 *                back away before it commits
 *     stranger   takes the exclusive lock, and gives it back some time or never
 *     opener     writes the words from the record, under the shared lock
 *     handle     makes up to three calls; in each it reads the words, follows them, asks the
 *                catalog with the lock or, if that is not free, without it, and answers
 *
 * Every interleaving is tried, with deaths at any step, which give locks back.  Always:
 *
 *     a call answers from a list, with exceptions, that were in force together at some moment
 *     between its begin and its end
 *     a handle comes to its answer without the lock, whoever has it
 *     an adder's list has nothing behind it, or its add would be taken for one in a left segment
 *
 * That the read without the lock gives what is in force at one moment is proven in the text; here
 * it is one step.  The controls change one thing, and something above must break.
 *
 * Usage: publish_model
 * Exit status: 0 all is as expected, 1 something is not, 2 no memory.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "states.h"

enum { ACTORS_MAX = 4, LISTS_MAX = 6, CALLS = 3, GONE = LISTS_MAX, NO_NEXT = 0, DROPPED = 15 };

enum kind { BUILDER, ROLLER, EXCEPTER, DROPPER, STRANGER, OPENER, HANDLE, KINDS };
static const char *const kind_names[KINDS] = {"builder",  "roller", "excepter", "dropper",
                                              "stranger", "opener", "handle"};

enum break_rule { WHOLE, NO_PEEK, LATE_EPOCH, EARLY_WORDS, LATE_WIPE, EPOCH_NOTED };
static const char *const changes[] = {"-",
                                      "goes on if the lock is taken",
                                      "epoch behind the commit",
                                      "words before the commit",
                                      "next taken away behind it",
                                      "epoch noted without lock"};

enum pc {
    LOCK, /* a publisher, a stranger, an opener */
    RAISE,
    WIPE,
    COMMIT,
    TELL_EXCEPTIONS,
    TELL_IN_FORCE,
    TELL_NEXT,
    UNLOCK,
    BEGIN, /* a handle */
    READ_EPOCH,
    READ_NEXT,
    READ_EXCEPTIONS,
    CHAIN,
    CHAIN_EXCEPTIONS,
    EXCHANGE,
    ASK,
    PEEKED,
    ANSWER,
    END,
    DEAD
};

/* What is in force together. */
struct force {
    uint8_t list, exceptions;
};

struct words {
    uint8_t epoch, next, exceptions, in_force; /* next: 1 + a list, NO_NEXT or DROPPED */
};

struct actor {
    uint8_t kind, pc, calls;
    uint8_t moved;       /* a handle: a word is not what it remembers */
    struct force now;    /* its view; of a publisher: what it puts in force */
    uint8_t publication; /* of the view */
    struct words memo;   /* of the view; in_force: what was read on the way */
    uint8_t to;          /* the list that a word led to; of a publisher the list before */
    uint8_t during;      /* publications that were in force during the call, a bit each */
    uint8_t unused[3];
};

/* All bytes, without holes: states are compared by memcmp. */
struct state {
    struct actor actor[ACTORS_MAX];
    struct words words[LISTS_MAX];
    struct force history[8]; /* by publication */
    uint8_t publication, lists;
    uint8_t exclusive, shared;
    uint8_t killed;
    uint8_t unused[2];
    uint8_t used; /* never 0 */
};
_Static_assert(sizeof(struct state) % 8 == 0 && sizeof(struct actor) == 16, "no holes");

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

static const struct force *in_force(const struct state *state)
{
    return &state->history[state->publication];
}

static void visit(struct search *search, const struct state *state);

static void go(struct search *search, const struct state *next)
{
    if (search->wrong == NULL && states_enter(&search->states, next)) visit(search, next);
}

/* ---- Publishers ------------------------------------------------------------------------------ */

/* What it puts in force.  Returns false if there is nothing to do. */
static bool choose(struct state *state, struct actor *me)
{
    me->to = in_force(state)->list;
    me->now = *in_force(state);
    if (me->to == GONE) return false;
    if (me->kind == BUILDER) {
        me->now.list = state->lists;
        state->words[state->lists] =
            (struct words){0, NO_NEXT, me->now.exceptions, (uint8_t)(state->publication + 1)};
        state->lists++;
    } else if (me->kind == ROLLER) {
        me->now.list = me->to > 0 ? (uint8_t)(me->to - 1) : (uint8_t)(state->lists - 1);
        return state->lists > 1;
    } else if (me->kind == EXCEPTER) {
        me->now.exceptions++;
    } else {
        me->now.list = GONE;
    }
    return true;
}

static void commit(struct state *state, const struct actor *me)
{
    state->history[++state->publication] = me->now;
    for (int i = 0; i < ACTORS_MAX; i++)
        if (state->actor[i].kind == HANDLE && state->actor[i].pc > BEGIN)
            state->actor[i].during |= bit(state->publication);
}

static bool tells_list(const struct actor *me)
{
    return me->kind == ROLLER || me->kind == EXCEPTER;
}

static void tell(struct state *state, struct actor *me, bool first)
{
    struct words *own = &state->words[me->now.list % LISTS_MAX];
    const uint8_t publication = (uint8_t)(state->publication + first);
    if (me->pc == TELL_EXCEPTIONS && tells_list(me)) own->exceptions = me->now.exceptions;
    if (me->pc == TELL_IN_FORCE && tells_list(me)) own->in_force = publication;
    if (me->pc == TELL_NEXT && me->now.list != me->to)
        state->words[me->to].next = me->now.list == GONE ? DROPPED : (uint8_t)(1 + me->now.list);
}

/* The step behind this one.  EARLY_WORDS: the words are told before the commit. */
static uint8_t behind(enum break_rule broken, uint8_t pc)
{
    static const uint8_t early[] = {[LOCK] = RAISE,
                                    [RAISE] = WIPE,
                                    [WIPE] = TELL_EXCEPTIONS,
                                    [TELL_EXCEPTIONS] = TELL_IN_FORCE,
                                    [TELL_IN_FORCE] = TELL_NEXT,
                                    [TELL_NEXT] = COMMIT,
                                    [COMMIT] = UNLOCK},
                         late[] = {[LOCK] = COMMIT,
                                   [COMMIT] = RAISE,
                                   [RAISE] = WIPE,
                                   [WIPE] = TELL_EXCEPTIONS,
                                   [TELL_EXCEPTIONS] = TELL_IN_FORCE,
                                   [TELL_IN_FORCE] = TELL_NEXT,
                                   [TELL_NEXT] = UNLOCK},
                         wiping[] = {[LOCK] = RAISE,
                                     [RAISE] = COMMIT,
                                     [COMMIT] = TELL_EXCEPTIONS,
                                     [TELL_EXCEPTIONS] = TELL_IN_FORCE,
                                     [TELL_IN_FORCE] = WIPE,
                                     [WIPE] = TELL_NEXT,
                                     [TELL_NEXT] = UNLOCK};
    return broken == EARLY_WORDS  ? early[pc]
           : broken == LATE_EPOCH ? late[pc]
           : broken == LATE_WIPE  ? wiping[pc]
                                  : (uint8_t)(pc + 1);
}

/* Returns false if it waits for the lock. */
static bool step_publisher(const struct setting *setting, struct state *state, struct actor *me)
{
    switch (me->pc) {
    case LOCK:
        if (state->exclusive || state->shared > 0) return false;
        state->exclusive = 1;
        if (!choose(state, me)) {
            me->pc = UNLOCK;
            return true;
        }
        break;
    case RAISE:
        state->words[me->to].epoch++;
        break;
    case WIPE:
        if (tells_list(me)) state->words[me->now.list].next = NO_NEXT;
        break;
    case COMMIT:
        commit(state, me);
        break;
    case UNLOCK:
        state->exclusive = 0;
        *me = (struct actor){.kind = me->kind, .pc = END};
        return true;
    default:
        tell(state, me, setting->broken == EARLY_WORDS);
        break;
    }
    me->pc = behind(setting->broken, me->pc);
    return true;
}

/* A stranger, or an opener, which has the lock shared. */
static bool step_other(struct state *state, struct actor *me)
{
    const struct force *now = in_force(state);
    const bool opens = me->kind == OPENER;
    if (me->pc == LOCK) {
        if (state->exclusive || (!opens && state->shared > 0)) return false;
        if (opens)
            state->shared++;
        else
            state->exclusive = 1;
        me->pc = opens && now->list != GONE ? TELL_EXCEPTIONS : UNLOCK;
    } else if (me->pc == TELL_EXCEPTIONS) {
        state->words[now->list].exceptions = now->exceptions;
        me->pc = TELL_IN_FORCE;
    } else if (me->pc == TELL_IN_FORCE) {
        if (state->words[now->list].in_force < state->publication)
            state->words[now->list].in_force = state->publication;
        me->pc = UNLOCK;
    } else {
        if (opens)
            state->shared--;
        else
            state->exclusive = 0;
        me->pc = END;
    }
    return true;
}

/* ---- A handle -------------------------------------------------------------------------------- */

static bool is_list(uint8_t next)
{
    return next != NO_NEXT && next != DROPPED;
}

static void take(struct state *state, struct actor *me, struct force now, uint8_t publication,
                 bool locked)
{
    const struct words *words = &state->words[now.list % LISTS_MAX];
    me->now = now;
    me->publication = publication;
    if (now.list == GONE) return;
    me->memo = *words;
    if (!locked) me->memo.epoch--;
}

static void step_words(struct state *state, struct actor *me)
{
    const struct words *words = &state->words[me->now.list];
    if (me->pc == READ_EPOCH)
        me->moved = words->epoch != me->memo.epoch;
    else if (me->pc == READ_NEXT)
        me->moved |= words->next != me->memo.next;
    else
        me->moved |= words->exceptions != me->memo.exceptions;
    me->pc = me->pc != READ_EXCEPTIONS ? (uint8_t)(me->pc + 1) : me->moved ? CHAIN : ANSWER;
}

/* follow_chain() of store/handle/follow.c: by the words, which are read one after the other. */
static void step_chain(struct state *state, struct actor *me)
{
    const struct words *own = &state->words[me->now.list];
    if (me->pc == CHAIN) {
        me->pc = ASK;
        if (own->next == DROPPED) {
            me->now.list = GONE;
            me->pc = ANSWER;
        } else if (is_list(own->next) && state->words[own->next - 1].in_force > me->publication) {
            me->to = (uint8_t)(own->next - 1);
            me->memo.in_force = state->words[me->to].in_force;
            me->pc = CHAIN_EXCEPTIONS;
        } else if (!is_list(own->next) && own->exceptions != me->memo.exceptions &&
                   own->in_force > me->publication) {
            me->memo.in_force = own->in_force;
            me->to = me->now.list;
            me->pc = CHAIN_EXCEPTIONS;
        }
        return;
    }
    take(state, me, (struct force){me->to, state->words[me->to].exceptions}, me->memo.in_force,
         false);
    me->pc = CHAIN;
}

static const char *step_catalog(const struct setting *setting, struct state *state,
                                struct actor *me)
{
    const struct force *now = in_force(state);
    const bool same = memcmp(now, &me->now, sizeof *now) == 0;
    me->moved = me->memo.in_force = me->to = 0;
    me->pc = ANSWER;
    if (!state->exclusive || setting->broken == EPOCH_NOTED) {
        take(state, me, *now, state->publication, true);
    } else if (setting->broken != NO_PEEK && !same) {
        if (now->list != GONE && is_list(state->words[now->list].next))
            return "a handle must wait for the lock";
        take(state, me, *now, state->publication, false);
    }
    return NULL;
}

/* Was what it answers from in force at a moment of the call? */
static const char *step_answer(struct state *state, struct actor *me)
{
    bool right = false;
    for (int p = 0; p <= state->publication; p++)
        right |= (me->during & bit(p)) && state->history[p].list == me->now.list &&
                 (me->now.list == GONE || state->history[p].exceptions == me->now.exceptions);
    me->during = 0;
    me->calls++;
    me->pc = me->calls == CALLS || me->now.list == GONE ? END : BEGIN;
    return right ? NULL : "a call answers from what is not in force";
}

static const char *step_handle(const struct setting *setting, struct state *state, struct actor *me)
{
    if (me->pc == BEGIN) {
        me->during = bit(state->publication);
        me->pc = READ_EPOCH;
    } else if (me->pc <= READ_EXCEPTIONS) {
        step_words(state, me);
    } else if (me->pc <= CHAIN_EXCEPTIONS) {
        step_chain(state, me);
    } else if (me->pc == ASK) {
        return step_catalog(setting, state, me);
    } else {
        return step_answer(state, me);
    }
    return NULL;
}

/* ---- All runs -------------------------------------------------------------------------------- */

static void kill_one(struct search *search, const struct state *state, int i)
{
    struct state next = *state;
    struct actor *me = &next.actor[i];
    if (me->kind == OPENER && me->pc > LOCK) next.shared--;
    if (me->kind < OPENER && me->pc > LOCK) next.exclusive = 0;
    *me = (struct actor){.kind = me->kind, .pc = DEAD};
    next.killed++;
    go(search, &next);
}

static void visit(struct search *search, const struct state *state)
{
    for (int i = 0; search->wrong == NULL && i < search->setting->actors; i++) {
        struct state next = *state;
        struct actor *me = &next.actor[i];
        if (me->pc >= END) continue;
        if (me->kind != HANDLE && state->killed < search->setting->kills)
            kill_one(search, state, i);
        if (me->kind == HANDLE)
            search->wrong = step_handle(search->setting, &next, me);
        else if (!(me->kind < STRANGER ? step_publisher(search->setting, &next, me)
                                       : step_other(&next, me)))
            continue; /* it waits for the lock */
        go(search, &next);
    }
}

static int failures;

/* Two lists: 0 was left for 1 in publication 1, which is in force.  A handle may know either. */
static void begin(const struct setting *setting, int sleeps, struct state *state)
{
    memset(state, 0, sizeof *state);
    state->used = 1;
    state->publication = 1;
    state->lists = 2;
    state->history[1] = (struct force){1, 0};
    state->words[0] = (struct words){1, 2, 0, 0};
    state->words[1] = (struct words){0, NO_NEXT, 0, 1};
    for (int i = 0; i < setting->actors; i++) {
        struct actor *me = &state->actor[i];
        me->kind = setting->kind[i];
        me->pc = me->kind == HANDLE ? BEGIN : LOCK;
        if (me->kind != HANDLE) continue;
        me->now.list = sleeps ? 0 : 1;
        me->publication = sleeps ? 0 : 1;
        me->memo.in_force = 0;
    }
}

static void check(const struct setting *setting)
{
    struct search search = {.setting = setting};
    struct state state;
    char names[64] = "";
    states_init(&search.states, sizeof state);
    for (int i = 0; i < setting->actors; i++) {
        const size_t at = strlen(names);
        (void)snprintf(names + at, sizeof names - at, "%s%s", i ? " " : "",
                       kind_names[setting->kind[i]]);
    }
    for (int sleeps = 0; sleeps < 2; sleeps++) {
        begin(setting, sleeps, &state);
        go(&search, &state);
    }
    states_clear(&search.states);
    const bool good = (search.wrong == NULL) == (setting->broken == WHOLE);
    printf("%-36s %6d %-28s %9zu  %s%s\n", names, setting->kills, changes[setting->broken],
           search.states.used, search.wrong ? search.wrong : "holds", good ? "" : "   FAILED");
    (void)fflush(stdout);
    failures += !good;
}

/* A handle, and all kinds of others, each with a death less than there are of them. */
static void choose_kinds(struct setting *setting, int i, int from)
{
    if (i == setting->actors || i == ACTORS_MAX) {
        check(setting);
        return;
    }
    for (int kind = from; kind < HANDLE; kind++) {
        setting->kind[i] = (uint8_t)kind;
        choose_kinds(setting, i + 1, kind);
    }
}

int main(void)
{
    static const struct setting controls[] = {
        {.actors = 3, .kills = 1, .kind = {HANDLE, BUILDER, STRANGER}, .broken = NO_PEEK},
        {.actors = 3, .kills = 1, .kind = {HANDLE, ROLLER, STRANGER}, .broken = NO_PEEK},
        {.actors = 3, .kills = 1, .kind = {HANDLE, EXCEPTER, STRANGER}, .broken = NO_PEEK},
        {.actors = 3, .kills = 1, .kind = {HANDLE, DROPPER, STRANGER}, .broken = NO_PEEK},
        {.actors = 2, .kills = 1, .kind = {HANDLE, BUILDER}, .broken = LATE_EPOCH},
        {.actors = 2, .kills = 1, .kind = {HANDLE, BUILDER}, .broken = EARLY_WORDS},
        {.actors = 3, .kills = 1, .kind = {HANDLE, ROLLER, STRANGER}, .broken = LATE_WIPE},
        {.actors = 3, .kills = 1, .kind = {HANDLE, BUILDER, STRANGER}, .broken = EPOCH_NOTED},
    };
    printf("%-36s %6s %-28s %9s\n", "actors", "deaths", "changed", "states");
    for (int actors = 2; actors <= ACTORS_MAX; actors++) {
        struct setting setting = {.actors = actors, .kills = actors - 1, .kind = {HANDLE}};
        choose_kinds(&setting, 1, 0);
    }
    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++)
        check(&controls[i]);
    return model_end(failures == 0);
}
