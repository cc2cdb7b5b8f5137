/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * machine.c: an abstract machine for a few adders of one key, in three strengths of memory.
 *
 * SEQUENTIAL (neither stale nor reorders).  A word has its newest value only; operations happen in
 * program order.  This is what x86 does, where every locked operation is a full fence.
 *
 * STALE, the view machine.  A word keeps all its values, oldest first; a value's index is its
 * timestamp.  A racer has a view: for each word the oldest timestamp that it may still read.
 *
 *     load       reads any value not older than the view, and the view moves up to it; if it is an
 *                acquire load, the view also takes over what the value carries
 *     fetch_or   reads the newest value and appends one, and the view moves up to that
 *     a value    carries the view of its writer, if that was a release OR; and in any case what
 *                the value before it carries: an RMW continues the release sequence (C11 5.1.2.4)
 *
 * An RMW must be next to the value that it reads, and no two RMWs may read one value.  There are
 * no plain stores here, so an OR always lands at the end, and the timestamps need no gaps: for
 * loads and RMWs without fences, in program order, this is release/acquire memory exactly, as RC11
 * (Lahav et al. 2017) has it.
 *
 * An OR that flips nothing appends nothing here.  Its value would have the bits of the one before
 * it and carry more (the writer's view), so a racer that can read either does no worse with the one
 * before; and a racer whose view forbids the one before got that view from the writer's later
 * release ORs, hence holds all that the value would have carried.  So no behaviour is lost, and a
 * word has at most one value for each bit, and the first.
 *
 * REORDERS.  Operations leave in any order, except where one must wait for those before it:
 *
 *     operations on one word stay in order                            (coherence)
 *     nothing passes an acquire load that stands before it
 *     a release OR passes nothing that stands before it
 *
 * Whether an OR is done at all depends on the load of its own word only, and that waits for it
 * anyway.  So with relaxed loads and relaxed ORs the words are independent of one another, which
 * is all that C11 says of relaxed atomics (it does not forbid cycles of program order and
 * reads-from): the machine is then exact.  With acquire and release everything is in order, and the
 * machine is the view machine.
 *
 * A view is a byte, two bits a word.
 */
#include "machine.h"

#include <string.h>

_Static_assert(WORD_BITS == 2 && WORDS_MAX == 4, "a view packs 4 timestamps of 0 to 2 in a byte");
_Static_assert(ELEMENTS_MAX <= 5, "a racer packs 4 masks, a view, an end and a flag in 32 bits");

static int view_at(unsigned view, int word)
{
    return (int)(view >> (2 * word) & 3u);
}

static uint8_t view_set(unsigned view, int word, int timestamp)
{
    return (uint8_t)((view & ~(3u << (2 * word))) | (unsigned)timestamp << (2 * word));
}

/* The later of the two, word by word. */
static uint8_t view_join(unsigned a, unsigned b)
{
    for (int word = 0; word < WORDS_MAX; word++)
        if (view_at(b, word) > view_at(a, word)) a = view_set(a, word, view_at(b, word));
    return (uint8_t)a;
}

void machine_start(const struct setting *setting, struct state *state)
{
    *state = (struct state){0};
    for (int i = 0; i < RACERS_MAX; i++) {
        if (i >= setting->racers)
            state->racer[i].end = END_ABSENT;
        else
            state->racer[i].reversed = setting->opposite && i % 2 == 1;
    }
    for (int word = 0; word < setting->key->words; word++)
        state->word[word].bits[0] = setting->start[word];
}

static bool same_word(const struct key *key, bool reversed, int place, int other)
{
    return key_visit(key, reversed, place)->word == key_visit(key, reversed, other)->word;
}

bool machine_load_ready(const struct setting *setting, const struct racer *racer, int place)
{
    bool ordered = !setting->memory->reorders || setting->memory->acquire;

    if (racer->loaded >> place & 1) return false;
    for (int i = 0; i < place; i++)
        if (!(racer->loaded >> i & 1) &&
            (ordered || same_word(setting->key, racer->reversed, i, place)))
            return false;
    return true;
}

bool machine_or_ready(const struct setting *setting, const struct racer *racer, int place)
{
    const struct memory *memory = setting->memory;
    bool after_ors = !memory->reorders || memory->release;
    bool after_loads = after_ors || memory->acquire;
    unsigned waiting = racer->missing & ~(unsigned)racer->ored;

    if (!(waiting >> place & 1)) return false;
    for (int i = 0; i < setting->key->elements; i++) {
        const bool load = !(racer->loaded >> i & 1), or = i < place && (waiting >> i & 1);
        if ((load && after_loads) || (or &&after_ors)) return false;
        if ((load || or) && same_word(setting->key, racer->reversed, i, place)) return false;
    }
    return true;
}

static bool has_loaded_all(const struct setting *setting, const struct racer *racer)
{
    return racer->loaded + 1 == 1 << setting->key->elements;
}

bool machine_answer_ready(const struct setting *setting, const struct racer *racer)
{
    return has_loaded_all(setting, racer) && racer->ored == racer->missing;
}

int machine_oldest(const struct state *state, const struct racer *racer, int word)
{
    int oldest = view_at(racer->view, word);
    return oldest < state->word[word].newest ? oldest : state->word[word].newest;
}

struct step machine_load(const struct setting *setting, struct state *state, int racer, int place,
                         int value)
{
    struct racer *me = &state->racer[racer];
    const struct element *element = key_visit(setting->key, me->reversed, place);
    const struct word *word = &state->word[element->word];
    bool missing = (word->bits[value] & element->mask) != element->mask;

    me->loaded |= (uint8_t)(1u << place);
    if (missing) me->missing |= (uint8_t)(1u << place);
    me->view = view_join(me->view, view_set(0, element->word, value));
    if (setting->memory->acquire) me->view = view_join(me->view, word->view[value]);
    return (struct step){missing ? STEP_LOAD_MISSING : STEP_LOAD_PRESENT, (uint8_t)racer,
                         element->word, element->mask};
}

/* Give the word a new value, which carries `view` beside what the one before it carries. */
static void append(const struct setting *setting, struct word *word, int index, uint8_t bits,
                   uint8_t view)
{
    if (!setting->memory->stale) {
        word->bits[0] = bits;
        return;
    }
    view = view_join(view, word->view[word->newest]);
    word->newest++;
    word->bits[word->newest] = bits;
    word->view[word->newest] = view_set(view, index, word->newest);
}

struct step machine_or(const struct setting *setting, struct state *state, int racer, int place)
{
    struct racer *me = &state->racer[racer];
    const struct element *element = key_visit(setting->key, me->reversed, place);
    struct word *word = &state->word[element->word];
    uint8_t old = word->bits[word->newest];
    bool flips = (old & element->mask) != element->mask;

    me->ored |= (uint8_t)(1u << place);
    if (flips) {
        me->flipped |= (uint8_t)(1u << place);
        append(setting, word, element->word, old | element->mask,
               setting->memory->release ? me->view : 0);
    }
    me->view = view_set(me->view, element->word, word->newest);
    return (struct step){flips ? STEP_OR_FLIPS : STEP_OR_KEEPS, (uint8_t)racer, element->word,
                         element->mask};
}

struct step machine_answer(const struct setting *setting, struct state *state, int racer)
{
    struct racer *me = &state->racer[racer];
    bool is_new =
        rule_says_new(setting->key, setting->rule, me->reversed, me->missing, me->flipped);

    *me = (struct racer){.end = is_new ? END_NEW : END_SEEN};
    return (struct step){is_new ? STEP_NEW : STEP_SEEN, (uint8_t)racer, 0, 0};
}

struct step machine_kill(const struct setting *setting, struct state *state, int racer)
{
    struct racer *me = &state->racer[racer];
    bool owed = has_loaded_all(setting, me) &&
                rule_says_new(setting->key, setting->rule, me->reversed, me->missing, me->flipped);

    *me = (struct racer){.end = owed ? END_DEAD_OWED : END_DEAD};
    return (struct step){STEP_KILL, (uint8_t)racer, 0, 0};
}

struct step machine_third(const struct setting *setting, struct state *state, int word,
                          uint8_t bits)
{
    struct word *at = &state->word[word];

    append(setting, at, word, at->bits[at->newest] | bits, 0);
    return (struct step){STEP_THIRD, 0, (uint8_t)word, bits};
}

/* Is a load of the word still to come, by anyone? */
static bool word_is_awaited(const struct setting *setting, const struct state *state, int word)
{
    for (int i = 0; i < setting->racers; i++) {
        const struct racer *racer = &state->racer[i];
        for (int place = 0; racer->end == END_NONE && place < setting->key->elements; place++)
            if (!(racer->loaded >> place & 1) &&
                key_visit(setting->key, racer->reversed, place)->word == word)
                return true;
    }
    return false;
}

/* Only loads look at old values, at timestamps and at what a value carries: once no load of a word
 * is to come, its history and every timestamp of it are beyond observation. */
void machine_tidy(const struct setting *setting, struct state *state)
{
    for (int index = 0; setting->memory->stale && index < setting->key->words; index++) {
        if (word_is_awaited(setting, state, index)) continue;
        struct word *word = &state->word[index];
        *word = (struct word){.bits = {word->bits[word->newest]}};
        for (int i = 0; i < setting->racers; i++)
            state->racer[i].view = view_set(state->racer[i].view, index, 0);
        for (int i = 0; i < setting->key->words; i++)
            for (int value = 0; value <= state->word[i].newest; value++)
                state->word[i].view[value] = view_set(state->word[i].view[value], index, 0);
    }
}

struct packed machine_pack(const struct setting *setting, const struct state *state)
{
    struct packed packed = {{0}, {0}};

    for (int i = 0; i < RACERS_MAX; i++) {
        const struct racer *r = &state->racer[i];
        unsigned view = setting->memory->stale ? r->view : 0u;
        uint32_t bits = (uint32_t)r->loaded | (uint32_t)r->missing << 5 | (uint32_t)r->ored << 10 |
                        (uint32_t)r->flipped << 15 | (uint32_t)view << 20 | (uint32_t)r->end << 28 |
                        (uint32_t)r->reversed << 31;
        int at = i; /* insertion sort: racers of one order are interchangeable */
        for (; at > 0 && packed.racer[at - 1] > bits; at--)
            packed.racer[at] = packed.racer[at - 1];
        packed.racer[at] = bits;
    }
    for (int i = 0; i < WORDS_MAX; i++) {
        const struct word *w = &state->word[i];
        packed.word[i] = 1u << 31 | (uint32_t)w->newest << 22 | (uint32_t)w->bits[0] |
                         (uint32_t)w->bits[1] << 2 | (uint32_t)w->bits[2] << 4 |
                         (uint32_t)w->view[1] << 6 | (uint32_t)w->view[2] << 14;
    }
    return packed;
}
