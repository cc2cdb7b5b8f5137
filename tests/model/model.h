/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model.h: what the model of the last-missing-word protocol is made of: a key, the rule by which
 * an adder is told NEW, a memory model, and the tally of what was seen.  The idea, the proofs and
 * the list of runs are in last_word_model.c.
 *
 *   machine.c  what one racer can do next: loads, ORs, answer, as an abstract machine
 *   explore.c  every state that machine can reach, each once
 */
#ifndef TAMIS_TESTS_MODEL_H
#define TAMIS_TESTS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RACERS_MAX = 4,
    WORDS_MAX = 4,
    WORD_BITS = 2,    /* a word is modelled by as many bits as a key may have in it */
    ELEMENTS_MAX = 5, /* words of a blocked key, positions of a bloom key           */
    STEPS_MAX = RACERS_MAX * (2 * ELEMENTS_MAX + 1) + WORDS_MAX * WORD_BITS + 1,
};

/* What an adder visits: for kind blocked a word with all the key's bits there, each word once; for
 * kind bloom one bit position, and a position may occur again. */
struct element {
    uint8_t word;
    uint8_t mask;
};

struct key {
    int words;
    int elements;
    struct element element[ELEMENTS_MAX];
    uint8_t mask[WORDS_MAX]; /* all bits of the key in each word */
};

/* Z is the list of the elements an adder found missing, in the order visited.  NEW if ... flipped
 * a bit: */
enum rule {
    RULE_LAST,  /* the OR of the last element of Z                                            */
    RULE_FRESH, /* the OR of the last element of Z that repeats no earlier one; without
                   repetitions that is RULE_LAST                                              */
    RULE_ANY,   /* any OR                                                                     */
};

struct memory {
    const char *name;
    bool stale;    /* loads may return old values, within what the racer's view permits     */
    bool reorders; /* operations leave in any order that the next three do not forbid       */
    bool acquire;  /* loads are memory_order_acquire, else relaxed                          */
    bool release;  /* fetch_ors are memory_order_release, else relaxed                      */
};

/* One exploration: a key, what the words hold at the start, and what may happen. */
struct setting {
    const struct key *key;
    const struct memory *memory;
    enum rule rule;
    int racers;
    uint8_t start[WORDS_MAX];
    bool opposite; /* every second racer visits the elements in reverse                  */
    bool third;    /* other keys may set any bits of ours at any time                    */
    bool kill;     /* one racer may die at any time                                      */
};

/* A step of a run, kept so that a run can be shown. */
struct step {
    enum {
        STEP_LOAD_MISSING,
        STEP_LOAD_PRESENT,
        STEP_OR_FLIPS,
        STEP_OR_KEEPS,
        STEP_NEW,
        STEP_SEEN,
        STEP_THIRD,
        STEP_KILL
    } what;
    uint8_t racer;
    uint8_t word;
    uint8_t mask;
};

/*
 * What was seen, over any number of settings.  An ending is a state in which every
 * racer has answered or is dead.  `due` counts the NEW answers of an ending and that which a killed
 * racer owed: it had done the OR that decides, and that flipped.  Only endings with a survivor
 * enter it.
 */
struct tally {
    uint64_t states; /* distinct states up to renaming racers */
    uint64_t endings;
    int new_min, new_max;
    int due_min, due_max;
    uint64_t ors;                   /* fetch_ors done anywhere                     */
    const char *broken;             /* an invariant that did not hold; NULL: none  */
    struct step example[STEPS_MAX]; /* the run that first had new_max NEW */
    int steps;
};

void tally_init(struct tally *tally);
void tally_ending(struct tally *tally, int told, int owed, int survivors);

/* The element that the racer visits in place `place`, 0 first. */
static inline const struct element *key_visit(const struct key *key, bool reversed, int place)
{
    return &key->element[reversed ? key->elements - 1 - place : place];
}

/* Does the rule say NEW?  Bit i of both masks is the element visited in place i. */
bool rule_says_new(const struct key *key, enum rule rule, bool reversed, unsigned missing,
                   unsigned flipped);

/* Explore the setting and add to the tally. */
void explore(const struct setting *setting, struct tally *tally);

#endif
