/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mark_model.c: an exhaustive model of the dirty mark (docs/durability.md, "The mark").
 *
 * Writers, each with a bit of its own, and checkpoints, on one segment.  A writer locks,
 * marks, writes its bit, which is its answer; then it closes: it unlocks and makes a checkpoint as
 * the others do.  The kernel writes the header or the bits to the disk whenever it likes.  Any
 * process may die between any two steps, which frees its lock, or stop for ever, which does not.
 *
 * After every step the power may fail.  What the disk has must then be honest:
 *
 *     its mark is clean    every bit that was answered is on the disk
 *     clean_until          every bit that was answered by then is on the disk
 *
 * A time is modelled by the set of bits that had been answered when the clock was read.  Every run
 * is tried. The controls leave a step out, or turn two round, and must find a lie.
 *
 * Exit status: 0 all is as expected, 1 something is not, 2 no memory.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "states.h"

enum { WRITERS_MAX = 2, CHECKPOINTS_MAX = 2, PROCESSES_MAX = WRITERS_MAX + CHECKPOINTS_MAX };
enum { DIRTY = 1, ON_DISK = 2, UNWATCHED = 4, WRITER = 8 };

struct setting {
    const char *name;
    int writers;
    int checkpoints;
    int unwatched; /* so many writers get no lock */
    bool kernel;   /* writes header and bits to the disk whenever it likes */
    bool deaths;
    bool no_question;   /* controls: a checkpoint does not ask for locks, */
    bool no_count;      /* writers do not count themselves, */
    bool late_lock;     /* lock after they have marked, */
    bool late_question; /* a checkpoint reads the mark after it has asked, */
    bool no_header;     /* a writer does not sync the header, */
    bool trusts_dirty;  /* takes a mark for one that is on the disk, */
    bool late_flag;     /* counts itself before it says that it has no lock, */
    bool late_clock;    /* a checkpoint reads the clock behind its sync */
};

enum step {
    W_LOCK,
    W_COUNT,
    W_FLAG,
    W_OLD,
    W_NOW,
    W_RAISE,
    W_DIRTY,
    W_HEADER,
    W_ON_DISK,
    W_WRITE,
    W_UNLOCK,
    C_NOW,
    C_READ,
    C_ASK,
    C_SYNC,
    C_SWAP,
    C_TIME,
    C_HEADER,
    END
};

struct process {
    uint8_t step;
    uint8_t locked;
    uint8_t seen;  /* the mark that it read, or added to */
    uint8_t held;  /* a checkpoint: another had a lock */
    uint8_t old;   /* clean_until as read */
    uint8_t now;   /* the clock as read */
    uint8_t flags; /* a checkpoint: 1 after the second reading of a control */
};

struct image {
    uint8_t mark;
    uint8_t until;
    uint8_t bits;
};

/* All bytes, without holes: states are compared by memcmp. */
struct state {
    struct process process[PROCESSES_MAX];
    struct image memory, disk;
    uint8_t answered;
    uint8_t unused[4];
    uint8_t used; /* never 0 */
};
_Static_assert(sizeof(struct state) == 40, "no holes, and a whole number of words");

struct search {
    const struct setting *setting;
    struct states states;
    bool lied;
};

/* ---- One step of one process -------------------------------------------------------------- */

static bool is_locked_by_another(const struct state *state, int self)
{
    for (int i = 0; i < PROCESSES_MAX; i++)
        if (i != self && state->process[i].locked) return true;
    return false;
}

/* The next step of a writer up to its close. */
static void step_writer(const struct setting *setting, struct state *state, int self)
{
    struct process *p = &state->process[self];
    struct image *m = &state->memory;
    const bool watched = self >= setting->unwatched;
    switch (p->step) {
    case W_LOCK:
        if (watched && !setting->late_lock) p->locked = 1;
        if (!watched && !setting->late_flag) m->mark |= UNWATCHED;
        p->step = W_COUNT;
        break;
    case W_COUNT:
        p->seen = m->mark;
        if (!setting->no_count) m->mark = (uint8_t)(m->mark + WRITER);
        p->step = W_FLAG;
        break;
    case W_FLAG:
        if (!watched && setting->late_flag) m->mark |= UNWATCHED;
        p->step = W_OLD;
        if ((p->seen & ON_DISK) || (setting->trusts_dirty && (p->seen & DIRTY))) p->step = W_WRITE;
        break;
    case W_OLD:
        p->old = m->until;
        p->step = W_NOW;
        break;
    case W_NOW:
        p->now = state->answered;
        p->step = W_RAISE;
        break;
    case W_RAISE:
        if (!(m->mark & DIRTY)) p->flags = 1; /* it is clean: then the swap, in a step of its own */
        p->step = W_DIRTY;
        break;
    case W_DIRTY:
        if (p->flags && m->until == p->old) m->until = p->now;
        p->flags = 0;
        m->mark |= DIRTY;
        p->step = W_HEADER;
        break;
    case W_HEADER:
        if (!setting->no_header) {
            state->disk.mark = m->mark;
            state->disk.until = m->until;
        }
        p->step = W_ON_DISK;
        break;
    case W_ON_DISK:
        m->mark |= ON_DISK;
        p->step = W_WRITE;
        break;
    case W_WRITE:
        if (watched) p->locked = 1;
        m->bits |= (uint8_t)(1u << self);
        state->answered |= (uint8_t)(1u << self);
        p->step = W_UNLOCK;
        break;
    default:
        *p = (struct process){.step = C_NOW};
    }
}

static void step_checkpoint(const struct setting *setting, struct state *state, int self)
{
    struct process *p = &state->process[self];
    struct image *m = &state->memory;
    const bool clear =
        !p->held && !(p->seen & UNWATCHED); /* where no other may be about to write */
    switch (p->step) {
    case C_NOW:
        p->now = state->answered;
        p->step = setting->late_question ? C_ASK : C_READ;
        break;
    case C_READ:
        p->seen = m->mark;
        p->step = setting->late_question ? C_SYNC : C_ASK;
        break;
    case C_ASK:
        p->held = !setting->no_question && is_locked_by_another(state, self);
        p->step = setting->late_question ? C_READ : C_SYNC;
        break;
    case C_SYNC:
        state->disk = *m;
        p->step = C_SWAP;
        break;
    case C_SWAP:
        if (setting->late_clock) p->now = state->answered;
        if (clear && m->mark == p->seen) m->mark &= (uint8_t) ~(DIRTY | ON_DISK);
        p->old = m->until;
        p->step = C_TIME;
        break;
    case C_TIME: /* a time never goes back: raised by compare-and-swap, or left */
        if (m->until == p->old && (p->old & ~p->now) == 0) m->until = p->now;
        p->step = C_HEADER;
        break;
    default:
        state->disk.mark = m->mark;
        state->disk.until = m->until;
        *p = (struct process){.step = END};
        break;
    }
}

/* ---- All runs ----------------------------------------------------------------------------- */

static bool is_honest(const struct state *state)
{
    const struct image *disk = &state->disk;
    if (disk->until & ~disk->bits) return false;
    return (disk->mark & DIRTY) || (state->answered & ~disk->bits) == 0;
}

static void walk(struct search *search, const struct state *from)
{
    if (!states_enter(&search->states, from)) return;
    if (!is_honest(from)) search->lied = true;
    if (search->lied) return;
    for (int i = 0; i < PROCESSES_MAX && !search->lied; i++) {
        struct state to = *from;
        if (from->process[i].step == END) continue;
        if (from->process[i].step < C_NOW)
            step_writer(search->setting, &to, i);
        else
            step_checkpoint(search->setting, &to, i);
        walk(search, &to);
        to = *from;
        to.process[i] = (struct process){.step = END};
        if (search->setting->deaths) walk(search, &to);
    }
    if (!search->setting->kernel) return;
    struct state to = *from; /* the kernel writes by itself */
    to.disk.mark = from->memory.mark;
    to.disk.until = from->memory.until;
    walk(search, &to);
    to = *from;
    to.disk.bits = from->memory.bits;
    walk(search, &to);
}

static bool finds_lie(const struct setting *setting, size_t *states)
{
    struct search search = {.setting = setting};
    struct state start;
    memset(&start, 0, sizeof start);
    start.used = 1;
    for (int i = 0; i < PROCESSES_MAX; i++) {
        const bool writes = i < setting->writers;
        const bool checks = i >= WRITERS_MAX && i - WRITERS_MAX < setting->checkpoints;
        start.process[i].step = (uint8_t)(writes ? W_LOCK : checks ? C_NOW : END);
    }
    states_init(&search.states, sizeof start);
    walk(&search, &start);
    *states = search.states.used;
    states_clear(&search.states);
    return search.lied;
}

static bool check(const struct setting *setting, bool expected)
{
    size_t states;
    const bool lied = finds_lie(setting, &states);
    printf("%-46s %7d %9d %11d %6s %6s %9zu  %s%s\n", setting->name, setting->writers,
           setting->unwatched, setting->checkpoints, setting->deaths ? "yes" : "-",
           setting->kernel ? "yes" : "-", states, lied ? "LIES" : "honest",
           lied == expected ? "" : "   FAILED");
    (void)fflush(stdout);
    return lied == expected;
}

#define SIZE(WRITERS, CHECKPOINTS) .writers = (WRITERS), .checkpoints = (CHECKPOINTS)

int main(void)
{
    static const struct setting promise[] = {
        {.name = "as it is", SIZE(1, 2), .kernel = true, .deaths = true},
        {.name = "as it is", SIZE(1, 2), .kernel = true, .deaths = true, .unwatched = 1},
        {.name = "as it is", SIZE(2, 1)},
        {.name = "as it is", SIZE(2, 0), .kernel = true, .deaths = true},
        {.name = "as it is", SIZE(2, 1), .unwatched = 1},
        {.name = "as it is", SIZE(2, 1), .unwatched = 2},
    };
    static const struct setting controls[] = {
        {.name = "a checkpoint does not ask for locks", SIZE(2, 1), .no_question = true},
        {.name = "writers do not count themselves", SIZE(2, 1), .no_count = true},
        {.name = "writers lock after they have marked", SIZE(2, 1), .late_lock = true},
        {.name = "a checkpoint reads the mark after the question",
         SIZE(2, 1),
         .late_question = true},
        {.name = "a writer does not sync the header", SIZE(1, 1), .no_header = true},
        {.name = "a writer goes by bit 0 and not by bit 1", SIZE(2, 1), .trusts_dirty = true},
        {.name = "no lock is told of after the count",
         SIZE(2, 1),
         .unwatched = 1,
         .late_flag = true},
        {.name = "a checkpoint reads the clock behind its sync", SIZE(2, 1), .late_clock = true},
    };
    bool good = true;
    printf("%-46s %7s %9s %11s %6s %6s %9s\n", "protocol", "writers", "unwatched", "checkpoints",
           "deaths", "kernel", "states");
    for (size_t i = 0; i < sizeof promise / sizeof promise[0]; i++)
        good &= check(&promise[i], false);
    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++)
        good &= check(&controls[i], true);
    return model_end(good);
}
