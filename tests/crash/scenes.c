/* SPDX-License-Identifier: BSD-2-Clause */
/* scenes.c: the scenes; see scene.h.  Small filters: what counts is the order of calls, not how
 * many bytes. */
#include "scene.h"

#include "spawn.h"
#include "specs.h"
#include "steps.h"

static const struct tamis_filter_spec *const plain =
    SPEC(.capacity = 300, .fp_rate = 1e-9, .on_full = TAMIS_ON_FULL_WARN);
static const struct tamis_filter_spec *const bloom =
    SPEC(.capacity = 600, .fp_rate = 1e-9, .kind = TAMIS_KIND_BLOOM, .on_full = TAMIS_ON_FULL_WARN);
static const struct tamis_filter_spec *const growing = SPEC(.capacity = 30, .fp_rate = 1e-9);
static const struct tamis_filter_spec *const window =
    SPEC(.window_items = 120, .slices = 3, .fp_rate = 1e-9, .on_full = TAMIS_ON_FULL_WARN);
static const struct tamis_filter_spec *const counting =
    SPEC(.capacity = 200, .fp_rate = 1e-9, .kind = TAMIS_KIND_COUNTING, .counter_bits = 4);

static const struct tamis_filter_spec *const durable =
    SPEC(.capacity = 800, .fp_rate = 1e-9, .flags = TAMIS_FILTER_DURABLE);
static const struct tamis_filter_spec *const durable_bloom =
    SPEC(.capacity = 300, .fp_rate = 1e-6, .kind = TAMIS_KIND_BLOOM, .on_full = TAMIS_ON_FULL_WARN,
         .flags = TAMIS_FILTER_DURABLE);
static const struct tamis_filter_spec *const durable_growing =
    SPEC(.capacity = 30, .fp_rate = 1e-9, .flags = TAMIS_FILTER_DURABLE);
static const struct tamis_filter_spec *const durable_window =
    SPEC(.window_items = 120, .slices = 3, .fp_rate = 1e-9, .on_full = TAMIS_ON_FULL_WARN,
         .flags = TAMIS_FILTER_DURABLE);

static void play_first(struct scene *scene)
{
    step_create(scene, 0, "first", plain);
    step_add(scene, 0, 0, 20);
}

static void play_add(struct scene *scene)
{
    step_create(scene, 0, "blocked", plain);
    step_create(scene, 1, "bloom", bloom);
    for (unsigned i = 0; i < 4; i++) {
        step_add(scene, 0, i * 60, i * 60 + 30);
        step_add_batch(scene, 1, i * 100, i * 100 + 70);
        step_sync(scene, i % 2);
        step_add_batch(scene, 0, i * 60 + 30, i * 60 + 60);
        step_add(scene, 1, i * 100 + 70, i * 100 + 100);
    }
    step_close(scene, 0);
    step_open(scene, 0);
    step_add(scene, 0, 240, 260);
}

static void play_grow(struct scene *scene)
{
    step_create(scene, 0, "growing", growing);
    step_add(scene, 0, 0, 70);
    step_sync(scene, 0);
    step_add_batch(scene, 0, 70, 300);
    step_sync(scene, 0);
    step_add(scene, 0, 300, 420);
}

static void play_window(struct scene *scene)
{
    step_create(scene, 0, "window", window);
    for (unsigned i = 0; i < 6; i++) {
        step_add(scene, 0, i * 20, i * 20 + 15);
        if (i % 2 == 0) step_sync(scene, 0);
        step_add_batch(scene, 0, i * 20 + 15, i * 20 + 20);
        step_rotate(scene, 0);
    }
}

static void play_counting(struct scene *scene)
{
    step_create(scene, 0, "counting", counting);
    step_add(scene, 0, 0, 40);
    step_sync(scene, 0);
    for (unsigned i = 0; i < 20; i++) /* past what 4 bits hold */
        step_add(scene, 0, 0, 4);
    step_remove(scene, 0, 10, 30);
    step_sync(scene, 0);
    for (unsigned i = 0; i < 20; i++)
        step_add_batch(scene, 0, 4, 10);
    step_remove(scene, 0, 0, 3);
    step_sync(scene, 0);
}

static void play_publish(struct scene *scene)
{
    step_publish(scene, 0, "list", TAMIS_KIND_FUSE, 1, false);
    step_publish(scene, 0, "list", TAMIS_KIND_FUSE, 2, true);
    step_except(scene, 0, 2, 1, false);
    step_publish(scene, 0, "list", TAMIS_KIND_BLOCKED, 3, false);
    step_rollback(scene, 0, 2);
    step_except(scene, 0, 2, 0, true);
    step_publish(scene, 0, "list", TAMIS_KIND_FUSE, 4, false);
    step_publish(scene, 0, "list", TAMIS_KIND_FUSE, 5, false);
}

/* A generation that is added to, and left by a build. */
static void play_rebuild(struct scene *scene)
{
    step_publish(scene, 0, "seen", TAMIS_KIND_BLOCKED, 1, false);
    step_open(scene, 0);
    step_add(scene, 0, 0, 30);
    step_sync(scene, 0);
    step_add(scene, 0, 30, 60);
    step_publish(scene, 0, "seen", TAMIS_KIND_BLOCKED, 2, false);
    step_add(scene, 0, 100, 120);
    step_sync(scene, 0);
    step_rollback(scene, 0, 1);
    step_add(scene, 0, 200, 220);
}

static void play_merge(struct scene *scene)
{
    step_create(scene, 0, "source", plain);
    step_create(scene, 1, "target", plain);
    step_add_batch(scene, 0, 0, 150);
    step_merge(scene, 1, 0);
    step_sync(scene, 1);
    step_sync(scene, 0);
    step_create_merged(scene, 2, "merged", 0);
    step_import(scene, 3, "imported", 0);
}

static void play_names(struct scene *scene)
{
    step_create(scene, 0, "one", plain);
    step_create(scene, 1, "two", plain);
    step_add(scene, 0, 0, 20);
    step_sync(scene, 0);
    step_rename(scene, 0, "three");
    step_drop(scene, 1);
    step_create(scene, 2, "one", plain);
    step_rename(scene, 2, "two");
    step_add(scene, 2, 0, 10);
    step_drop(scene, 0);
    step_create(scene, 3, "three", bloom);
}

static void play_many(struct scene *scene)
{
    static const char *const names[] = {"one of many", "another", "and another"};
    step_create(scene, 0, "alone", plain);
    step_add(scene, 0, 0, 20);
    step_create_many(scene, 1, names, 3, plain);
    for (unsigned i = 1; i < 4; i++)
        step_add(scene, i, 0, 20);
    step_sync(scene, 2);
    step_drop(scene, 1);
    step_create(scene, 1, "one of many", plain);
}

/* What the catalog knew alone is not asked for: kept generations, exceptions. */
static void play_repair(struct scene *scene)
{
    step_create(scene, 0, "growing", growing);
    step_add(scene, 0, 0, 100);
    step_sync(scene, 0);
    step_create(scene, 1, "other", plain);
    step_add(scene, 1, 0, 20);
    step_sync(scene, 1);
    step_rename(scene, 1, "another");
    step_close_store(scene);
    step_lose_catalog(scene);
    step_repair(scene, 0);
    step_open_store(scene);
    step_open(scene, 0);
    step_add(scene, 0, 100, 140);
    step_sync(scene, 0);
    step_close_store(scene);
    step_repair(scene, TAMIS_REPAIR_REBUILD);
    step_open_store(scene);
    step_drop(scene, 1);
}

static void play_backup(struct scene *scene)
{
    step_create(scene, 0, "seen", plain);
    step_add(scene, 0, 0, 30);
    step_backup(scene);
    step_add(scene, 0, 30, 40);
}

static void play_checkpoints(struct scene *scene)
{
    step_create(scene, 0, "seen", plain);
    for (unsigned i = 0; i < 5; i++) {
        step_add(scene, 0, i * 20, i * 20 + 20);
        if (i != 3) step_sync(scene, 0);
        step_close(scene, 0);
        step_open(scene, 0);
    }
}

/* ---- Durable filters ------------------------------------------------------------------------- */

static void play_log(struct scene *scene)
{
    step_create(scene, 0, "durable", durable);
    step_create(scene, 1, "bloom", durable_bloom);
    step_add(scene, 0, 0, 12);
    step_add_batch(scene, 1, 0, 90);
    step_add_batch(scene, 0, 12, 150);
    step_add(scene, 0, 5, 20); /* SEEN, most of them without a log */
    step_sync(scene, 0);
    step_add(scene, 0, 150, 160);
    step_close(scene, 0);
    step_open(scene, 0);
    step_add_batch(scene, 0, 160, 300);
    step_add(scene, 1, 90, 100);
}

static void play_log_grow(struct scene *scene)
{
    step_create(scene, 0, "growing", durable_growing);
    step_create(scene, 1, "window", durable_window);
    step_add(scene, 0, 0, 35);
    step_add_batch(scene, 0, 35, 200);
    for (unsigned i = 0; i < 4; i++) {
        step_add_batch(scene, 1, i * 20, i * 20 + 15);
        step_add(scene, 1, i * 20 + 15, i * 20 + 17);
        step_rotate(scene, 1);
    }
    step_sync(scene, 1);
    step_add_batch(scene, 0, 200, 260);
}

/* One that dies without a close leaves its log to the others. */
static void add_and_die(void *context, unsigned index)
{
    struct scene mine = *(struct scene *)context;
    mine.filters[0] = NULL;
    SPAWN_CHECK(tamis_store_open(mine.path, 0, &mine.store) == 0);
    step_open(&mine, 0);
    step_add(&mine, 0, index * 100, index * 100 + 8);
    step_add_batch(&mine, 0, index * 100 + 8, index * 100 + 60);
}

static void play_log_processes(struct scene *scene)
{
    step_create(scene, 0, "durable", durable);
    pid_t others[2];
    for (unsigned i = 0; i < 2; i++)
        others[i] = spawn_one(add_and_die, scene, i + 1);
    step_add(scene, 0, 0, 8);
    step_add_batch(scene, 0, 8, 60);
    for (unsigned i = 0; i < 2; i++)
        SPAWN_CHECK(spawn_end(others[i]) == 0);
    step_sync(scene, 0);
    step_close(scene, 0);
    step_open(scene, 0);
    step_add_batch(scene, 0, 400, 440);
    step_rename(scene, 0, "renamed");
    step_add(scene, 0, 440, 448);
}

/* ---- Several processes ----------------------------------------------------------------------- */

static void add_beside(void *context, unsigned index)
{
    struct scene mine = *(struct scene *)context;
    mine.filters[0] = mine.filters[1] = NULL;
    SPAWN_CHECK(tamis_store_open(mine.path, 0, &mine.store) == 0);
    step_open(&mine, index % 2);
    for (unsigned i = 0; i < 3; i++) {
        step_add(&mine, index % 2, index * 100 + i * 30, index * 100 + i * 30 + 30);
        if (i == index) step_sync(&mine, index % 2);
    }
    step_close_store(&mine);
}

static void play_processes(struct scene *scene)
{
    step_create(scene, 0, "growing", growing);
    step_create(scene, 1, "blocked", plain);
    pid_t others[2];
    for (unsigned i = 0; i < 2; i++)
        others[i] = spawn_one(add_beside, scene, i + 1);
    step_add(scene, 0, 0, 40);
    step_publish(scene, 2, "list", TAMIS_KIND_FUSE, 1, false);
    step_add_batch(scene, 1, 0, 40);
    step_publish(scene, 2, "list", TAMIS_KIND_FUSE, 2, false);
    step_sync(scene, 0);
    for (unsigned i = 0; i < 2; i++)
        SPAWN_CHECK(spawn_end(others[i]) == 0);
}

const struct scene_kind scene_kinds[] = {
    {"first", play_first},
    {"add", play_add},
    {"grow", play_grow},
    {"window", play_window},
    {"counting", play_counting},
    {"publish", play_publish},
    {"rebuild", play_rebuild},
    {"merge", play_merge},
    {"names", play_names},
    {"many", play_many},
    {"repair", play_repair},
    {"backup", play_backup},
    {"checkpoints", play_checkpoints},
    {"processes", play_processes},
    {"log", play_log},
    {"log-grow", play_log_grow},
    {"log-processes", play_log_processes},
};
const unsigned scene_count = sizeof scene_kinds / sizeof scene_kinds[0];

/* ---- Up again -------------------------------------------------------------------------------- */

void scene_go_on(struct scene *scene)
{
    if (scene->ledger->catalog_lost)
        SPAWN_CHECK(tamis_store_repair(scene->path, 0, NULL, NULL) >= 0);
    SPAWN_CHECK(tamis_store_open(scene->path, TAMIS_OPEN_CREATE, &scene->store) == 0);
    ledger_settle(scene->ledger, scene->store);
    for (unsigned i = 0; i < LEDGER_FILTERS; i++) {
        struct ledger_filter *told = &scene->ledger->filters[i];
        if (told->there != LEDGER_YES || told->counting || told->keys_of != i) continue;
        step_open(scene, i);
        const int rc = tamis_filter_add(scene->filters[i], "is it static?", 13);
        if (rc == TAMIS_EUNSUPPORTED) continue;
        SPAWN_CHECK(rc >= 0);
        step_add(scene, i, LEDGER_KEYS - 80, LEDGER_KEYS - 60);
        step_sync(scene, i);
        if (told->slices == 0) step_add_batch(scene, i, LEDGER_KEYS - 60, LEDGER_KEYS - 20);
    }
    SPAWN_CHECK(tamis_filter_create(scene->store, "made after it", SPEC(.capacity = 100), NULL) ==
                0);
    step_close_store(scene);
}
