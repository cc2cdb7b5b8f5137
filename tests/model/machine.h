/* SPDX-License-Identifier: BSD-2-Clause */
/* machine.h: the abstract machine that explore.c walks through; see machine.c. */
#ifndef TAMIS_TESTS_MACHINE_H
#define TAMIS_TESTS_MACHINE_H

#include "model.h"

enum end { END_NONE, END_NEW, END_SEEN, END_DEAD, END_DEAD_OWED, END_ABSENT };

/* A racer.  Bit i of the masks is the element that it visits in place i. */
struct racer {
    uint8_t loaded;  /* the load has been done         */
    uint8_t missing; /* and found a bit of it lacking  */
    uint8_t ored;    /* the OR has been done           */
    uint8_t flipped; /* and flipped a bit              */
    uint8_t view;    /* see machine.c                  */
    uint8_t end;     /* enum end                       */
    bool reversed;
};

/* A word: the values it has had, oldest first, each with the view that its writer attached. */
struct word {
    uint8_t newest;
    uint8_t bits[WORD_BITS + 1];
    uint8_t view[WORD_BITS + 1];
};

struct state {
    struct racer racer[RACERS_MAX];
    struct word word[WORDS_MAX];
};

/* A state in 32 bytes, the same for all states that differ only in the racers' names. */
struct packed {
    uint32_t racer[RACERS_MAX];
    uint32_t word[WORDS_MAX];
};

void machine_start(const struct setting *setting, struct state *state);
bool machine_load_ready(const struct setting *setting, const struct racer *racer, int place);
bool machine_or_ready(const struct setting *setting, const struct racer *racer, int place);
bool machine_answer_ready(const struct setting *setting, const struct racer *racer);

/* The oldest value of the word that the racer may still read. */
int machine_oldest(const struct state *state, const struct racer *racer, int word);

/* Each changes the state by one step and reports it. */
struct step machine_load(const struct setting *setting, struct state *state, int racer, int place,
                         int value);
struct step machine_or(const struct setting *setting, struct state *state, int racer, int place);
struct step machine_answer(const struct setting *setting, struct state *state, int racer);
struct step machine_kill(const struct setting *setting, struct state *state, int racer);
struct step machine_third(const struct setting *setting, struct state *state, int word,
                          uint8_t bits);

/* Forget what can no longer be observed, so that equal futures are equal states. */
void machine_tidy(const struct setting *setting, struct state *state);
struct packed machine_pack(const struct setting *setting, const struct state *state);

#endif
