/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * growth.h: what growth_model.c (the idea and the list of runs) asks of growth_machine.c: every
 * state that the machine can reach, each once.
 */
#ifndef TAMIS_TESTS_GROWTH_H
#define TAMIS_TESTS_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ADDERS_MAX = 3,
    SEGMENTS_MAX = 3,
    KEY_WORDS_MAX = 2,
    GROWERS_MAX = SEGMENTS_MAX - 1,
    RUN_MAX = 160, /* steps of the longest run */
};

struct growth {
    int adders;
    int openers;  /* so many of them have no handle yet: they open one, under the catalog's lock */
    int segments; /* in the end; there is one at the start */
    int words;    /* of the key, in each segment */
    unsigned start;    /* words of the first segment that other keys have filled */
    int kills;         /* so many processes may die, anywhere */
    bool growers_only; /* but none of the adders */
    bool third;        /* other keys fill words of ours at any time */
    bool stale;        /* loads may return old values, as far as views let them; else none is old */
    bool no_look;      /* controls: a winner does not look behind, */
    bool no_win_fence; /* looks without a fence, */
    bool no_list_fence; /* asks the segments of a longer list without one, */
    bool no_link;       /* an opener leaves `next` as it found it, */
};

/* A step of a run, kept so that a run can be shown. */
struct growth_step {
    const char *what;
    char who; /* A to C: adders, X and Y: growers, 0: none */
    uint8_t segment, word;
};

struct growth_tally {
    uint64_t states;
    int new_min, new_max;
    const char *broken;                  /* an invariant that did not hold; NULL: none */
    struct growth_step example[RUN_MAX]; /* the run that first had new_max NEW */
    int steps;
};

void growth_explore(const struct growth *growth, struct growth_tally *tally);

#endif
