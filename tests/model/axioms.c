/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * axioms.c: every execution of the protocol that the text of C11 permits.
 *
 * A machine executes a program, and so can miss an execution that the standard allows and no
 * machine that one thinks of shows.  Here nothing is executed: an execution is a graph, and C11
 * (5.1.2.4, made formal, for C++11, by Batty et al. 2011) says which graphs are allowed.
 *
 * events   of each racer its loads and ORs, in program order
 * mo       for each word the order of its ORs, a total one
 * rf       for each load the OR that it reads (or the start); an OR reads the one before it in mo
 * sw       an OR, if release, with each acquire load (or acq_rel OR) that reads it or a later OR of
 *          its word: every OR is an RMW, so all later ones belong to its release sequence
 * hb       the transitive closure of program order and sw
 *
 * Allowed is a graph whose hb has no cycle and is coherent with each word's history: give an OR
 * that is number i in mo the rank 2i, a load that reads number j the rank 2j + 1 (the start is
 * number 0); then between events of one word hb never goes from a greater rank to a smaller.
 * A cycle of program order and rf that is not one of hb is allowed: C11 does not forbid those, and
 * with relaxed atomics machines have them.
 *
 * What a racer does depends on its loads, each OR on the load of its own element.  So the graph of
 * one word can be made alone: `behave` makes each coherent graph of a word exactly once, and
 * `combine` tries all combinations, a graph for each word, and drops those that hb rules out.
 *
 * A racer that is killed did a first part of its program: `cut` events, counted as if every
 * element had both its events; an execution is counted under one cut only.
 *
 * A third key's OR is in mo, but is not an event: its adder does nothing else that we look at, so
 * it orders nothing.  It sets some of our bits; where asked for (`idle`) also, once a word, none,
 * as an OR of other bits of the word does.  A load that reads that one must still synchronize with
 * the release ORs before it; where no load reads it, it shows nothing.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "states.h"

enum {
    EVENTS_MAX = RACERS_MAX * 2 * ELEMENTS_MAX, /* numbered racer by racer, in program order */
    WRITES_MAX = RACERS_MAX * ELEMENTS_MAX + WORD_BITS + 1,
    THIRD = 255, /* in place of an event's number */
};
_Static_assert(EVENTS_MAX <= 64, "a set of events is a 64-bit mask");

/* An event in the graph of its word. */
struct event {
    uint8_t number;
    uint64_t reads;   /* the ORs whose release it acquires, if it acquires          */
    uint64_t smaller; /* the events of this word that hb must not reach from here   */
};

/* One graph of one word. */
struct behaviour {
    int events;
    struct event event[EVENTS_MAX];
    uint8_t missing[RACERS_MAX];
    uint8_t flipped[RACERS_MAX];
    bool set; /* the key's bits are all there in the end */
};

struct behaviours {
    struct behaviour *all;
    size_t count, room;
};

/* The happens-before relation so far: bit y of reach[x] says that x comes before y. */
struct order {
    uint64_t reach[EVENTS_MAX];
    uint64_t smaller[EVENTS_MAX];
};

struct enumeration {
    const struct setting *setting;
    struct tally *tally;
    int victim; /* the racer that is killed; -1: none */
    int cut;
    struct behaviours word[WORDS_MAX];
};

/* The graph of a word while it is being made. */
struct draft {
    const struct enumeration *enumeration;
    struct behaviours *out;
    int word;
    uint8_t bits;
    uint8_t loaded[RACERS_MAX], missing[RACERS_MAX], ored[RACERS_MAX], flipped[RACERS_MAX];
    int writes;
    uint8_t write[WRITES_MAX]; /* mo */
    bool idle;                 /* one of them is a third key's that set none of our bits */
    bool idle_unread;          /* and is the last, and no load has read it yet           */
    int loads;
    struct {
        uint8_t number;
        uint8_t reads; /* as many ORs come before it in mo */
    } load[EVENTS_MAX];
};

static uint64_t bit(int event)
{
    return UINT64_C(1) << event;
}

static int number_of(const struct setting *setting, int racer, int place, bool is_or)
{
    int elements = setting->key->elements;
    return racer * 2 * elements + place + (is_or ? elements : 0);
}

static bool is_reversed(const struct setting *setting, int racer)
{
    return setting->opposite && racer % 2 == 1;
}

/* The ORs whose release is acquired by reading the last of the first `writes` in mo. */
static uint64_t releases(const struct draft *draft, int writes)
{
    bool lone = draft->enumeration->setting->memory->lone;
    uint64_t set = 0;

    for (int i = lone && writes > 0 ? writes - 1 : 0; i < writes; i++)
        if (draft->write[i] != THIRD) set |= bit(draft->write[i]);
    return set;
}

static void describe(const struct draft *draft, struct behaviour *to)
{
    int rank[EVENTS_MAX] = {0};

    for (int i = 0; i < draft->loads; i++) {
        struct event *event = &to->event[to->events];
        *event = (struct event){.number = draft->load[i].number};
        event->reads = releases(draft, draft->load[i].reads);
        rank[to->events++] = 2 * draft->load[i].reads + 1;
    }
    for (int i = 0; i < draft->writes; i++) {
        if (draft->write[i] == THIRD) continue;
        struct event *event = &to->event[to->events];
        *event = (struct event){.number = draft->write[i]};
        if (draft->enumeration->setting->memory->acq_rel) event->reads = releases(draft, i);
        rank[to->events++] = 2 * (i + 1);
    }
    for (int x = 0; x < to->events; x++)
        for (int y = 0; y < to->events; y++)
            if (rank[y] < rank[x]) to->event[x].smaller |= bit(to->event[y].number);
}

static void keep(const struct draft *draft)
{
    struct behaviours *out = draft->out;

    if (out->count == out->room) {
        struct behaviour *old = out->all;
        out->room = out->room == 0 ? 64 : out->room * 2;
        out->all = model_alloc(out->room, sizeof(*out->all));
        if (out->count > 0) memcpy(out->all, old, out->count * sizeof(*old));
        free(old);
    }
    struct behaviour *to = &out->all[out->count++];
    memset(to, 0, sizeof(*to));
    describe(draft, to);
    memcpy(to->missing, draft->missing, sizeof(to->missing));
    memcpy(to->flipped, draft->flipped, sizeof(to->flipped));
    uint8_t mask = draft->enumeration->setting->key->mask[draft->word];
    to->set = (draft->bits & mask) == mask;
}

/* The place of the racer's next load (or OR) of this word; -1: none is left, or it is dead first.
 */
static int next_place(const struct draft *draft, int racer, bool is_or)
{
    const struct enumeration *in = draft->enumeration;
    const struct key *key = in->setting->key;
    unsigned todo = is_or ? (unsigned)draft->missing[racer] : (1u << key->elements) - 1;
    unsigned done = is_or ? draft->ored[racer] : draft->loaded[racer];

    for (int place = 0; place < key->elements; place++) {
        if (!(todo & ~done & 1u << place)) continue;
        if (key_visit(key, is_reversed(in->setting, racer), place)->word != draft->word) continue;
        bool dead = racer == in->victim && place + (is_or ? key->elements : 0) >= in->cut;
        return dead ? -1 : place;
    }
    return -1;
}

static void behave(const struct draft *draft, int load_from);

static void behave_load(const struct draft *draft, int racer, int place)
{
    const struct setting *setting = draft->enumeration->setting;
    uint8_t mask = key_visit(setting->key, is_reversed(setting, racer), place)->mask;
    struct draft next = *draft;
    uint8_t number = (uint8_t)number_of(setting, racer, place, false);

    next.loaded[racer] |= (uint8_t)(1u << place);
    if ((draft->bits & mask) != mask) next.missing[racer] |= (uint8_t)(1u << place);
    next.idle_unread = false;
    next.load[next.loads].number = number;
    next.load[next.loads++].reads = (uint8_t)draft->writes;
    behave(&next, number + 1);
}

static void behave_or(const struct draft *draft, int racer, int place)
{
    const struct setting *setting = draft->enumeration->setting;
    uint8_t mask = key_visit(setting->key, is_reversed(setting, racer), place)->mask;
    struct draft next = *draft;

    next.ored[racer] |= (uint8_t)(1u << place);
    if ((draft->bits & mask) != mask) next.flipped[racer] |= (uint8_t)(1u << place);
    next.bits |= mask;
    next.write[next.writes++] = (uint8_t)number_of(setting, racer, place, true);
    behave(&next, 0);
}

static void behave_third(const struct draft *draft)
{
    unsigned mask = draft->enumeration->setting->key->mask[draft->word];
    unsigned lacking = mask & ~(unsigned)draft->bits;
    bool may_idle = draft->enumeration->setting->idle && !draft->idle;

    for (unsigned bits = 0; bits <= lacking; bits++) {
        struct draft next = *draft;
        if ((bits & ~lacking) != 0 || (bits == 0 && !may_idle)) continue;
        next.bits |= (uint8_t)bits;
        next.idle |= bits == 0;
        next.idle_unread = bits == 0;
        next.write[next.writes++] = THIRD;
        behave(&next, 0);
    }
}

/* Go on from a draft, event by event, each at the end of the word's history: every coherent graph
 * of one word can be drawn so.  Loads between the same two ORs commute; taking them in the order of
 * their numbers only, from `load_from`, draws each graph once. */
static void behave(const struct draft *draft, int load_from)
{
    const struct setting *setting = draft->enumeration->setting;
    bool done = true;

    for (int racer = 0; racer < setting->racers; racer++) {
        int place = next_place(draft, racer, false);
        if (place >= 0) {
            done = false;
            if (number_of(setting, racer, place, false) >= load_from)
                behave_load(draft, racer, place);
            continue;
        }
        place = next_place(draft, racer, true);
        if (place >= 0) {
            done = false;
            if (!draft->idle_unread) behave_or(draft, racer, place);
        }
    }
    if (draft->idle_unread) return;
    if (done) keep(draft);
    if (setting->third) behave_third(draft);
}

static void order_copy(struct order *to, const struct order *from, int events)
{
    memcpy(to->reach, from->reach, (size_t)events * sizeof(*to->reach));
    memcpy(to->smaller, from->smaller, (size_t)events * sizeof(*to->smaller));
}

/* Let x come before y, and keep the relation closed.  False: that makes a cycle. */
static bool order_add(struct order *order, int events, int x, int y)
{
    uint64_t after = order->reach[y] | bit(y);

    if (after & bit(x)) return false;
    if (order->reach[x] & bit(y)) return true; /* known, and with it all that follows from it */
    for (int i = 0; i < events; i++)
        if (i == x || order->reach[i] & bit(x)) order->reach[i] |= after;
    return true;
}

/* Take the graph of one more word in.  False: C11 does not allow the whole. */
static bool order_join(struct order *order, int events, const struct behaviour *behaviour,
                       bool synchronizes)
{
    for (int i = 0; i < behaviour->events; i++) {
        const struct event *event = &behaviour->event[i];
        order->smaller[event->number] = event->smaller;
        for (uint64_t reads = synchronizes ? event->reads : 0; reads != 0; reads &= reads - 1)
            if (!order_add(order, events, __builtin_ctzll(reads), event->number)) return false;
    }
    for (int i = 0; i < events; i++)
        if (order->reach[i] & order->smaller[i]) return false;
    return true;
}

static void finish(const struct enumeration *in, const uint8_t *missing, const uint8_t *flipped,
                   bool set)
{
    const struct setting *setting = in->setting;
    int told = 0, owed = 0, elements = setting->key->elements;
    int ors = in->cut - elements; /* how many places the victim's ORs got to */

    /* The event before the cut must exist, or this is the execution of a smaller cut. */
    if (in->victim >= 0 && ors > 0 && !(missing[in->victim] >> (ors - 1) & 1)) return;
    for (int racer = 0; racer < setting->racers; racer++) {
        bool says = rule_says_new(setting->key, setting->rule, is_reversed(setting, racer),
                                  missing[racer], flipped[racer]);
        if (racer != in->victim)
            told += says;
        else if (ors >= 0)
            owed += says; /* it knew all of Z, and had done the OR that decides */
    }
    int survivors = setting->racers - (in->victim >= 0);
    if (survivors > 0 && !set) in->tally->broken = "all have ended, and the key is not set";
    in->tally->states++;
    tally_ending(in->tally, told, owed, survivors);
    if (setting->outcomes) tally_outcome(in->tally, missing, flipped);
}

static void combine(const struct enumeration *in, int word, const struct order *order,
                    const uint8_t *missing, const uint8_t *flipped, bool set)
{
    const struct setting *setting = in->setting;
    int events = setting->racers * 2 * setting->key->elements;
    bool synchronizes = setting->memory->acquire && setting->memory->release;

    if (word == setting->key->words || word == WORDS_MAX) { /* the second for gcc -O3's eyes */
        finish(in, missing, flipped, set);
        return;
    }
    for (size_t i = 0; i < in->word[word].count; i++) {
        const struct behaviour *behaviour = &in->word[word].all[i];
        struct order next;
        uint8_t all_missing[RACERS_MAX], all_flipped[RACERS_MAX];

        order_copy(&next, order, events);
        if (!order_join(&next, events, behaviour, synchronizes)) continue;
        for (int racer = 0; racer < RACERS_MAX; racer++) {
            all_missing[racer] = missing[racer] | behaviour->missing[racer];
            all_flipped[racer] = flipped[racer] | behaviour->flipped[racer];
        }
        combine(in, word + 1, &next, all_missing, all_flipped, set && behaviour->set);
    }
}

static void enumerate_cut(struct enumeration *in)
{
    const struct setting *setting = in->setting;
    const uint8_t none[RACERS_MAX] = {0};
    struct order order = {{0}, {0}};
    int length = 2 * setting->key->elements;

    for (int racer = 0; racer < setting->racers; racer++)
        for (int i = 0; i < length; i++)
            for (int j = i + 1; j < length; j++)
                order.reach[racer * length + i] |= bit(racer * length + j);
    for (int word = 0; word < setting->key->words; word++) {
        struct draft draft = {
            .enumeration = in, .out = &in->word[word], .word = word, .bits = setting->start[word]};
        in->word[word].count = 0;
        behave(&draft, 0);
    }
    combine(in, 0, &order, none, none, true);
}

void enumerate(const struct setting *setting, struct tally *tally)
{
    struct enumeration in = {.setting = setting, .tally = tally, .victim = -1};

    /* Racers of one order are interchangeable, so one victim stands for all of them. */
    assert(!(setting->kill && setting->opposite));
    enumerate_cut(&in);
    for (in.cut = 0; setting->kill && in.cut <= 2 * setting->key->elements; in.cut++) {
        in.victim = 0;
        enumerate_cut(&in);
    }
    for (int word = 0; word < WORDS_MAX; word++)
        free(in.word[word].all);
}
