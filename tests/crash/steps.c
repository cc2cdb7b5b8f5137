/* SPDX-License-Identifier: BSD-2-Clause */
/* steps.c: see steps.h. */
#include "steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pages.h"
#include "spawn.h"
#include "specs.h"
#include "streams.h"

#define LARGE_FROM 200u
#define LARGE_MORE 400000u /* at a rate of 1e-9 some 3 MiB */

static struct ledger_filter *told_of(struct scene *scene, unsigned filter)
{
    return &scene->ledger->filters[filter];
}

static int64_t wall_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- Stores and filters ---------------------------------------------------------------------- */

void step_open_store(struct scene *scene)
{
    const unsigned flags = scene->ledger->store_made ? 0 : TAMIS_OPEN_CREATE;
    SPAWN_CHECK(tamis_store_open(scene->path, flags, &scene->store) == 0);
    scene->ledger->store_made = true;
}

void step_close_store(struct scene *scene)
{
    for (unsigned i = 0; i < LEDGER_FILTERS; i++)
        step_close(scene, i);
    tamis_store_close(scene->store);
    scene->store = NULL;
}

/* A new filter in this place of the ledger; what it knew of another is gone. */
static struct ledger_filter *begin_filter(struct scene *scene, unsigned filter, const char *name)
{
    struct ledger_filter *told = told_of(scene, filter);
    memset(told, 0, sizeof *told);
    (void)strcpy(told->names[0], name);
    told->keys_of = filter;
    told->editions = 1;
    told->excepted[0] = told->excepted[1] = LEDGER_NO;
    told->there = LEDGER_EITHER;
    return told;
}

/* Large enough for huge pages where the test is about these.  What is to grow stays small. */
static struct tamis_filter_spec in_pages(const struct tamis_filter_spec *spec)
{
    struct tamis_filter_spec own = *spec;
    if (!pages_are_huge() || spec->capacity < LARGE_FROM) return own;
    own.pages = TAMIS_PAGES_HUGE;
    own.capacity += LARGE_MORE;
    return own;
}

void step_create(struct scene *scene, unsigned filter, const char *name,
                 const struct tamis_filter_spec *spec)
{
    struct ledger_filter *told = begin_filter(scene, filter, name);
    told->durable = (spec->flags & TAMIS_FILTER_DURABLE) != 0;
    told->counting = spec->kind == TAMIS_KIND_COUNTING;
    told->slices = spec->slices;
    const struct tamis_filter_spec own = in_pages(spec);
    SPAWN_CHECK(tamis_filter_create(scene->store, name, &own, &scene->filters[filter]) == 0);
    told->there = LEDGER_YES;
}

void step_create_many(struct scene *scene, unsigned first, const char *const *names, unsigned count,
                      const struct tamis_filter_spec *spec)
{
    for (unsigned i = 0; i < count; i++)
        (void)begin_filter(scene, first + i, names[i]);
    SPAWN_CHECK(tamis_filter_create_many(scene->store, names, count, spec, 0) == (int64_t)count);
    for (unsigned i = 0; i < count; i++) {
        told_of(scene, first + i)->there = LEDGER_YES;
        step_open(scene, first + i);
    }
}

void step_open(struct scene *scene, unsigned filter)
{
    const char *name = told_of(scene, filter)->names[0];
    SPAWN_CHECK(tamis_filter_open(scene->store, name, 0, &scene->filters[filter]) == 0);
}

void step_close(struct scene *scene, unsigned filter)
{
    SPAWN_CHECK(tamis_filter_close(scene->filters[filter]) == 0);
    scene->filters[filter] = NULL;
}

void step_drop(struct scene *scene, unsigned filter)
{
    struct ledger_filter *told = told_of(scene, filter);
    told->there = LEDGER_EITHER;
    SPAWN_CHECK(tamis_filter_drop(scene->store, told->names[0]) == 0);
    told->there = LEDGER_NO;
    told->names[0][0] = '\0'; /* it may be another's from now on */
}

void step_rename(struct scene *scene, unsigned filter, const char *to)
{
    struct ledger_filter *told = told_of(scene, filter);
    char from[sizeof told->names[0]];
    (void)strcpy(from, told->names[0]);
    (void)strcpy(told->names[1], to);
    SPAWN_CHECK(tamis_filter_rename(scene->store, from, to) == 0);
    (void)strcpy(told->names[0], to);
    told->names[1][0] = '\0';
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static uint32_t edition_of(const struct ledger_filter *told)
{
    return (uint32_t)__builtin_ctz(told->editions);
}

static void begin_key(struct ledger_filter *told, unsigned key)
{
    struct ledger_key *is = &told->keys[key];
    if (is->told != 0) return; /* once more: what was known of it stays true */
    is->at_ns = INT64_MAX;
    is->edition = edition_of(told);
    is->rotation = told->rotations;
}

static void end_key(struct scene *scene, struct ledger_filter *told, unsigned key)
{
    struct ledger_key *is = &told->keys[key];
    is->told_count++;
    const uint64_t now = ledger_now(scene->ledger);
    if (is->told == 0) is->at_ns = wall_ns();
    if (is->told == 0) __atomic_store_n(&is->told, now, __ATOMIC_SEQ_CST);
}

void step_add(struct scene *scene, unsigned filter, unsigned from, unsigned to)
{
    struct ledger_filter *told = told_of(scene, filter);
    char text[32];
    for (unsigned key = from; key < to; key++) {
        begin_key(told, key);
        const size_t bytes = ledger_key_bytes(filter, key, text);
        SPAWN_CHECK(tamis_filter_add(scene->filters[filter], text, bytes) >= 0);
        end_key(scene, told, key);
    }
}

void step_add_batch(struct scene *scene, unsigned filter, unsigned from, unsigned to)
{
    struct ledger_filter *told = told_of(scene, filter);
    struct tamis_key keys[LEDGER_KEYS] = {{NULL, 0}};
    char texts[LEDGER_KEYS][32];
    for (unsigned key = from; key < to; key++) {
        begin_key(told, key);
        keys[key - from] =
            (struct tamis_key){texts[key - from], ledger_key_bytes(filter, key, texts[key - from])};
    }
    SPAWN_CHECK(tamis_filter_add_batch(scene->filters[filter], keys, to - from, NULL) >= 0);
    for (unsigned key = from; key < to; key++)
        end_key(scene, told, key);
}

void step_remove(struct scene *scene, unsigned filter, unsigned from, unsigned to)
{
    struct ledger_filter *told = told_of(scene, filter);
    char text[32];
    for (unsigned key = from; key < to; key++) {
        told->keys[key].removed++;
        const size_t bytes = ledger_key_bytes(filter, key, text);
        SPAWN_CHECK(tamis_filter_remove(scene->filters[filter], text, bytes) == 1);
    }
}

void step_rotate(struct scene *scene, unsigned filter)
{
    told_of(scene, filter)->rotations++;
    SPAWN_CHECK(tamis_filter_rotate(scene->filters[filter]) == 0);
}

void step_sync(struct scene *scene, unsigned filter)
{
    /* The pages come anew: each time in the other sort. */
    static uint32_t syncs;
    if (pages_are_huge())
        SPAWN_CHECK(tamis_filter_set_pages(scene->store, told_of(scene, filter)->names[0],
                                           1 + ++syncs % 2) == 0);
    struct ledger_filter *told = told_of(scene, filter);
    int32_t counts[LEDGER_KEYS];
    for (unsigned i = 0; i < LEDGER_KEYS; i++)
        counts[i] = told->keys[i].told_count;
    const uint64_t begun = ledger_now(scene->ledger);
    SPAWN_CHECK(tamis_filter_sync(scene->filters[filter]) == 0);
    for (unsigned i = 0; told->counting && i < LEDGER_KEYS; i++)
        told->keys[i].synced_count = counts[i];
    if (told->synced < begun) told->synced = begun;
}

/* ---- Builds ---------------------------------------------------------------------------------- */

static int build(struct scene *scene, unsigned filter, const char *name, uint32_t kind,
                 unsigned edition, bool excepting)
{
    struct tamis_key keys[LEDGER_EDITION_KEYS];
    char texts[LEDGER_EDITION_KEYS][32];
    tamis_build *build;
    for (unsigned k = 0; k < LEDGER_EDITION_KEYS; k++)
        keys[k] = (struct tamis_key){texts[k], ledger_edition_key(filter, edition, k, texts[k])};
    int rc = tamis_build_begin(
        scene->store, name,
        BUILD_SPEC(.filter =
                       SPEC(.fp_rate = kind == TAMIS_KIND_FUSE ? 0x1p-32 : 1e-9, .kind = kind),
                   .memory_bytes = 1 << 20, .threads = 1, .flags = TAMIS_BUILD_KEEP, .keep = 2),
        &build);
    if (rc < 0) return rc;
    rc = tamis_build_add(build, keys, LEDGER_EDITION_KEYS);
    if (rc == 0 && excepting) rc = tamis_build_except(build, keys, 1);
    if (rc == 0) rc = tamis_build_publish(build, NULL);
    tamis_build_close(build);
    return rc;
}

void step_publish(struct scene *scene, unsigned filter, const char *name, uint32_t kind,
                  unsigned edition, bool excepting)
{
    struct ledger_filter *told = told_of(scene, filter);
    if (told->there == 0) {
        told = begin_filter(scene, filter, name);
        told->editions = 0;
    }
    told->editions |= 1u << edition;
    if (excepting) told->excepted[0] |= LEDGER_YES;
    SPAWN_CHECK(build(scene, filter, name, kind, edition, excepting) == 1);
    told->editions = 1u << edition;
    told->there = LEDGER_YES;
    if (excepting) told->excepted[0] = LEDGER_YES;
}

void step_rollback(struct scene *scene, unsigned filter, unsigned edition)
{
    struct ledger_filter *told = told_of(scene, filter);
    told->editions |= 1u << edition;
    SPAWN_CHECK(tamis_filter_rollback(scene->store, told->names[0], 0) == 0);
    told->editions = 1u << edition;
}

void step_except(struct scene *scene, unsigned filter, unsigned edition, unsigned key,
                 bool take_off)
{
    struct ledger_filter *told = told_of(scene, filter);
    char text[32];
    const struct tamis_key one = {text, ledger_edition_key(filter, edition, key, text)};
    told->excepted[key] = LEDGER_EITHER;
    SPAWN_CHECK((take_off ? tamis_filter_unexcept(scene->store, told->names[0], &one, 1, NULL)
                          : tamis_filter_except(scene->store, told->names[0], &one, 1)) == 1);
    told->excepted[key] = take_off ? LEDGER_NO : LEDGER_YES;
}

/* ---- Filters of filters ---------------------------------------------------------------------- */

/* The keys of the source are of this filter: at once, as it is there with all of them or not at
 * all. */
static void take_keys(struct scene *scene, unsigned filter, unsigned source, bool synced)
{
    struct ledger_filter *told = told_of(scene, filter);
    const struct ledger_filter *from = told_of(scene, source);
    for (unsigned i = 0; i < LEDGER_KEYS; i++) {
        if (from->keys[i].told == 0) continue;
        told->keys[i] = from->keys[i];
        told->keys[i].told = ledger_now(scene->ledger);
    }
    told->keys_of = source;
    if (synced) told->synced = ledger_now(scene->ledger);
}

void step_merge(struct scene *scene, unsigned filter, unsigned source)
{
    SPAWN_CHECK(tamis_filter_merge(scene->filters[filter],
                                   MERGE(.sources = &scene->filters[source], .count = 1)) == 0);
    const int64_t at_ns = wall_ns();
    take_keys(scene, filter, source, false);
    for (unsigned i = 0; i < LEDGER_KEYS; i++)
        told_of(scene, filter)->keys[i].at_ns = at_ns;
}

void step_create_merged(struct scene *scene, unsigned filter, const char *name, unsigned source)
{
    struct ledger_filter *told = begin_filter(scene, filter, name);
    take_keys(scene, filter, source, true);
    SPAWN_CHECK(tamis_filter_create_merged(scene->store, name,
                                           MERGE(.sources = &scene->filters[source], .count = 1),
                                           NULL) == 0);
    told->there = LEDGER_YES;
}

static struct stream stream_from(struct scene *scene, unsigned source)
{
    struct stream stream = {0};
    const struct tamis_sink sink = stream_sink(&stream);
    SPAWN_CHECK(
        tamis_filter_export(scene->filters[source], "tamis", TAMIS_EXPORT_WITH_KEY, &sink) == 0);
    return stream;
}

void step_import(struct scene *scene, unsigned filter, const char *name, unsigned source)
{
    struct stream stream = stream_from(scene, source);
    struct ledger_filter *told = begin_filter(scene, filter, name);
    take_keys(scene, filter, source, true);
    const struct tamis_source from = stream_source(&stream);
    SPAWN_CHECK(tamis_filter_import(scene->store, name, "tamis", NULL, &from, NULL) == 0);
    told->there = LEDGER_YES;
    stream_free(&stream);
}

void step_backup(struct scene *scene)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/copy", scene->root);
    scene->ledger->copied = ledger_now(scene->ledger);
    SPAWN_CHECK(tamis_store_backup(scene->store, path, NULL, NULL) == 1);
    scene->ledger->copy_is_told = true;
}

/* ---- Repair ---------------------------------------------------------------------------------- */

void step_lose_catalog(struct scene *scene)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/catalog.mdb", scene->path);
    scene->ledger->catalog_lost = true;
    SPAWN_CHECK(unlink(path) == 0);
}

void step_repair(struct scene *scene, unsigned flags)
{
    SPAWN_CHECK(tamis_store_repair(scene->path, flags, NULL, NULL) >= 0);
    scene->ledger->catalog_lost = false;
}
