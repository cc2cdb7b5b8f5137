/* SPDX-License-Identifier: BSD-2-Clause */
/* acts.c: see acts.h. */
#include "acts.h"

#include "base/point.h"
#include "scene.h"
#include "specs.h"

#define KEYS SCENE_KEYS

static size_t count_of(size_t which)
{
    return which == COUNTING ? SCENE_COUNTED : KEYS;
}

static int expected(size_t which, size_t key)
{
    return which != STATIC || key >= SCENE_OUT;
}

int64_t worse(int64_t a, int64_t b)
{
    if (a == SCENE_WRONG || b == SCENE_WRONG) return SCENE_WRONG;
    return a < 0 ? a : b < 0 ? b : 0;
}

static int64_t ask_filter(tamis_filter *filter, size_t which)
{
    int64_t worst = 0;
    for (size_t i = 0; i < count_of(which); i += worst < 0 ? 197 : 1) {
        const int rc = tamis_filter_contains(filter, scene_keys[i].data, scene_keys[i].bytes);
        worst = worse(worst, rc < 0 ? rc : rc == expected(which, i) ? 0 : SCENE_WRONG);
    }
    for (size_t i = 0; i < KEYS; i += worst < 0 ? 197 : 1) {
        if (!scene_acknowledged[which][i]) continue;
        const int rc =
            tamis_filter_contains(filter, scene_fresh_keys[i].data, scene_fresh_keys[i].bytes);
        worst = worse(worst, rc < 0 ? rc : rc == 1 ? 0 : SCENE_WRONG);
    }
    return worst;
}

static int64_t ask_batch(tamis_filter *filter, size_t which)
{
    uint8_t answers[KEYS]; /* of several threads at once */
    const int64_t rc = tamis_filter_contains_batch(filter, scene_keys, count_of(which), answers);
    for (size_t i = 0; rc >= 0 && i < count_of(which); i++)
        if (answers[i] != expected(which, i)) return SCENE_WRONG;
    return rc < 0 ? rc : 0;
}

static int64_t act_ask(struct scene *s)
{
    int64_t worst = 0;
    for (size_t i = 0; i < SCENE_FILTERS; i++)
        worst = worse(worst, ask_filter(s->filters[i], i));
    return worst;
}

static int64_t act_ask_batch(struct scene *s)
{
    int64_t worst = 0;
    for (size_t i = 0; i < SCENE_FILTERS; i++)
        worst = worse(worst, ask_batch(s->filters[i], i));
    return worst;
}

int64_t scene_ask(struct scene *s)
{
    int64_t worst = 0;
    for (size_t i = 0; i < SCENE_FILTERS; i++)
        if (s->filters[i] != NULL) {
            worst = worse(worst, ask_filter(s->filters[i], i));
            worst = worse(worst, ask_batch(s->filters[i], i));
        }
    return worst;
}

/* Keys that are in: none is NEW. */
static int64_t act_add_again(struct scene *s)
{
    int64_t worst = 0;
    for (size_t i = 0; i < STATIC; i++)
        for (size_t k = 0; k < count_of(i); k += worst < 0 ? 497 : 7) {
            const int rc = tamis_filter_add(s->filters[i], scene_keys[k].data, scene_keys[k].bytes);
            worst = worse(worst, rc > 0 && i != COUNTING ? SCENE_WRONG : rc);
        }
    return worst;
}

static int64_t add_batch(tamis_filter *filter, size_t which, const struct tamis_key *some,
                         size_t count, bool may_be_new)
{
    static uint8_t answers[KEYS];
    int64_t worst = 0;
    memset(answers, 77, sizeof answers);
    const int64_t rc = tamis_filter_add_batch(filter, some, count, answers);
    for (size_t i = 0; i < count; i++) {
        if (answers[i] == 77) worst = SCENE_WRONG; /* not told at all */
        if (answers[i] == 1 && !may_be_new && which != COUNTING) worst = SCENE_WRONG;
        if (answers[i] > 1 && rc >= 0) worst = SCENE_WRONG; /* refused, and not an error */
    }
    return worse(worst, rc);
}

static int64_t act_add_again_batch(struct scene *s)
{
    int64_t worst = 0;
    for (size_t i = 0; i < STATIC; i++)
        worst = worse(worst, add_batch(s->filters[i], i, scene_keys, count_of(i), false));
    return worst;
}

/* New ones: what was not refused is in, and the filter grows. */
static int64_t act_add_new(struct scene *s)
{
    static uint8_t answers[KEYS];
    int64_t worst = 0;
    for (size_t i = 0; i < STATIC; i++) {
        memset(answers, TAMIS_ANSWER_REFUSED, sizeof answers);
        const int64_t rc = tamis_filter_add_batch(s->filters[i], scene_fresh_keys, KEYS, answers);
        worst = worse(worst, rc);
        for (size_t k = 0; k < KEYS; k++)
            scene_acknowledged[i][k] |= answers[k] != TAMIS_ANSWER_REFUSED;
        for (size_t k = 0; k < KEYS; k += worst < 0 ? 197 : 1)
            if (answers[k] != TAMIS_ANSWER_REFUSED &&
                tamis_filter_contains(s->filters[i], scene_fresh_keys[k].data,
                                      scene_fresh_keys[k].bytes) == 0)
                worst = SCENE_WRONG;
    }
    return worst;
}

static int64_t act_count(struct scene *s)
{
    static uint64_t counts[SCENE_COUNTED];
    const int64_t rc =
        tamis_filter_count_batch(s->filters[COUNTING], scene_keys, SCENE_COUNTED, counts);
    for (size_t i = 0; rc >= 0 && i < SCENE_COUNTED; i++)
        if (counts[i] < SCENE_TIMES) return SCENE_WRONG;
    return rc < 0 ? rc : 0;
}

/* Once of twenty: all stay in. */
static int64_t act_remove(struct scene *s)
{
    static uint8_t answers[SCENE_COUNTED];
    const int64_t rc =
        tamis_filter_remove_batch(s->filters[COUNTING], scene_keys, SCENE_COUNTED, answers);
    for (size_t i = 0; rc >= 0 && i < SCENE_COUNTED; i++)
        if (answers[i] != 1) return SCENE_WRONG;
    return worse(rc < 0 ? rc : 0, ask_filter(s->filters[COUNTING], COUNTING));
}

static int64_t act_items(struct scene *s)
{
    int64_t worst = 0;
    for (size_t i = 0; i < SCENE_FILTERS; i++) {
        struct tamis_filter_stat stat = {.size = sizeof stat};
        const int64_t items = tamis_filter_items(s->filters[i]);
        const int rc = tamis_filter_stat(s->filters[i], &stat);
        if (items >= 0 && items != scene_items_before[i]) worst = SCENE_WRONG;
        if (rc == 0 && stat.items != (uint64_t)scene_items_before[i]) worst = SCENE_WRONG;
        worst = worse(worst, worse(items, rc));
    }
    return worst;
}

static int64_t act_fill(struct scene *s)
{
    int64_t worst = 0;
    for (size_t i = 0; i < SCENE_FILTERS; i++) {
        struct tamis_segment_stat stat = {.size = sizeof stat};
        double fill[3];
        const int rc = tamis_filter_fill(s->filters[i], 0, &stat);
        if (rc == 0 && stat.ones != scene_ones_before[i]) worst = SCENE_WRONG;
        worst = worse(worst, worse(rc, tamis_filter_fill_map(s->filters[i], 0, fill, 3)));
    }
    return worst;
}

static int64_t act_export(struct scene *s)
{
    const struct tamis_sink sink = stream_sink(&scene_export_again);
    scene_export_again.bytes = 0;
    const int rc = tamis_filter_export(s->filters[BLOCKED], "tamis", 0, &sink);
    const bool same =
        scene_export_again.bytes == scene_export_before.bytes &&
        memcmp(scene_export_again.data, scene_export_before.data, scene_export_again.bytes) == 0;
    return rc < 0 ? rc : same ? 0 : SCENE_WRONG;
}

static int64_t act_compare(struct scene *s)
{
    struct tamis_comparison c = {.size = sizeof c};
    const int rc = tamis_filter_compare(s->filters[BLOCKED], s->filters[BLOCKED], &c);
    return rc < 0 ? rc : c.items_both > KEYS * 0.9 ? 0 : SCENE_WRONG;
}

static int64_t merge_new(struct scene *s, size_t which)
{
    tamis_filter *merged = NULL;
    int64_t rc = tamis_filter_create_merged(
        s->store, "merged", MERGE(.sources = &s->filters[which], .count = 1), &merged);
    if (rc < 0) return rc;
    rc = ask_filter(merged, which);
    const int closed = tamis_filter_close(merged);
    return worse(worse(rc, closed), tamis_filter_drop(s->store, "merged"));
}

static int64_t act_merge(struct scene *s)
{
    const int64_t rc = merge_new(s, BLOCKED);
    return rc != 0 ? rc : merge_new(s, COUNTING);
}

/* Into an empty filter of the same make. */
static int64_t act_merge_into(struct scene *s)
{
    char hash_set[TAMIS_HASH_SET_NAME_MAX + 1];
    struct tamis_filter_spec like = {.size = sizeof like};
    tamis_filter *into = NULL;
    int64_t rc = tamis_filter_like(s->filters[PHP], &like, hash_set);
    if (rc == 0) rc = tamis_filter_open_or_create(s->store, "into", &like, &into);
    if (rc == 0) {
        rc = tamis_filter_merge(into, MERGE(.sources = &s->filters[PHP], .count = 1));
        if (rc == 0) rc = ask_filter(into, PHP);
        rc = worse(rc, tamis_filter_close(into));
    }
    return rc;
}

static int64_t import_copy(struct scene *s, size_t which)
{
    const struct tamis_sink sink = stream_sink(&scene_export_again);
    tamis_filter *imported = NULL;
    scene_export_again.bytes = 0;
    int64_t rc = tamis_filter_export(s->filters[which], "tamis", 0, &sink);
    if (rc == 0) {
        const struct tamis_source source = stream_source(&scene_export_again);
        rc = tamis_filter_import(s->store, "imported", "tamis", NULL, &source, &imported);
        if (rc == 0) {
            rc = ask_filter(imported, which);
            rc = worse(rc, tamis_filter_close(imported));
            rc = worse(rc, tamis_filter_drop(s->store, "imported"));
        }
    }
    return rc;
}

/* The static one has exceptions, too. */
static int64_t act_import(struct scene *s)
{
    const int64_t rc = import_copy(s, BLOCKED);
    return rc != 0 ? rc : import_copy(s, STATIC);
}

static int note_problem(void *context, const struct tamis_problem *problem)
{
    *(int *)context = problem->error;
    return *problem->reason == '\0'; /* without a sentence: it ends, and is WRONG */
}

int64_t scene_verify(tamis_store *store, const char *name)
{
    int error = SCENE_WRONG;
    const int64_t problems = tamis_store_verify(store, name, note_problem, &error);
    return problems > 0 ? error : problems;
}

static int64_t act_verify(struct scene *s)
{
    return scene_verify(s->store, NULL);
}

/* A copy that was made answers as it should, or cannot be opened. */
static int64_t act_backup(struct scene *s)
{
    struct scene copy = {.path = s->away};
    int64_t rc = tamis_store_backup(s->store, s->away, NULL, NULL);
    if (rc < 0) return rc;
    rc = scene_open(&copy);
    if (rc == 0) rc = scene_ask(&copy);
    rc = worse(rc, scene_close(&copy));
    scratch_remove(s->away);
    return rc;
}

static int count_names(void *context, const struct tamis_filter_stat *stat)
{
    size_t *known = context;
    for (size_t i = 0; i < SCENE_FILTERS; i++)
        *known += strcmp(stat->name, scene_names[i]) == 0;
    return 0;
}

static int64_t act_list(struct scene *s)
{
    size_t known = 0;
    const int rc = tamis_store_list(s->store, NULL, count_names, &known);
    return rc == 0 && known != SCENE_FILTERS ? SCENE_WRONG : rc;
}

static int64_t act_open(struct scene *s)
{
    struct scene other = {.path = s->path};
    int64_t rc = scene_open(&other);
    if (rc == 0) rc = scene_ask(&other);
    return worse(rc, scene_close(&other));
}

static int64_t act_sync(struct scene *s)
{
    int64_t worst = 0;
    for (size_t i = 0; i < STATIC; i++)
        worst = worse(worst, tamis_filter_sync(s->filters[i]));
    return worst;
}

static int64_t act_close(struct scene *s)
{
    int64_t rc = tamis_filter_add(s->filters[BLOCKED], "one more", 8);
    rc = worse(rc, scene_close(s));
    return worse(rc, scene_open(s));
}

static int64_t drop_of_two(tamis_store *store)
{
    static const char *const names[] = {"none", "new"};
    const int64_t dropped = tamis_filter_drop_many(store, names, NULL, 2);
    return dropped == 1 ? 0 : dropped < 0 ? dropped : SCENE_WRONG;
}

static int64_t act_create(struct scene *s)
{
    const struct tamis_filter_spec *spec = SPEC(.capacity = 20000, .fp_rate = 0.001);
    tamis_filter *filter = NULL;
    int64_t rc = tamis_filter_check(s->path, "new", spec);
    if (rc == 0) rc = tamis_filter_create(s->store, "new", spec, &filter);
    if (rc < 0) return rc;
    rc = add_batch(filter, BLOCKED, scene_fresh_keys, KEYS, true);
    rc = worse(rc, tamis_filter_close(filter));
    return worse(rc, drop_of_two(s->store));
}

static int64_t act_rename(struct scene *s)
{
    const int rc = tamis_filter_rename(s->store, "php", "renamed");
    return rc < 0 ? rc : tamis_filter_rename(s->store, "renamed", "php");
}

static int64_t act_except(struct scene *s)
{
    const int64_t rc = tamis_filter_except(s->store, scene_names[STATIC], scene_fresh_keys, 5);
    return rc < 0 ? rc
                  : tamis_filter_unexcept(s->store, scene_names[STATIC], scene_fresh_keys, 5, NULL);
}

static int64_t act_build(struct scene *s)
{
    int rc = scene_build(s->store, scene_names[STATIC], TAMIS_KIND_FUSE, TAMIS_BUILD_IF_CHANGED);
    const int64_t worst = worse(rc < 0 ? rc : 0, ask_filter(s->filters[STATIC], STATIC));
    if (worst != 0) return worst;
    rc = scene_build(s->store, "built", TAMIS_KIND_BLOCKED, 0);
    return rc < 0 ? rc : tamis_filter_drop(s->store, "built");
}

static int64_t act_make_store(struct scene *s)
{
    AUTO_STORE *store = NULL;
    return tamis_store_open(s->away, TAMIS_OPEN_CREATE, &store);
}

static int64_t act_read_only(struct scene *s)
{
    AUTO_STORE *store = NULL;
    int64_t rc = tamis_store_open(s->path, TAMIS_OPEN_READ_ONLY, &store);
    if (rc == 0) rc = scene_verify(store, "counting");
    return rc;
}

/* The slices have several pages: of one that was empty when it was opened, a cut within its only
 * page is not noticed (docs/durability.md). */
static int64_t act_rotate(struct scene *s)
{
    tamis_filter *filter = NULL;
    int64_t rc = tamis_filter_open_or_create(
        s->store, "window", SPEC(.capacity = 40000, .window_items = 40000, .slices = 4), &filter);
    if (rc < 0) return rc;
    const int added = tamis_filter_add(filter, "key", 3), rotated = tamis_filter_rotate(filter),
              has = tamis_filter_contains(filter, "key", 3);
    if (added >= 0 && has == 0) rc = SCENE_WRONG; /* one slice of four later */
    rc = worse(rc, worse(added, worse(rotated, has)));
    return worse(rc, worse(tamis_filter_close(filter), tamis_filter_drop(s->store, "window")));
}

/* The same keys again: a generation more, and back. */
static int64_t act_rollback(struct scene *s)
{
    const int rc = scene_build(s->store, scene_names[STATIC], TAMIS_KIND_FUSE, 0);
    return rc < 0 ? rc : tamis_filter_rollback(s->store, scene_names[STATIC], 0);
}

/* What was answered is in, also when it is opened again. */
static int64_t act_durable(struct scene *s)
{
    tamis_filter *filter = NULL;
    int64_t rc = tamis_filter_create(
        s->store, "sure", SPEC(.capacity = 7000, .flags = TAMIS_FILTER_DURABLE), &filter);
    if (rc < 0) return rc;
    const int one = tamis_filter_add(filter, "one", 3);
    const int64_t many = tamis_filter_add_batch(filter, scene_keys, KEYS, NULL);
    rc = worse(worse(one, many), tamis_filter_close(filter));
    const int opened = tamis_filter_open(s->store, "sure", 0, &filter);
    if (opened == 0) {
        if (one >= 0 && tamis_filter_contains(filter, "one", 3) == 0) rc = SCENE_WRONG;
        if (many >= 0) rc = worse(rc, ask_filter(filter, BLOCKED));
        rc = worse(rc, tamis_filter_close(filter));
    }
    return worse(worse(rc, opened), tamis_filter_drop(s->store, "sure"));
}

static int64_t act_repair(struct scene *s)
{
    const int64_t rc = tamis_store_repair(s->path, 0, NULL, NULL);
    return rc < 0 ? rc : 0;
}

/* One by one, up to the first error. */
static int64_t add_some(struct scene *s, size_t which, size_t begin, size_t end)
{
    for (size_t k = begin; k < end; k++) {
        const int rc = tamis_filter_add(s->filters[which], scene_fresh_keys[k].data,
                                        scene_fresh_keys[k].bytes);
        if (rc < 0) return rc;
        scene_acknowledged[which][k] = true;
    }
    return 0;
}

/* Each on the disk when it is told; the last ones behind a checkpoint.  After an error nothing that
 * mends. */
static int64_t act_add_durable(struct scene *s)
{
    int64_t rc = add_some(s, DURABLE, 0, 4);
    if (rc == 0) rc = tamis_filter_sync(s->filters[DURABLE]);
    return rc < 0 ? rc : add_some(s, DURABLE, 4, 6);
}

/* By another handle, which leaves its log: so the segment on the disk is marked before the act. */
static void mark_durable(struct scene *s)
{
    AUTO_FILTER *filter = fixture_opened(s->store, scene_names[DURABLE], TAMIS_OPEN_NO_SYNC);
    assert_done(tamis_filter_add(filter, "mark", 4));
}

/* All that is told is in logs then, and nowhere else. */
static int64_t act_log(struct scene *s)
{
    return add_some(s, DURABLE, 10, 13);
}

/* Dirty, with logs. */
static void leave_unclean(struct scene *s)
{
    assert_done(scene_close(s));
    assert_done(scene_open_with(s, TAMIS_OPEN_NO_SYNC));
    for (size_t i = 0; i < STATIC; i++)
        assert_done(add_some(s, i, 0, 3));
    assert_done(scene_close(s));
}

/* Opened under another boot. */
static int64_t act_recover(struct scene *s)
{
    static const uint8_t other_boot[16] = "another boot...";
    tamis__boot_hook = other_boot;
    int64_t worst = scene_open(s);
    worst = worse(worst, scene_ask(s));
    worst = worse(worst, scene_close(s));
    tamis__boot_hook = NULL;
    return worst;
}

const struct act acts[] = {
    {"contains", act_ask, NULL},
    {"contains batch", act_ask_batch, NULL},
    {"add again", act_add_again, NULL},
    {"add again batch", act_add_again_batch, NULL},
    {"add new", act_add_new, NULL},
    {"count", act_count, NULL},
    {"remove", act_remove, NULL},
    {"items", act_items, NULL},
    {"fill", act_fill, NULL},
    {"export", act_export, NULL},
    {"compare", act_compare, NULL},
    {"merge", act_merge, NULL},
    {"merge into", act_merge_into, NULL},
    {"import", act_import, NULL},
    {"verify", act_verify, NULL},
    {"backup", act_backup, NULL},
    {"list", act_list, NULL},
    {"open", act_open, NULL},
    {"sync", act_sync, NULL},
    {"close", act_close, NULL},
    {"create", act_create, NULL},
    {"rename", act_rename, NULL},
    {"except", act_except, NULL},
    {"build", act_build, NULL},
    {"make store", act_make_store, NULL},
    {"read only", act_read_only, NULL},
    {"rotate", act_rotate, NULL},
    {"rollback", act_rollback, NULL},
    {"durable", act_durable, NULL},
    {"repair", act_repair, NULL},
    {"add durable", act_add_durable, NULL},
    {"log", act_log, mark_durable},
    {"recover", act_recover, leave_unclean},
};
const size_t acts_count = sizeof acts / sizeof acts[0];
