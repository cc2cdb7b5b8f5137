/* SPDX-License-Identifier: BSD-2-Clause */
/* publish_operations.c: see publish_operations.h. */
#include "publish_operations.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "auto.h"
#include "builds.h"
#include "hooks.h"
#include "points.h"
#include "spawn.h"
#include "specs.h"

#define STRANGERS 40u

int operations_publish(tamis_store *store, const char *name, uint64_t generation,
                       const struct tamis_build_spec *spec)
{
    uint64_t keys[FIXED + 1];
    for (uint64_t i = 0; i < FIXED; i++)
        keys[i] = i;
    keys[FIXED] = mark_of(generation);
    return builds_publish(store, name, spec, keys, FIXED + 1, NULL);
}

const struct tamis_build_spec operations_fuse = {
    .size = sizeof operations_fuse,
    .filter = SPEC(.fp_rate = 0x1p-32, .kind = TAMIS_KIND_FUSE),
    .threads = 1};
static const struct tamis_build_spec keeping = {.size = sizeof keeping,
                                                .filter = SPEC(.fp_rate = 0x1p-32),
                                                .threads = 1,
                                                .flags = TAMIS_BUILD_KEEP,
                                                .keep = 2};
static const struct tamis_build_spec blocked = {
    .size = sizeof blocked,
    .filter = SPEC(.fp_rate = 1e-9, .capacity = 100, .kind = TAMIS_KIND_BLOCKED),
    .threads = 1};
static const struct tamis_build_spec keeping_blocked = {
    .size = sizeof keeping_blocked,
    .filter = SPEC(.fp_rate = 1e-9, .capacity = 100, .kind = TAMIS_KIND_BLOCKED),
    .threads = 1,
    .flags = TAMIS_BUILD_KEEP,
    .keep = 2};
static const uint64_t numbers[2] = {0, 1};
static const struct tamis_key excepted[2] = {{&numbers[0], sizeof numbers[0]},
                                             {&numbers[1], sizeof numbers[1]}};

static const struct tamis_key stranger = {"stranger", 8};

static int64_t publish_fuse(tamis_store *store, const char *path)
{
    (void)path;
    return operations_publish(store, "list", 4, &operations_fuse);
}

static int64_t publish_blocked(tamis_store *store, const char *path)
{
    (void)path;
    return operations_publish(store, "list", 4, &blocked);
}

static int64_t publish_new(tamis_store *store, const char *path)
{
    (void)path;
    return operations_publish(store, "new", 4, &operations_fuse);
}

/* With exceptions by hand, and keys that are known to be good. */
static int64_t publish_excepting(tamis_store *store, const char *path)
{
    tamis_build *build;
    uint64_t keys[FIXED + 1 + STRANGERS];
    struct tamis_key all[FIXED + 1 + STRANGERS];
    (void)path;
    for (uint64_t i = 0; i < FIXED + 1 + STRANGERS; i++) {
        keys[i] = i < FIXED ? i : i == FIXED ? mark_of(4) : 5000 + i;
        all[i] = (struct tamis_key){&keys[i], sizeof keys[i]};
    }
    int rc = tamis_build_begin(store, "list", &operations_fuse, &build);
    if (rc < 0) return rc;
    rc = tamis_build_add(build, all, FIXED + 1);
    if (rc == 0) rc = tamis_build_except(build, &excepted[1], 1);
    if (rc == 0) rc = tamis_build_against(build, all + FIXED + 1, STRANGERS);
    if (rc == 0) rc = tamis_build_publish(build, NULL);
    tamis_build_close(build);
    return rc;
}

static int64_t roll_back(tamis_store *store, const char *path)
{
    (void)path;
    return tamis_filter_rollback(store, "list", 2);
}

static int64_t except(tamis_store *store, const char *path)
{
    (void)path;
    return tamis_filter_except(store, "list", &excepted[1], 1);
}

static int64_t unexcept(tamis_store *store, const char *path)
{
    (void)path;
    return tamis_filter_unexcept(store, "list", &excepted[0], 1, NULL);
}

static int64_t drop(tamis_store *store, const char *path)
{
    (void)path;
    return tamis_filter_drop(store, "list");
}

static int64_t rename_it(tamis_store *store, const char *path)
{
    (void)path;
    return tamis_filter_rename(store, "list", "renamed");
}

static int64_t repair(tamis_store *store, const char *path)
{
    (void)store;
    return tamis_store_repair(path, 0, NULL, NULL);
}

static int64_t repair_anew(tamis_store *store, const char *path)
{
    (void)store;
    return tamis_store_repair(path, TAMIS_REPAIR_REBUILD, NULL, NULL);
}

static int64_t back_up(tamis_store *store, const char *path)
{
    char to[4096];
    (void)snprintf(to, sizeof to, "%s-backup", path);
    return tamis_store_backup(store, to, NULL, NULL);
}

/* ---- On the filters beside "list" ------------------------------------------------------------ */

static const char *const others[] = {"small", "windowed", "bits"};
#define OTHERS (sizeof others / sizeof others[0])

static tamis_filter *open_other(tamis_store *store, const char *name)
{
    tamis_filter *filter;
    SPAWN_CHECK(tamis_filter_open(store, name, 0, &filter) == 0);
    return filter;
}

static int64_t create(tamis_store *store, const char *path)
{
    (void)path;
    return tamis_filter_create(store, "new", SPEC(.capacity = 100), NULL);
}

struct tape {
    char bytes[1 << 16];
    size_t count, read;
};

static int record_tape(void *context, const void *bytes, size_t count)
{
    struct tape *tape = context;
    SPAWN_CHECK(tape->count + count <= sizeof tape->bytes);
    memcpy(tape->bytes + tape->count, bytes, count);
    tape->count += count;
    return 0;
}

static int64_t play_tape(void *context, void *buffer, size_t bytes)
{
    struct tape *tape = context;
    const size_t left = tape->count - tape->read, now = left < bytes ? left : bytes;
    memcpy(buffer, tape->bytes + tape->read, now);
    tape->read += now;
    return (int64_t)now;
}

static int64_t import_other(tamis_store *store, const char *name)
{
    static struct tape tape;
    const struct tamis_sink sink = {.size = sizeof sink, .write = record_tape, .context = &tape};
    const struct tamis_source source = {.size = sizeof source, .read = play_tape, .context = &tape};
    AUTO_FILTER *other = open_other(store, name);
    tape.count = tape.read = 0;
    int rc = tamis_filter_export(other, "tamis", TAMIS_EXPORT_WITH_KEY, &sink);
    if (rc == 0) rc = tamis_filter_import(store, "new", "tamis", NULL, &source, NULL);
    return rc;
}

static int64_t import(tamis_store *store, const char *path)
{
    (void)path;
    return import_other(store, "bits");
}

/* Of kind fuse, with an exception: the index comes with the segment. */
static int64_t import_static(tamis_store *store, const char *path)
{
    (void)path;
    return import_other(store, "list");
}

/* The list of another filter is published or imported, and its source says no at its end, as one
 * does that checks a signature. */
static int64_t refuse_at_end(void *context, void *buffer, size_t bytes)
{
    const int64_t got = play_tape(context, buffer, bytes);
    return got != 0 ? got : TAMIS_EACCESS;
}

static int64_t import_distrusted(tamis_store *store, const char *path)
{
    static struct tape tape;
    const struct tamis_sink sink = {.size = sizeof sink, .write = record_tape, .context = &tape};
    const struct tamis_source source = {
        .size = sizeof source, .read = refuse_at_end, .context = &tape};
    AUTO_FILTER *other = open_other(store, "next");
    (void)path;
    tape.count = tape.read = 0;
    int rc = tamis_filter_export(other, "tamis", TAMIS_EXPORT_WITH_DIGEST, &sink);
    if (rc < 0) return rc;
    SPAWN_CHECK(tamis_filter_publish(store, "list", "tamis", NULL, &source, NULL) == TAMIS_EACCESS);
    tape.read = 0;
    rc = tamis_filter_import(store, "new", "tamis", NULL, &source, NULL);
    SPAWN_CHECK(rc == TAMIS_EACCESS && tamis_filter_exists(store, "new") == 0);
    return 0;
}

/* A list of another filter becomes the next generation of "list". */
static int64_t publish_other(tamis_store *store, const char *name,
                             const struct tamis_publish_spec *spec)
{
    static struct tape tape;
    const struct tamis_sink sink = {.size = sizeof sink, .write = record_tape, .context = &tape};
    const struct tamis_source source = {.size = sizeof source, .read = play_tape, .context = &tape};
    AUTO_FILTER *other = open_other(store, name);
    tape.count = tape.read = 0;
    const int rc = tamis_filter_export(other, "tamis", TAMIS_EXPORT_WITH_DIGEST, &sink);
    return rc < 0 ? rc : tamis_filter_publish(store, "list", "tamis", spec, &source, NULL);
}

/* With an exception of the stream, and one by hand. */
static int64_t import_published(tamis_store *store, const char *path)
{
    const struct tamis_publish_spec spec = {
        .size = sizeof spec, .except = &excepted[1], .except_count = 1};
    (void)path;
    return publish_other(store, "next", &spec);
}

/* "next" was built after "list". */
static int64_t import_newer(tamis_store *store, const char *path)
{
    const struct tamis_import_spec import = {.size = sizeof import, .signed_at = 1};
    const struct tamis_publish_spec spec = {.size = sizeof spec,
                                            .import = &import,
                                            .except = &excepted[1],
                                            .except_count = 1,
                                            .flags = TAMIS_PUBLISH_NEWER};
    (void)path;
    return publish_other(store, "next", &spec);
}

/* Of several segments, and of kinds that take keys. */
static int64_t import_sealed(tamis_store *store, const char *path)
{
    const struct tamis_import_spec import = {.size = sizeof import, .seal_capacity = 100};
    const struct tamis_publish_spec spec = {.size = sizeof spec, .import = &import};
    (void)path;
    return publish_other(store, "next blocked", &spec);
}

static int64_t merge(tamis_store *store, const char *path)
{
    AUTO_FILTER *source = open_other(store, "small");
    (void)path;
    return tamis_filter_create_merged(store, "new", MERGE(.sources = &source, .count = 1), NULL);
}

static int64_t grow(tamis_store *store, const char *path)
{
    AUTO_FILTER *small = open_other(store, "small");
    int rc = 0;
    (void)path;
    for (uint64_t key = 1000; rc >= 0 && key < 1100; key++)
        rc = tamis_filter_add(small, &key, sizeof key);
    return rc;
}

static int64_t add_and_sync(tamis_store *store, const char *path)
{
    AUTO_FILTER *small = open_other(store, "small");
    (void)path;
    const int rc = tamis_filter_add(small, "new", 3);
    return rc < 0 ? rc : tamis_filter_sync(small);
}

static int64_t rotate(tamis_store *store, const char *path)
{
    AUTO_FILTER *windowed = open_other(store, "windowed");
    (void)path;
    return tamis_filter_rotate(windowed);
}

void operations_check_others(tamis_store *store)
{
    for (size_t i = 0; i < OTHERS; i++) {
        AUTO_FILTER *filter;
        assert_int_equal(tamis_filter_open(store, others[i], TAMIS_OPEN_READ_ONLY, &filter), 0);
        for (uint64_t key = 0; key < FIXED; key++)
            assert_int_equal(tamis_filter_contains(filter, &key, sizeof key), 1);
    }
}

static void make_other(tamis_store *store, const char *name, const struct tamis_filter_spec *spec)
{
    AUTO_FILTER *filter;
    assert_int_equal(tamis_filter_create(store, name, spec, &filter), 0);
    for (uint64_t key = 0; key < FIXED; key++)
        assert_true(tamis_filter_add(filter, &key, sizeof key) >= 0);
}

void operations_make_model(const char *path, bool takes_keys)
{
    const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 100},
                                   windowed = {.size = sizeof windowed, .window_items = 1000},
                                   bits = {.size = sizeof bits,
                                           .capacity = 100,
                                           .kind = TAMIS_KIND_BLOOM};
    AUTO_STORE *store;
    assert_int_equal(tamis_store_open(path, TAMIS_OPEN_CREATE, &store), 0);
    for (uint64_t g = 1; g <= 3; g++)
        assert_int_equal(
            operations_publish(store, "list", g, takes_keys ? &keeping_blocked : &keeping), 1);
    assert_int_equal(tamis_filter_except(store, "list", &excepted[0], 1), 1);
    assert_int_equal(tamis_filter_create(store, "other", &spec, NULL), 0);
    assert_int_equal(operations_publish(store, "next", 4, &operations_fuse), 1);
    assert_int_equal(tamis_filter_except(store, "next", &stranger, 1), 1);
    assert_int_equal(operations_publish(store, "next blocked", 4, &blocked), 1);
    make_other(store, "small", &spec);
    make_other(store, "windowed", &windowed);
    make_other(store, "bits", &bits);
}

/* ---- Before an operation --------------------------------------------------------------------- */

static void lose_catalog(tamis_store *store, const char *path)
{
    char file[4096];
    (void)store;
    (void)snprintf(file, sizeof file, "%s/catalog.mdb", path);
    assert_int_equal(unlink(file), 0);
}

static void publish_and_die(void *context, unsigned index)
{
    (void)index;
    hooks_signal_at(TAMIS__POINT_PUBLISH_EPOCH, SIGKILL, 0);
    SPAWN_CHECK(publish_excepting(context, NULL) == 0); /* not reached */
}

/* Files that belong to nobody: a segment and an index. */
static void leave_orphans(tamis_store *store, const char *path)
{
    (void)path;
    assert_int_equal(spawn_end(spawn_one(publish_and_die, store, 0)), SPAWN_KILLED);
}

const struct operation operations_all[] = {
    {"publish", publish_fuse, NULL, "list", {.generation = 4, .excepted = {true}}, false},
    {"publish blocked",
     publish_blocked,
     NULL,
     "list",
     {.generation = 4, .excepted = {true}},
     false},
    {"publish new", publish_new, NULL, "list", IN_FORCE, false},
    {"publish excepting",
     publish_excepting,
     NULL,
     "list",
     {.generation = 4, .excepted = {true, true}},
     false},
    {"rollback", roll_back, NULL, "list", {.generation = 2, .excepted = {true}}, false},
    {"except", except, NULL, "list", {.generation = 3, .excepted = {true, true}}, false},
    {"unexcept", unexcept, NULL, "list", {.generation = 3}, false},
    {"drop", drop, NULL, "list", {.gone = true}, false},
    {"rename", rename_it, NULL, "renamed", IN_FORCE, false},
    {"repair", repair, lose_catalog, "list", IN_FORCE, true},
    {"repair orphans", repair, leave_orphans, "list", IN_FORCE, false},
    {"repair --rebuild", repair_anew, NULL, "list", IN_FORCE, false},
    {"create", create, NULL, "list", IN_FORCE, false},
    {"import", import, NULL, "list", IN_FORCE, false},
    {"import static", import_static, NULL, "list", IN_FORCE, false},
    {"import --publish",
     import_published,
     NULL,
     "list",
     {.generation = 4, .excepted = {true, true}},
     false},
    {"import that is refused at its end", import_distrusted, NULL, "list", IN_FORCE, false},
    {"import --newer-than-mine",
     import_newer,
     NULL,
     "list",
     {.generation = 4, .excepted = {true, true}},
     false},
    {"import of segments",
     import_sealed,
     NULL,
     "list",
     {.generation = 4, .excepted = {true}},
     false},
    {"merge", merge, NULL, "list", IN_FORCE, false},
    {"grow", grow, NULL, "list", IN_FORCE, false},
    {"add and sync", add_and_sync, NULL, "list", IN_FORCE, false},
    {"rotate", rotate, NULL, "list", IN_FORCE, false},
    {"backup", back_up, NULL, "list", IN_FORCE, false},
};
const size_t operations_count = sizeof operations_all / sizeof operations_all[0];
