/* SPDX-License-Identifier: BSD-2-Clause */
/* ledger.c: see ledger.h. */
#include "ledger.h"
#include "auto.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t ledger_now(struct ledger *ledger)
{
    return __atomic_add_fetch(&ledger->clock, 1, __ATOMIC_SEQ_CST);
}

size_t ledger_key_bytes(unsigned filter, unsigned key, char out[32])
{
    return (size_t)snprintf(out, 32, "filter %u, key %u", filter, key);
}

size_t ledger_edition_key(unsigned filter, unsigned edition, unsigned key, char out[32])
{
    const unsigned own = key + 1 == LEDGER_EDITION_KEYS ? edition : 0;
    return (size_t)snprintf(out, 32, "%u of edition %u, %u", filter, own, key);
}

/* ---- Findings -------------------------------------------------------------------------------- */

struct judge {
    const struct ledger_case *judged;
    uint64_t wrong;
};

__attribute__((format(printf, 3, 4))) static void find(struct judge *judge, uint64_t *figure,
                                                       const char *format, ...)
{
    va_list list;
    judge->wrong++;
    (void)__atomic_add_fetch(figure, 1, __ATOMIC_RELAXED);
    if (judge->judged->quiet || judge->wrong > 5) return;
    printf("%s: ", judge->judged->title);
    va_start(list, format);
    (void)vprintf(format, list);
    va_end(list);
    printf("\n");
}

static void count(uint64_t *figure, uint64_t more)
{
    (void)__atomic_add_fetch(figure, more, __ATOMIC_RELAXED);
}

/* ---- Filters --------------------------------------------------------------------------------- */

struct seen {
    tamis_filter *filter;
    struct tamis_filter_stat stat;
    uint32_t edition;
    unsigned index;
    const struct ledger_filter *told;
    const char *how; /* it was opened */
};

static int has(tamis_filter *filter, const char *key, size_t bytes)
{
    const int rc = tamis_filter_contains(filter, key, bytes);
    return rc > 0;
}

/* Which edition answers: one of those that may; its keys are all there, and the own one of no
 * other. */
static bool find_edition(struct judge *judge, struct seen *seen)
{
    struct ledger_figures *figures = judge->judged->figures;
    char key[32];
    uint32_t found = 0, own = 0;
    for (uint32_t e = 1; e < LEDGER_EDITIONS; e++) {
        unsigned hits = 0;
        for (unsigned k = 2; k < LEDGER_EDITION_KEYS; k++)
            hits += (unsigned)has(seen->filter, key, ledger_edition_key(seen->index, e, k, key));
        const size_t bytes = ledger_edition_key(seen->index, e, LEDGER_EDITION_KEYS - 1, key);
        if (!has(seen->filter, key, bytes)) continue;
        own++;
        if (hits == LEDGER_EDITION_KEYS - 2) found = e;
    }
    seen->edition = found;
    if (own <= 1 && (own == 0 || found != 0) && (seen->told->editions & (1u << found)) != 0)
        return true;
    find(judge, &figures->lost_catalog,
         "filter %u answers from edition %u (%u editions seem to be in force), allowed are %#x",
         seen->index, found, own, seen->told->editions);
    return false;
}

static void judge_exceptions(struct judge *judge, const struct seen *seen)
{
    char key[32];
    for (unsigned k = 0; seen->edition > 0 && k < 2; k++) {
        const int is =
            has(seen->filter, key, ledger_edition_key(seen->index, seen->edition, k, key));
        const uint32_t excepted = is ? LEDGER_NO : LEDGER_YES;
        if ((seen->told->excepted[k] & excepted) == 0)
            find(judge, &judge->judged->figures->lost_catalog,
                 "filter %u: exception %u is %s in force", seen->index, k, is ? "not" : "still");
    }
}

static bool must_be_there(const struct seen *seen, const struct ledger_key *key)
{
    if (key->lost) return false;
    return seen->told->durable || key->told <= seen->told->synced;
}

static void judge_count(struct judge *judge, const struct seen *seen, unsigned index)
{
    char text[32];
    const struct ledger_key *key = &seen->told->keys[index];
    const size_t bytes = ledger_key_bytes(seen->told->keys_of, index, text);
    const int64_t is = tamis_filter_count(seen->filter, text, bytes);
    const int64_t least = key->synced_count - key->removed;
    if (least > 0 && is < least)
        find(judge, &judge->judged->figures->lost_synced,
             "filter %u: key %u is counted %" PRId64 " times, %" PRId64 " were synced", seen->index,
             index, is, least);
    if (key->told_count - key->removed > is) count(&judge->judged->figures->lost_after_sync, 1);
}

/* A key that may be lost and is: then the filter says that some are, since a time not after its
 * add's return. */
static void judge_lost(struct judge *judge, const struct seen *seen, unsigned index)
{
    struct ledger_figures *figures = judge->judged->figures;
    const struct ledger_key *key = &seen->told->keys[index];
    if (must_be_there(seen, key)) {
        find(judge, seen->told->durable ? &figures->lost_durable : &figures->lost_synced,
             "filter %u%s: key %u was told%s and is lost", seen->index, seen->how, index,
             seen->told->durable ? "" : ", and synced,");
        return;
    }
    count(&figures->lost_after_sync, 1);
    if ((seen->stat.state & TAMIS_STATE_UNCLEAN) == 0)
        find(judge, &figures->untold, "filter %u: key %u is lost, and the filter says nothing",
             seen->index, index);
    else if (seen->stat.unclean_since > key->at_ns)
        find(judge, &figures->untold,
             "filter %u: key %u is lost, of %" PRId64 " ns before the filter says that it is "
             "unclean",
             seen->index, index, seen->stat.unclean_since - key->at_ns);
}

static void judge_keys(struct judge *judge, const struct seen *seen)
{
    char text[32];
    for (unsigned i = 0; i < LEDGER_KEYS; i++) {
        const struct ledger_key *key = &seen->told->keys[i];
        const uint32_t turned = seen->told->rotations - key->rotation;
        if (key->told == 0 || key->edition != seen->edition) continue;
        /* It turns by itself too, when the slice is full: once, with what is added here. */
        if (seen->told->slices > 0 && turned + 1 > seen->told->slices) continue;
        count(&judge->judged->figures->judged_keys, 1);
        if (seen->told->counting) {
            judge_count(judge, seen, i);
            continue;
        }
        if (!has(seen->filter, text, ledger_key_bytes(seen->told->keys_of, i, text)))
            judge_lost(judge, seen, i);
    }
}

/* It cannot be asked: what it must have is lost. */
static void lose_all(struct judge *judge, unsigned index)
{
    struct ledger_figures *figures = judge->judged->figures;
    const struct seen seen = {.stat.size = sizeof seen.stat,
                              .index = index,
                              .told = &judge->judged->ledger->filters[index]};
    if (seen.told->there == LEDGER_YES) count(&figures->lost_catalog, 1);
    for (unsigned i = 0; i < LEDGER_KEYS; i++)
        if (seen.told->keys[i].told != 0 && must_be_there(&seen, &seen.told->keys[i]))
            count(seen.told->durable ? &figures->lost_durable : &figures->lost_synced, 1);
}

/* Open it under either name; 0, 1 or below 0. */
static int open_named(tamis_store *store, const struct ledger_filter *told, unsigned flags,
                      tamis_filter **filter)
{
    int rc = TAMIS_ENOTFOUND;
    for (unsigned i = 0; i < 2 && rc == TAMIS_ENOTFOUND; i++)
        if (told->names[i][0] != '\0') rc = tamis_filter_open(store, told->names[i], flags, filter);
    return rc == TAMIS_ENOTFOUND ? 0 : rc < 0 ? rc : 1;
}

static void judge_filter(struct judge *judge, tamis_store *store, unsigned index, unsigned flags)
{
    struct ledger_figures *figures = judge->judged->figures;
    struct seen seen = {.stat.size = sizeof seen.stat,
                        .index = index,
                        .told = &judge->judged->ledger->filters[index],
                        .how = flags ? ", read-only" : ""};
    if (seen.told->there == 0) return;
    const int rc = open_named(store, seen.told, flags, &seen.filter);
    if (rc < 0) {
        /* What is only in a log would seem absent: a reader is told to have it opened for writing.
         * */
        if (flags == TAMIS_OPEN_READ_ONLY && seen.told->durable && rc == TAMIS_EREADONLY) return;
        find(judge, &figures->unopened, "filter %u does not open%s: %s", index,
             flags ? " read-only" : "", tamis_last_error());
        lose_all(judge, index);
        return;
    }
    if ((seen.told->there & (rc ? LEDGER_YES : LEDGER_NO)) == 0) {
        find(judge, &figures->lost_catalog, "filter %u is %s there", index, rc ? "still" : "not");
    } else if (rc && tamis_filter_stat(seen.filter, &seen.stat) < 0) {
        find(judge, &figures->unopened, "filter %u: %s", index, tamis_last_error());
    } else if (rc && find_edition(judge, &seen)) {
        count(&figures->unclean_told, (seen.stat.state & TAMIS_STATE_UNCLEAN) != 0);
        judge_exceptions(judge, &seen);
        judge_keys(judge, &seen);
    }
    if (rc) close_anyhow(seen.filter);
}

/* ---- The store ------------------------------------------------------------------------------- */

struct problems {
    struct judge *judge;
    bool orphans_too;
};

static int hear_problem(void *context, const struct tamis_problem *problem)
{
    struct problems *problems = context;
    const bool orphan = strstr(problem->reason, "belongs to no filter") != NULL;
    /* A log of a filter that was dropped stays until a repair. */
    const bool log = strncmp(problem->file, "logs/", 5) == 0;
    if (!orphan || (problems->orphans_too && !log))
        find(problems->judge, &problems->judge->judged->figures->unsound,
             "verify: %s %s at %" PRIu64 ": %s", problem->filter, problem->file, problem->offset,
             problem->reason);
    return 0;
}

static void verify(struct judge *judge, tamis_store *store, bool orphans_too)
{
    struct problems problems = {judge, orphans_too};
    const int64_t rc = tamis_store_verify(store, NULL, hear_problem, &problems);
    if (rc < 0)
        find(judge, &judge->judged->figures->unsound, "verify ends: %s", tamis_last_error());
}

/* 1: it is open; 0: it is not there, which may be. */
static int open_store(struct judge *judge, unsigned flags, tamis_store **store)
{
    const struct ledger *ledger = judge->judged->ledger;
    int rc = tamis_store_open(judge->judged->path, flags, store);
    if (rc == 0) return 1;
    if (flags == TAMIS_OPEN_READ_ONLY && !ledger->store_made && rc == TAMIS_ENOSTORE) return 0;
    if (ledger->catalog_lost && rc == TAMIS_ECORRUPT) {
        if (flags == TAMIS_OPEN_READ_ONLY) return 0;
        if (tamis_store_repair(judge->judged->path, 0, NULL, NULL) >= 0)
            rc = tamis_store_open(judge->judged->path, flags, store);
        if (rc == 0) return 1;
    }
    find(judge, &judge->judged->figures->unopened, "the store does not open%s: %s",
         flags == TAMIS_OPEN_READ_ONLY ? " read-only" : "", tamis_last_error());
    for (unsigned f = 0; f < LEDGER_FILTERS; f++)
        lose_all(judge, f);
    return -1;
}

/* As anybody who comes: adds, syncs, makes a filter and drops it; then nothing may be amiss. */
static void go_on(struct judge *judge, tamis_store *store)
{
    static const struct tamis_filter_spec plain = {.size = sizeof plain, .capacity = 100};
    struct ledger_figures *figures = judge->judged->figures;
    int rc = tamis_filter_create(store, "next", &plain, NULL);
    if (rc == 0) rc = tamis_filter_drop(store, "next");
    for (unsigned i = 0; rc >= 0 && i < LEDGER_FILTERS; i++) {
        const struct ledger_filter *told = &judge->judged->ledger->filters[i];
        tamis_filter *filter;
        if (told->there == 0) continue;
        rc = open_named(store, told, 0, &filter);
        if (rc <= 0) continue;
        rc = tamis_filter_add(filter, "after the cut", 13);
        if (rc == TAMIS_EUNSUPPORTED)
            rc = 0; /* static */
        else if (rc >= 0 && !has(filter, "after the cut", 13))
            rc = TAMIS_ECORRUPT;
        if (rc >= 0) rc = tamis_filter_sync(filter);
        const int closed = tamis_filter_close(filter);
        if (rc >= 0) rc = closed;
    }
    if (rc < 0) find(judge, &figures->unsound, "it does not go on: %s", tamis_last_error());
}

/* A backup is there with all keys that were told before it was begun, or it is not there and has
 * not returned. */
static void judge_copy(struct judge *judge)
{
    const struct ledger *ledger = judge->judged->ledger;
    const struct ledger_filter *told = &ledger->filters[0];
    const char *path = judge->judged->path;
    char copy[4096], key[32];
    tamis_store *store = NULL;
    tamis_filter *filter = NULL;
    (void)snprintf(copy, sizeof copy, "%.*s/copy", (int)(strrchr(path, '/') - path), path);
    if (ledger->copied == 0 || (!ledger->copy_is_told && access(copy, F_OK) != 0)) return;
    int rc = tamis_store_open(copy, TAMIS_OPEN_READ_ONLY, &store);
    if (rc == 0) rc = tamis_filter_open(store, told->names[0], TAMIS_OPEN_READ_ONLY, &filter);
    if (rc < 0)
        find(judge, &judge->judged->figures->lost_catalog, "the backup: %s", tamis_last_error());
    for (unsigned i = 0; rc == 0 && i < LEDGER_KEYS; i++)
        if (told->keys[i].told != 0 && told->keys[i].told <= ledger->copied &&
            !has(filter, key, ledger_key_bytes(0, i, key)))
            find(judge, &judge->judged->figures->lost_synced, "the backup lacks key %u", i);
    close_anyhow(filter);
    tamis_store_close(store);
}

uint64_t ledger_judge(const struct ledger_case *judged)
{
    struct judge judge = {.judged = judged};
    tamis_store *store;
    for (unsigned i = 0; i < 2; i++) {
        const unsigned flags = i == 0                       ? TAMIS_OPEN_READ_ONLY
                               : judged->ledger->store_made ? 0
                                                            : TAMIS_OPEN_CREATE;
        if (open_store(&judge, flags, &store) <= 0) continue;
        for (unsigned f = 0; f < LEDGER_FILTERS; f++)
            judge_filter(&judge, store, f, flags & TAMIS_OPEN_READ_ONLY);
        verify(&judge, store, false);
        if (i == 1) {
            go_on(&judge, store);
            verify(&judge, store, true);
            for (unsigned f = 0; f < LEDGER_FILTERS; f++)
                judge_filter(&judge, store, f, 0);
        }
        tamis_store_close(store);
    }
    judge_copy(&judge);
    return judge.wrong;
}

/* ---- Up again -------------------------------------------------------------------------------- */

static void settle_filter(struct ledger *ledger, tamis_store *store, unsigned index)
{
    struct ledger_filter *told = &ledger->filters[index];
    struct seen seen = {.stat.size = sizeof seen.stat, .index = index, .told = told};
    char key[32];
    for (unsigned i = 0; i < 2; i++) {
        if (told->names[i][0] == '\0') continue;
        if (tamis_filter_open(store, told->names[i], 0, &seen.filter) < 0) continue;
        if (i == 1) (void)strcpy(told->names[0], told->names[1]);
        break;
    }
    told->names[1][0] = '\0';
    told->there = seen.filter != NULL ? LEDGER_YES : LEDGER_NO;
    if (seen.filter == NULL) return;
    for (unsigned e = 1; e < LEDGER_EDITIONS; e++)
        if (has(seen.filter, key, ledger_edition_key(index, e, LEDGER_EDITION_KEYS - 1, key)))
            seen.edition = e;
    told->editions = 1u << seen.edition;
    for (unsigned k = 0; k < 2; k++)
        told->excepted[k] = has(seen.filter, key, ledger_edition_key(index, seen.edition, k, key))
                                ? LEDGER_NO
                                : LEDGER_YES;
    for (unsigned k = 0; k < LEDGER_KEYS; k++)
        if (told->keys[k].told != 0 && !told->counting &&
            !has(seen.filter, key, ledger_key_bytes(told->keys_of, k, key)))
            told->keys[k].lost = true;
    for (unsigned k = 0; told->counting && k < LEDGER_KEYS; k++) {
        struct ledger_key *is = &told->keys[k];
        const int64_t now =
            tamis_filter_count(seen.filter, key, ledger_key_bytes(told->keys_of, k, key));
        is->told_count = is->synced_count = (int32_t)now;
        is->removed = 0;
    }
    close_anyhow(seen.filter);
}

void ledger_settle(struct ledger *ledger, tamis_store *store)
{
    ledger->store_made = true;
    ledger->catalog_lost = false;
    for (unsigned i = 0; i < LEDGER_FILTERS; i++)
        if (ledger->filters[i].there != 0) settle_filter(ledger, store, i);
}
