/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crew.h: the workers that do what is timed.
 *
 * Five processes, each pinned to a processor of its own while there are as many, the first with a
 * second thread; they live as long as the program does and do what the parent orders through a
 * pipe:
 *
 *     process    0       1    2    3    4
 *     worker     0 1     2    3    4    5   0 and 1 are two threads, 0 and 2 are two processes
 *
 * The last has TAMIS_SIMD=portable in its environment, and the processor of the first.
 *
 * A worker makes keys, up to STREAM_KEYS, waits for the others of the order, takes the time, makes
 * its calls, takes the time again, and goes on so.  As it waits before each such piece, all are in
 * their calls at once, and none makes keys while another is timed.  More workers than processors
 * wait only once, and are timed by the processor time that they use, which processors give at their
 * number: ns a key is that, by them.
 */
#ifndef TAMIS_BENCH_CREW_H
#define TAMIS_BENCH_CREW_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "keys.h"

#define CREW_PROCESSES 5u
#define CREW_WORKERS (CREW_PROCESSES + 1)

#define PEERS_MAX 2u

/* Which of them work. */
enum team { TEAM_P1, TEAM_P2, TEAM_T2, TEAM_P3, TEAM_P4, TEAM_C1, TEAMS };

/* "p1", ..., "c1" for the portable one; how many workers; their processes, a bit each. */
extern const char *const team_names[TEAMS];
extern const unsigned team_sizes[TEAMS];
extern const unsigned team_processes[TEAMS];

/* What the threads of a process share: a file that is mapped for the limits, and filters. */
struct desk {
    tamis_store *store;
    tamis_filter *filter;
    uint64_t *lines; /* the mapping, 8 words a line */
    uint64_t line_count;
    uint64_t or_bits;       /* what the limits set in a word; 0: the lines are those of a filter */
    void *peers[PEERS_MAX]; /* peers.c */
    uint64_t sink;
};

struct worker {
    struct desk *desk;
    struct stream stream;
    uint64_t places[STREAM_KEYS]; /* limits.c: numbers of lines */
    uint64_t random;
};

struct order {
    /* Before the time is taken: keys or places for `count` calls, of the numbers from `first` on.
     * */
    void (*prepare)(struct worker *worker, const struct order *order, uint64_t first, size_t count);
    /* What is timed.  Returns the number of keys that answered 1; below 0: tamis_last_error(). */
    int64_t (*run)(struct worker *worker, const struct order *order, size_t count);
    uint64_t first; /* number of the first key; each worker has a part of its own */
    uint64_t range; /* not 0: random numbers from 0 to range - 1 instead */
    uint64_t keys;  /* all workers together */
    uint64_t seed;
    size_t batch; /* keys a call */
    enum key_set key_set;
    enum team team;
    unsigned seat, seats; /* filled in by crew_run() */
    char path[256];       /* crew_each() */
    uint64_t offset, bytes;
    bool huge; /* in pages of 2 MiB */
};

/* What came of it. */
struct outcome {
    double ns;     /* a key, all workers together: elapsed time by the keys of all */
    uint64_t keys; /* that were used */
    uint64_t yes;  /* of them that answered 1 */
};

/* Start them, once, before anything is opened.  They end with the parent. */
void crew_start(void);
void crew_end(void);

/* Processors that may be used. */
unsigned crew_processors(void);

struct outcome crew_run(const struct order *order);

/* order->run() once in each of these processes, a bit each, not timed: to open, map and close.
 * Returns what it returned in the last of them. */
uint64_t crew_each(const struct order *order, unsigned processes);

/* Set by SIGINT and SIGTERM; crew_run() and crew_each() then end the program, scratch removed. */
extern volatile sig_atomic_t crew_stopped;
void crew_check_stop(void);

#endif
