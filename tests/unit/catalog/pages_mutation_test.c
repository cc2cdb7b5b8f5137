/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages_mutation_test.c: damaged catalogs of every sort, used as a program would use them.
 *
 * A result may be an error or the truth; it may not be a crash, and not a list that lacks a filter,
 * has one that is not there, or tells one wrongly.  A crash of LMDB (a bad read, or its abort())
 * ends a child; the parent tells which mutation it was.
 */
#include "fixture.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "catalogs.h"
#include "rounds.h"
#include "spawn.h"

#define PAGE 4096u

struct truth {
    char *path;
    unsigned char *file, *mutated;
    size_t bytes;
    struct tamis_filter_stat *filters;
    size_t count;
};

/* ---- The truth ------------------------------------------------------------------------------- */

static int remember(void *context, const struct tamis_filter_stat *stat)
{
    struct truth *truth = context;
    truth->filters = reallocarray(truth->filters, truth->count + 1, sizeof *stat);
    if (truth->filters == NULL) err(1, "reallocarray");
    truth->filters[truth->count++] = *stat;
    return 0;
}

static void learn(struct truth *truth, tamis_store *store)
{
    assert_done(tamis_store_list(store, NULL, remember, truth));
    tamis_store_close(store);
    truth->file = catalogs_read_file(truth->path, &truth->bytes);
    truth->mutated = malloc(truth->bytes);
    if (truth->mutated == NULL) err(1, "malloc");
}

static void forget(struct truth *truth)
{
    free(truth->path);
    free(truth->file);
    free(truth->mutated);
    free(truth->filters);
}

/* ---- Damage ---------------------------------------------------------------------------------- */

static void flip(unsigned char *file, uint64_t bit)
{
    file[bit / 8] ^= (unsigned char)(1u << bit % 8);
}

/* Changes truth->mutated; returns its new length.  *what says what was done. */
static size_t mutate(struct truth *t, uint64_t *state, const char **what)
{
    unsigned char *f = t->mutated;
    const uint64_t pages = t->bytes / PAGE, page = random_below(state, pages);
    const uint64_t other = random_below(state, pages), at = random_below(state, t->bytes);
    uint64_t length = 1 + random_below(state, 64);
    unsigned char kept[PAGE];
    if (length > t->bytes - at) length = t->bytes - at;
    switch (random_below(state, 10)) {
    case 0:
        *what = "bits flipped anywhere";
        for (uint64_t i = 0; i < length; i++)
            flip(f, random_below(state, t->bytes * 8));
        return t->bytes;
    case 1:
        *what = "one bit flipped in a page header or its pointers";
        flip(f, page * PAGE * 8 + random_below(state, 64 * 8));
        return t->bytes;
    case 2:
        *what = "one bit flipped in a meta page";
        flip(f, random_below(state, 2) * PAGE * 8 + random_below(state, 152 * 8));
        return t->bytes;
    case 3:
        *what = "a number of a page header replaced";
        f[page * PAGE + random_below(state, 16)] = (unsigned char)random_next(state);
        return t->bytes;
    case 4:
        *what = "truncated";
        return (size_t)at;
    case 5:
        *what = "truncated to whole pages";
        return (size_t)(page * PAGE);
    case 6:
        *what = "a range of garbage";
        random_fill(state, f + at, (size_t)length);
        return t->bytes;
    case 7:
        *what = "a range of zeros";
        memset(f + at, 0, (size_t)length);
        return t->bytes;
    case 8:
        *what = "two pages exchanged";
        memcpy(kept, f + page * PAGE, PAGE);
        memcpy(f + page * PAGE, f + other * PAGE, PAGE);
        memcpy(f + other * PAGE, kept, PAGE);
        return t->bytes;
    default:
        *what = "a page written over another";
        memcpy(f + page * PAGE, f + other * PAGE, PAGE);
        return t->bytes;
    }
}

static void write_catalog(const struct truth *t, size_t bytes)
{
    const char *path = fixture_join(t->path, "catalog.mdb");
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || pwrite(fd, t->mutated, bytes, 0) != (ssize_t)bytes ||
        ftruncate(fd, (off_t)bytes) != 0)
        err(1, "write %s", path);
    (void)close(fd);
}

/* ---- Use ------------------------------------------------------------------------------------- */

struct listing {
    const struct truth *truth;
    const char *added, *dropped; /* NULL: none; names in order */
    size_t at;
    bool added_seen, wrong;
};

static bool same(const struct tamis_filter_stat *a, const struct tamis_filter_stat *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->hash_set, b->hash_set) == 0 &&
           a->kind == b->kind && a->k == b->k && a->m_bits == b->m_bits && a->seed == b->seed &&
           a->capacity == b->capacity && a->fp_rate == b->fp_rate && a->items == b->items &&
           a->size_bytes == b->size_bytes && a->generation == b->generation &&
           a->segment_count == b->segment_count && a->created_at == b->created_at &&
           a->published_at == b->published_at && a->checkpointed_at == b->checkpointed_at;
}

static int compare(void *context, const struct tamis_filter_stat *stat)
{
    struct listing *l = context;
    if (l->added != NULL && strcmp(stat->name, l->added) == 0) {
        l->wrong |= l->added_seen;
        l->added_seen = true;
        return 0;
    }
    if (l->at < l->truth->count && l->dropped != NULL &&
        strcmp(l->truth->filters[l->at].name, l->dropped) == 0)
        l->at++;
    if (l->at >= l->truth->count || !same(stat, &l->truth->filters[l->at])) l->wrong = true;
    l->at++;
    return 0;
}

/* The list is an error, or the truth with that change. */
static bool lists_right(const struct truth *truth, tamis_store *store, const char *added,
                        const char *dropped)
{
    struct listing l = {.truth = truth, .added = added, .dropped = dropped};
    if (tamis_store_list(store, NULL, compare, &l) < 0) return true;
    if (l.at < truth->count && dropped != NULL && strcmp(truth->filters[l.at].name, dropped) == 0)
        l.at++;
    return !l.wrong && l.at == truth->count && l.added_seen == (added != NULL);
}

/* "No such filter" of one that is there is not an error but a lie: a caller would make it anew. */
static bool denies(tamis_store *store, const char *name)
{
    tamis_filter *filter;
    const int rc = tamis_filter_open(store, name, TAMIS_OPEN_READ_ONLY, &filter);
    if (rc == 0) tamis_filter_release(filter);
    return rc == TAMIS_ENOTFOUND;
}

/* NULL, or what was wrong. */
static const char *use(const struct truth *truth, uint64_t *state, bool *usable)
{
    const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 10};
    const char *dropped = truth->filters[random_below(state, truth->count)].name;
    const char *wrong = NULL;
    tamis_store *store;
    if (tamis_store_open(truth->path, TAMIS_OPEN_READ_ONLY, &store) == 0) {
        if (!lists_right(truth, store, NULL, NULL)) wrong = "the list is wrong";
        if (denies(store, dropped)) wrong = "a filter that is there is denied";
        tamis_store_close(store);
        *usable = true;
    }
    if (wrong != NULL || tamis_store_open(truth->path, 0, &store) != 0) return wrong;
    if (tamis_filter_create(store, dropped, &spec, NULL) == 0) wrong = "a name was given twice";
    const char *added = tamis_filter_create(store, "new", &spec, NULL) == 0 ? "new" : NULL;
    if (wrong == NULL && !lists_right(truth, store, added, NULL))
        wrong = "the list is wrong after a create";
    if (tamis_filter_drop(store, dropped) != 0) dropped = NULL;
    if (wrong == NULL && !lists_right(truth, store, added, dropped))
        wrong = "the list is wrong after a drop";
    tamis_store_close(store);
    return wrong;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

struct round {
    struct truth *truth;
    uint64_t seed;
    /* Shared with the parent: how far the child is, and how many catalogs could still be used. */
    volatile uint64_t *progress, *usable;
    uint64_t first, count;
    bool noted; /* damage comes at once after a writer has noted all pages as sound (file.c) */
};

/*
 * The number by which one of the meta pages is the newer.  Made smaller by two in that one, it puts
 * the commit before in force, whose pages are all there and sound: LMDB's file holds nothing
 * against it.
 */
static bool transaction_changed(const struct truth *t)
{
    return memcmp(t->mutated + 144, t->file + 144, 8) != 0 ||
           memcmp(t->mutated + PAGE + 144, t->file + PAGE + 144, 8) != 0;
}

static void note_the_truth(const struct truth *truth)
{
    memcpy(truth->mutated, truth->file, truth->bytes);
    write_catalog(truth, truth->bytes);
    AUTO_STORE *store = fixture_open(truth->path, 0);
    tamis__catalog_end(catalogs_begin(store, TAMIS__LOCK_EXCLUSIVE));
}

static void run_rounds(void *context)
{
    const struct round *r = context;
    for (uint64_t i = r->first; i < r->first + r->count; i++) {
        const char *what;
        uint64_t state = r->seed + i * 1000003;
        *r->progress = i;
        if (r->noted) note_the_truth(r->truth);
        memcpy(r->truth->mutated, r->truth->file, r->truth->bytes);
        const size_t bytes = mutate(r->truth, &state, &what);
        write_catalog(r->truth, bytes);
        bool usable = false;
        const char *wrong = use(r->truth, &state, &usable);
        if (usable) ++*r->usable;
        if (wrong == NULL || transaction_changed(r->truth)) continue;
        print_error("mutation %" PRIu64 " (%s): %s\n", i, what, wrong);
        _exit(1);
    }
}

/*
 * `total` mutations in children of 250; a crash or a wrong answer fails.
 *
 * A writer has two guards: the walk over all pages, and the check of the pages on its paths.  Seen
 * to fail with neither; note_test.c fails without one of them.
 */
static void mutate_all(struct truth *truth, uint64_t total, bool noted)
{
    uint64_t *shared = spawn_shared(2 * sizeof *shared), failures = 0;
    const uint64_t *progress = shared, *usable = shared + 1;
    struct round r = {truth, random_seed(), shared, shared + 1, 0, 0, noted};
    while (r.first < total && failures < 20) {
        r.count = total - r.first < 250 ? total - r.first : 250;
        const int status = fixture_child(run_rounds, &r);
        if (status > 255) {
            const char *what;
            uint64_t state = r.seed + *progress * 1000003;
            (void)mutate(truth, &state, &what);
            print_error("mutation %" PRIu64 " (%s): signal %d\n", *progress, what, status - 256);
        }
        if (status != 0) failures++;
        r.first = status == 0 ? r.first + r.count : *progress + 1;
    }
    (void)printf("%" PRIu64 " mutations, %" PRIu64 " of them left a catalog to be used\n", total,
                 *usable);
    assert_int_equal(failures, 0);
    assert_true(*usable > 0 && *usable < total);
}

CASE(pages_of_a_small_catalog_damaged_give_errors_or_the_truth)
{
    struct truth truth = {0};
    tamis_store *store = fixture_store(&truth.path);
    catalogs_put_range(store, 0, 12);
    catalogs_forget_range(store, 3, 6, 3);
    catalogs_put_range(store, 20, 2);
    learn(&truth, store);
    mutate_all(&truth, rounds(1500, 15000), false);
    mutate_all(&truth, rounds(250, 3000), true);
    forget(&truth);
}

/* Branch pages, overflow pages and a free list. */
CASE(pages_of_a_larger_catalog_damaged_give_errors_or_the_truth)
{
    struct truth truth = {0};
    tamis_store *store = fixture_store(&truth.path);
    catalogs_put_range(store, 0, 400);
    catalogs_forget_range(store, 1, 300, 2);
    catalogs_put_range(store, 500, 5);
    learn(&truth, store);
    mutate_all(&truth, rounds(500, 5000), false);
    mutate_all(&truth, rounds(FIXTURE_SANITIZED ? 100 : 250, 1500), true);
    forget(&truth);
}

CASES_PREPARE
{
    scratch_in_memory();
}
