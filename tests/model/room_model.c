/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * room_model.c: an exhaustive model of reservations (store/segment/room.h; docs/concurrency.md,
 * "Room").
 *
 * One segment with a limit, its word `granted`, and one or two stripes of `items` and `quota`.  Up
 * to four actors work on it, each of which does one thing, a step of it at a time; a step is one
 * load or one atomic operation:
 *
 *     one      room for one key, which is counted at once; the key is in then, or was not new
 *     batch    room for several, of which some are new and are counted one by one; the rest is
 *              given back
 *     vain     room for one key that is counted in the segment before; it is in, and its room is
 *              kept
 *     replay   keys of a log, of which some are new: written off, counted, covered
 *     merge    the same, all of them new
 *
 * Every interleaving is tried, and every choice which keys are new.  All of it is sequentially
 * consistent in the library too, so there are no stale loads here.  An actor may die at any step;
 * one that is stopped is one that the search lets stand.
 *
 * THE BOUND.  In no state are there more keys under room than the limit: keys whose bits may be
 * set, since their adder has taken room and not found that they were known.  Keys of replays and
 * merges come on top, and are not counted here.  NO ROOM IS LOST: when all have ended and none has
 * died, the items, the room that can still be taken and the keys in vain sum up to the limit.
 * Where some died, what is missing is at most what they had: the largest batch each, or a lump that
 * they were about to give to a stripe.
 *
 * The controls change one thing, and must exceed the limit.
 *
 * Usage: room_model [--deep]          --deep: larger sizes too, some minutes
 * Exit status: 0 all is as expected, 1 something is not, 2 usage or no memory.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "states.h"

enum { ACTORS_MAX = 4, STRIPES_MAX = 2, KEYS_MAX = 3, LIMIT_MAX = 4, RUN_MAX = 256 };

enum kind { ONE, BATCH, VAIN, REPLAY, MERGE, KINDS };
static const char *const kind_names[KINDS] = {"one", "batch", "vain", "replay", "merge"};

enum break_rule { WHOLE, REMEMBERED, FORFEIT, UNLOOKED, UNRESERVED };

enum pc {
    SEE_ITEMS,   /* room_of() */
    SEE_QUOTA,   /* is there room? */
    TAKE,        /* items + 1, or quota - keys */
    LOOK_QUOTA,  /* one key: the look behind the addition */
    LOOK_ITEMS,  /* the look at the items; then it has room, */
    UNDO,        /* or takes its addition back */
    PUT_BACK,    /* a batch that got less than it wanted, to take more at once */
    SEE_GRANTED, /* grant() */
    SWAP_GRANTED,
    RAISE_QUOTA,
    ADD, /* has room; its keys turn out new or not */
    COUNT,
    GIVE_BACK,
    FORFEIT_QUOTA,
    FORFEIT_ITEMS,
    WRITE_OFF,
    COVER_QUOTA,
    COVER_GRANTED,
    UNRESERVED_LOOK,
    END,
    DEAD
};

struct actor {
    uint8_t kind, wanted, own; /* as the setting says */
    uint8_t pc;
    uint8_t stripe; /* the one that it works on */
    uint8_t keys;   /* room that it takes or has; a replay: new ones */
    int8_t seen;    /* a value that it has loaded */
    uint8_t
        more; /* what its grants brought; COUNT: new keys that are not counted yet, times EACH */
};
enum { GRANTED = 1, NOTHING_LEFT = 2, EACH = 4 };

/* All bytes, without holes: states are compared by memcmp. */
struct state {
    struct actor actor[ACTORS_MAX];
    int8_t items[STRIPES_MAX], quota[STRIPES_MAX];
    int8_t granted;
    uint8_t under; /* keys under room, that may be in */
    uint8_t in;    /* those of them that are */
    uint8_t apart; /* of merges and replays, new */
    uint8_t vain;  /* in, and counted elsewhere */
    uint8_t killed;
    uint8_t unused[5];
    uint8_t used; /* never 0 */
};
_Static_assert(sizeof(struct state) == 48, "no holes, and a whole number of words");

struct setting {
    int actors, stripes, limit;
    int lump;  /* at least so much is granted at once */
    int start; /* below 0: nothing is granted yet; else all to the first stripe, and so many items
                  there */
    int kills;
    enum break_rule broken;
    struct actor actor[ACTORS_MAX];
};

struct search {
    const struct setting *setting;
    struct states states;
    int over;    /* greatest number of keys under room, less the limit */
    int lost;    /* room, greatest, with deaths */
    bool leaked; /* without a death, room was lost or came from nowhere */
};

/* ---- Steps ----------------------------------------------------------------------------------- */

static void visit(struct search *search, const struct state *state);

/* Equal futures, equal states: what an ended actor saw is over, and actors have no names. */
static void go(struct search *search, const struct state *next)
{
    struct state tidy = *next;
    for (int i = 0; i < search->setting->actors; i++) {
        struct actor actor = tidy.actor[i];
        int at = i;
        if (actor.pc >= END) actor = (struct actor){.pc = actor.pc};
        for (; at > 0 && memcmp(&tidy.actor[at - 1], &actor, sizeof actor) > 0; at--)
            tidy.actor[at] = tidy.actor[at - 1];
        tidy.actor[at] = actor;
    }
    if (states_enter(&search->states, &tidy)) visit(search, &tidy);
}

/* The stripe had nothing: a grant to the own one, then the others in turn. */
static void find_further(const struct setting *setting, struct actor *me)
{
    me->keys = 0;
    me->seen = 0;
    if (me->stripe == me->own && !(me->more & NOTHING_LEFT)) {
        me->pc = SEE_GRANTED;
        return;
    }
    me->stripe = (uint8_t)((me->stripe + 1) % setting->stripes);
    me->pc = me->stripe == me->own ? END : SEE_ITEMS;
}

/* It has room for its keys now. */
static void have_room(struct state *state, struct actor *me)
{
    state->under = (uint8_t)(state->under + me->keys);
    me->seen = 0;
    me->pc = ADD;
}

static void step_take(const struct setting *setting, struct state *state, struct actor *me)
{
    int8_t *items = &state->items[me->stripe], *quota = &state->quota[me->stripe];
    switch (me->pc) {
    case SEE_ITEMS:
        me->seen = *items;
        me->pc = SEE_QUOTA;
        break;
    case SEE_QUOTA:
        me->keys = (uint8_t)(*quota - me->seen < me->wanted ? *quota - me->seen : me->wanted);
        me->pc = *quota > me->seen ? TAKE : me->pc;
        me->seen = 0;
        if (me->pc != TAKE) find_further(setting, me);
        break;
    case TAKE:
        if (me->kind == ONE)
            ++*items;
        else
            *quota = (int8_t)(*quota - me->keys);
        me->seen = *(me->kind == ONE ? items : quota);
        me->pc = me->kind == ONE ? LOOK_QUOTA : LOOK_ITEMS;
        if (setting->broken == UNLOOKED) have_room(state, me);
        break;
    case LOOK_QUOTA:
        if (setting->broken == REMEMBERED) {
            const bool fits = *quota >= me->seen;
            me->pc = UNDO;
            if (fits) have_room(state, me);
        } else {
            me->seen = *quota;
            me->pc = LOOK_ITEMS;
        }
        break;
    case LOOK_ITEMS:
        me->pc = UNDO;
        if (me->seen >= *items) have_room(state, me);
        if (me->pc == ADD && me->keys < me->wanted && me->stripe == me->own && !me->more)
            me->pc = PUT_BACK;
        break;
    case UNDO:
        if (me->kind == ONE)
            --*items;
        else
            *quota = (int8_t)(*quota + me->keys);
        find_further(setting, me);
        break;
    default: /* PUT_BACK: none of its bits was set */
        state->under = (uint8_t)(state->under - me->keys);
        *quota = (int8_t)(*quota + me->keys);
        me->keys = 0;
        me->pc = SEE_GRANTED;
        break;
    }
}

static void step_grant(const struct setting *setting, struct state *state, struct actor *me)
{
    const int left = setting->limit - me->seen;
    int lump = me->wanted > setting->lump ? me->wanted : setting->lump;
    if (lump > left) lump = left;
    switch (me->pc) {
    case SEE_GRANTED:
        me->seen = state->granted;
        me->pc = SWAP_GRANTED;
        if (me->seen < setting->limit) break;
        me->seen = 0;
        me->more |= NOTHING_LEFT;
        me->pc = SEE_ITEMS; /* a batch looks at its own stripe once more */
        if (me->kind == ONE) find_further(setting, me);
        break;
    case SWAP_GRANTED:
        if (state->granted != me->seen) {
            me->pc = SEE_GRANTED;
            break;
        }
        state->granted = (int8_t)(state->granted + lump);
        me->keys = (uint8_t)lump;
        me->seen = 0;
        me->pc = RAISE_QUOTA;
        break;
    default:
        state->quota[me->own] = (int8_t)(state->quota[me->own] + me->keys);
        me->keys = 0;
        me->more |= GRANTED;
        me->pc = SEE_ITEMS;
        break;
    }
}

static void step_rest(const struct setting *setting, struct state *state, struct actor *me)
{
    int8_t *items = &state->items[me->stripe], *quota = &state->quota[me->stripe];
    switch (me->pc) {
    case COUNT:
        ++*items;
        me->more = (uint8_t)(me->more - EACH);
        if (me->more >= EACH) break;
        me->pc = me->kind == BATCH ? GIVE_BACK : COVER_QUOTA;
        if (setting->broken == UNRESERVED) me->pc = END;
        break;
    case GIVE_BACK: /* of one key: it was not new, and its count goes */
        if (me->kind == ONE)
            --*items;
        else
            *quota = (int8_t)(*quota + me->keys);
        me->pc = END;
        break;
    case FORFEIT_QUOTA:
        --*quota;
        me->pc = FORFEIT_ITEMS;
        break;
    case FORFEIT_ITEMS:
        --*items;
        me->pc = END;
        break;
    case COVER_QUOTA:
        *quota = (int8_t)(*quota + me->keys);
        me->pc = COVER_GRANTED;
        break;
    case COVER_GRANTED:
        state->granted = (int8_t)(state->granted - (me->wanted - me->keys));
        me->pc = END;
        break;
    default: /* UNRESERVED_LOOK: is the sum of the items below the limit?  Then all of the batch */
        me->keys = me->wanted;
        me->pc = END;
        if (state->items[0] + state->items[1] < setting->limit) have_room(state, me);
        break;
    }
}

/* How many of its keys turn out to be new is a choice. */
static void step_add(struct search *search, const struct state *state, int i)
{
    const bool known = state->actor[i].kind != MERGE;
    const bool batch = state->actor[i].kind == BATCH;
    for (int fresh = known ? 0 : state->actor[i].keys; fresh <= state->actor[i].keys; fresh++) {
        struct state next = *state;
        struct actor *me = &next.actor[i];
        if (me->kind >= REPLAY) {
            next.apart = (uint8_t)(next.apart + fresh);
            me->keys = (uint8_t)fresh;
        } else {
            next.under = (uint8_t)(next.under - (me->keys - fresh));
        }
        if (me->kind < REPLAY) next.in = (uint8_t)(next.in + fresh);
        if (me->kind == VAIN) next.vain = (uint8_t)(next.vain + fresh);
        me->more = (uint8_t)(EACH * fresh);
        if (batch || me->kind >= REPLAY)
            me->pc = fresh > 0 ? COUNT : batch ? GIVE_BACK : COVER_QUOTA;
        else if (fresh > 0)
            me->pc = search->setting->broken == FORFEIT ? FORFEIT_QUOTA : END;
        else
            me->pc = GIVE_BACK;
        if (search->setting->broken == UNRESERVED && fresh == 0) me->pc = END;
        go(search, &next);
    }
}

static void step(struct search *search, const struct state *state, int i)
{
    struct state next = *state;
    struct actor *me = &next.actor[i];
    if (me->pc == ADD) {
        step_add(search, state, i);
        return;
    }
    if (me->pc == WRITE_OFF) {
        next.granted = (int8_t)(next.granted + me->wanted);
        me->keys = me->wanted;
        me->pc = ADD;
    } else if (me->pc <= PUT_BACK) {
        step_take(search->setting, &next, me);
    } else if (me->pc <= RAISE_QUOTA) {
        step_grant(search->setting, &next, me);
    } else {
        step_rest(search->setting, &next, me);
    }
    go(search, &next);
}

/* ---- All runs -------------------------------------------------------------------------------- */

/* When all have ended: is all room there? */
static void ending(struct search *search, const struct state *state)
{
    const int in = state->in + state->apart;
    int room = search->setting->limit - state->granted, items = 0;
    bool whole = true;
    for (int s = 0; s < STRIPES_MAX; s++) {
        room += state->quota[s] - state->items[s];
        items += state->items[s];
        whole &= state->quota[s] >= state->items[s];
    }
    const int lost = search->setting->limit - (room + in);
    whole &= lost == 0 && items + state->vain == in;
    if (lost < 0 || (state->killed == 0 && !whole)) search->leaked = true;
    if (lost > search->lost) search->lost = lost;
}

static void visit(struct search *search, const struct state *state)
{
    const struct setting *setting = search->setting;
    const int over = state->under - setting->limit;
    bool running = false;
    if (over > search->over) search->over = over;
    for (int i = 0; i < setting->actors; i++) {
        if (state->actor[i].pc >= END) continue;
        running = true;
        step(search, state, i);
        if (state->killed == setting->kills) continue;
        struct state next = *state;
        next.actor[i].pc = DEAD;
        next.killed++;
        go(search, &next);
    }
    if (!running) ending(search, state);
}

static void explore(struct search *search)
{
    const struct setting *setting = search->setting;
    struct state state;
    memset(&state, 0, sizeof state);
    state.used = 1;
    for (int i = 0; i < setting->actors; i++) {
        struct actor *me = &state.actor[i];
        *me = setting->actor[i];
        me->stripe = me->own;
        me->pc = setting->broken == UNRESERVED ? UNRESERVED_LOOK
                 : me->kind >= REPLAY          ? WRITE_OFF
                                               : SEE_ITEMS;
    }
    if (setting->start >= 0) {
        state.granted = state.quota[0] = (int8_t)setting->limit;
        state.items[0] = (int8_t)setting->start;
        state.under = state.in = (uint8_t)setting->start;
    }
    states_init(&search->states, sizeof state);
    go(search, &state);
    states_clear(&search->states);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static int failures;
static bool deep;

/* What all settings of a row came to. */
struct row {
    unsigned long settings;
    unsigned long long states;
    int over, lost, lost_most; /* lost_most: what it may be */
    bool leaked;
};

static void run(const struct setting *setting, struct row *row)
{
    struct search search = {.setting = setting, .over = -setting->limit};
    int each = setting->lump;
    explore(&search);
    for (int i = 0; i < setting->actors; i++)
        if (setting->actor[i].wanted > each) each = setting->actor[i].wanted;
    row->settings++;
    row->states += search.states.used;
    row->leaked |= search.leaked || search.lost > setting->kills * each;
    if (search.over > row->over) row->over = search.over;
    if (search.lost > row->lost) row->lost = search.lost;
}

static void print_row(const struct setting *setting, const char *left_out, int expected,
                      const struct row *row)
{
    char names[64] = "";
    for (int i = 0; i < setting->actors; i++) {
        const size_t at = strlen(names);
        (void)snprintf(names + at, sizeof names - at, "%s%s", i ? " " : "",
                       kind_names[setting->actor[i].kind]);
    }
    const bool good = !row->leaked && (expected ? row->over > 0 : row->over == 0);
    printf("%-28s %7d %6d %-20s %8lu %10llu %5d %5d%s\n", names, setting->stripes, setting->kills,
           left_out, row->settings, row->states, row->over, row->lost,
           good          ? ""
           : row->leaked ? "   FAILED: room was lost"
                         : "   FAILED");
    (void)fflush(stdout);
    failures += !good;
}

/* All sizes and own stripes of the actors from the i-th on. */
static void run_sizes(struct setting *setting, int i, int keys_most, struct row *row)
{
    if (i == setting->actors || i == ACTORS_MAX) {
        run(setting, row);
        return;
    }
    struct actor *me = &setting->actor[i];
    const int least = me->kind == BATCH || me->kind >= REPLAY ? (keys_most > 1 ? 2 : 1) : 1;
    const int most = me->kind == BATCH || me->kind >= REPLAY ? keys_most : 1;
    for (int own = 0; own < setting->stripes; own++)
        for (int wanted = least; wanted <= most; wanted++) {
            me->own = (uint8_t)own;
            me->wanted = (uint8_t)wanted;
            run_sizes(setting, i + 1, keys_most, row);
        }
}

struct sizes {
    int actors, stripes, limit_most, keys_most, kills;
    int kinds;   /* so many of the kinds, the first ones; 0: all */
    bool starts; /* all numbers of items at the start, too */
};

/* All limits, lumps and starts for the actors of these kinds. */
static void run_kinds(struct setting *setting, const struct sizes *sizes)
{
    struct row row = {.over = -LIMIT_MAX};
    for (setting->limit = 1; setting->limit <= sizes->limit_most; setting->limit++)
        for (setting->lump = 1; setting->lump <= (sizes->starts ? 2 : 1); setting->lump++)
            for (setting->start = -1; setting->start < (sizes->starts ? setting->limit : 0);
                 setting->start++)
                if (setting->lump == 1 || setting->start < 0)
                    run_sizes(setting, 0, sizes->keys_most, &row);
    print_row(setting, "-", 0, &row);
}

/* All kinds of actors, in ascending order: who is which makes no difference. */
static void choose_kinds(struct setting *setting, int i, int from, const struct sizes *sizes)
{
    if (i == setting->actors || i == ACTORS_MAX) {
        if (setting->actor[0].kind < REPLAY) run_kinds(setting, sizes); /* who takes room */
        return;
    }
    for (int kind = from; kind < (sizes->kinds ? sizes->kinds : KINDS); kind++) {
        setting->actor[i].kind = (uint8_t)kind;
        choose_kinds(setting, i + 1, kind, sizes);
    }
}

static void check_sizes(const struct sizes *sizes)
{
    struct setting setting = {
        .actors = sizes->actors, .stripes = sizes->stripes, .kills = sizes->kills};
    choose_kinds(&setting, 0, 0, sizes);
}

static void check_control(const char *left_out, enum break_rule broken, int singles, int batches)
{
    struct setting setting = {
        .actors = singles + batches, .stripes = 1, .lump = 1, .broken = broken};
    struct row row = {.over = -LIMIT_MAX};
    for (int i = 0; i < setting.actors; i++)
        setting.actor[i].kind = i < singles ? ONE : BATCH;
    for (setting.limit = 1; setting.limit <= LIMIT_MAX; setting.limit++)
        for (setting.start = 0; setting.start < setting.limit; setting.start++)
            run_sizes(&setting, 0, KEYS_MAX, &row);
    row.leaked = false; /* it is not what they are about */
    print_row(&setting, left_out, 1, &row);
}

int main(int argc, char **argv)
{
    deep = model_is_deep(argc, argv);
    static const struct sizes promise[] = {
        {.actors = 2, .stripes = 1, .limit_most = 4, .keys_most = 3, .starts = true},
        {.actors = 2, .stripes = 2, .limit_most = 3, .keys_most = 3, .kills = 2, .starts = true},
        {.actors = 3, .stripes = 1, .limit_most = 3, .keys_most = 2, .starts = true},
        {.actors = 3, .stripes = 1, .limit_most = 2, .keys_most = 2, .kills = 3},
        {.actors = 3, .stripes = 2, .limit_most = 2, .keys_most = 2},
        {.actors = 4, .stripes = 1, .limit_most = 2, .keys_most = 2, .kinds = BATCH + 1},
    };
    static const struct sizes larger[] = {
        {.actors = 3, .stripes = 1, .limit_most = 4, .keys_most = 3, .starts = true},
        {.actors = 3, .stripes = 2, .limit_most = 4, .keys_most = 3, .kills = 1, .starts = true},
        {.actors = 4, .stripes = 1, .limit_most = 4, .keys_most = 2, .starts = true},
        {.actors = 4, .stripes = 2, .limit_most = 2, .keys_most = 2},
    };
    printf("settings   sizes of batches, limits, lumps, starts and own stripes, all of them\n"
           "over       greatest number of keys under room, in any state, less the limit\n"
           "lost       greatest number of keys of which the room is lost for good\n\n"
           "%-28s %7s %6s %-20s %8s %10s %5s %5s\n",
           "actors", "stripes", "deaths", "left out", "settings", "states", "over", "lost");
    for (size_t i = 0; i < sizeof promise / sizeof promise[0]; i++)
        check_sizes(&promise[i]);
    for (size_t i = 0; deep && i < sizeof larger / sizeof larger[0]; i++)
        check_sizes(&larger[i]);
    printf("\nControls: what the protocol must not leave out, seen to fail\n\n");
    check_control("the items, read again", REMEMBERED, 1, 1);
    check_control("items that stay", FORFEIT, 2, 1);
    check_control("the look", UNLOOKED, 2, 0);
    check_control("the look", UNLOOKED, 0, 2);
    check_control("room itself", UNRESERVED, 0, 3);
    return model_end(failures == 0);
}
