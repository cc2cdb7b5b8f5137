/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * containers_test.c: processes that cannot see each other share a store.
 *
 * Two processes, each number 1 of a PID namespace of its own with its own /proc, add the same keys
 * at the same time, then remove the same keys: at most one is told NEW, none is lost, and each key
 * comes off as often as it went in.  Needs root, and no chroot.
 *
 * Seen to fail: with the rule "NEW if I changed any bit" and a yield between the words of a key.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "auto.h"
#include "cases.h"
#include "scratch.h"
#include "spawn.h"

#define KEYS 100000u
#define REMOVED 2000u
#define REFUSED 77
struct scene {
    char path[512];
    struct spawn_barrier barrier;
    uint8_t news[KEYS];
    uint64_t removed;
    unsigned in_namespace;
};

static tamis_store *open_at(const char *path, unsigned flags)
{
    tamis_store *store = NULL;
    SPAWN_CHECK(tamis_store_open(path, flags, &store) == 0);
    return store;
}

static tamis_filter *open_filter(tamis_store *store, const char *name)
{
    tamis_filter *filter = NULL;
    SPAWN_CHECK(tamis_filter_open(store, name, 0, &filter) == 0);
    return filter;
}

static struct scene *new_scene(void)
{
    struct scene *scene = spawn_shared(sizeof *scene);
    char *path = scratch_path("store");
    AUTO_STORE *store;
    const struct tamis_filter_spec seen = {.size = sizeof seen, .capacity = 4 * KEYS},
                                   counts = {.size = sizeof counts,
                                             .capacity = KEYS,
                                             .kind = TAMIS_KIND_COUNTING};
    (void)snprintf(scene->path, sizeof scene->path, "%s", path);
    free(path);
    scene->barrier.count = 2;
    store = open_at(scene->path, TAMIS_OPEN_CREATE);
    assert_int_equal(tamis_filter_create(store, "seen", &seen, NULL), 0);
    assert_int_equal(tamis_filter_create(store, "counts", &counts, NULL), 0);
    return scene;
}

/* ---- Namespaces ------------------------------------------------------------------------------ */

static void work(struct scene *scene)
{
    AUTO_STORE *store = open_at(scene->path, 0);
    AUTO_FILTER *seen = open_filter(store, "seen"), *counts = open_filter(store, "counts");
    spawn_wait(&scene->barrier);
    for (uint64_t key = 0; key < KEYS; key++) {
        const int answer = tamis_filter_add(seen, &key, sizeof key);
        SPAWN_CHECK(answer >= 0);
        if (answer == 1) (void)__atomic_add_fetch(&scene->news[key], 1, __ATOMIC_RELAXED);
    }
    for (uint64_t key = 0; key < REMOVED; key++)
        SPAWN_CHECK(tamis_filter_add(counts, &key, sizeof key) >= 0);
    spawn_wait(&scene->barrier);
    for (uint64_t key = 0; key < REMOVED; key++) {
        SPAWN_CHECK(tamis_filter_remove(counts, &key, sizeof key) >= 0);
        (void)__atomic_add_fetch(&scene->removed, 1, __ATOMIC_RELAXED);
    }
}

/* Calls `inside`, if there is one, in process 1 of namespaces of PIDs and mounts of its own.
 * Returns its exit status, or REFUSED if the system does not give them: the "/" of a chroot, for
 * one, is no mount, so it cannot be made private. */
static int contained(void (*inside)(struct scene *scene), struct scene *scene)
{
    int status;
    if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) return REFUSED;
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return REFUSED;
    const pid_t first = fork();
    SPAWN_CHECK(first >= 0);
    if (first == 0) {
        if (mount("proc", "/proc", "proc", 0, NULL) != 0) _exit(REFUSED);
        SPAWN_CHECK(getpid() == 1);
        if (inside != NULL) inside(scene);
        _exit(0);
    }
    SPAWN_CHECK(waitpid(first, &status, 0) == first);
    SPAWN_CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void contain(void *context, unsigned index)
{
    struct scene *scene = context;
    (void)index;
    (void)__atomic_add_fetch(&scene->in_namespace, 1, __ATOMIC_RELAXED);
    SPAWN_CHECK(contained(work, scene) == 0);
}

static void try_to_contain(void *context, unsigned index)
{
    (void)context;
    (void)index;
    _exit(contained(NULL, NULL));
}

CASE(containers_of_two_pid_namespaces_share_a_filter)
{
    unsigned twice = 0, none = 0;
    if (geteuid() != 0) {
        cases_skip("PID namespaces are made by root");
    }
    if (spawn_end(spawn_one(try_to_contain, NULL, 0)) == REFUSED) {
        cases_skip("the system gives no PID and mount namespaces here, as in a chroot");
    }
    struct scene *scene = new_scene();
    assert_int_equal(spawn_all(2, contain, scene), 0);
    assert_int_equal(scene->in_namespace, 2);
    AUTO_STORE *store = open_at(scene->path, 0);
    tamis_filter *seen = open_filter(store, "seen"), *counts = open_filter(store, "counts");
    for (uint64_t key = 0; key < KEYS; key++) {
        assert_int_equal(tamis_filter_contains(seen, &key, sizeof key), 1);
        twice += scene->news[key] > 1;
        none += scene->news[key] == 0;
    }
    for (uint64_t key = 0; key < REMOVED; key++)
        assert_int_equal(tamis_filter_count(counts, &key, sizeof key), 0);
    print_message(
        "two PID namespaces: %u keys, told NEW twice %u, to nobody %u (false positives), lost 0; "
        "%u removed\n",
        KEYS, twice, none, (unsigned)scene->removed);
    assert_int_equal(twice, 0);
    assert_true(none < KEYS / 100);
    assert_int_equal(scene->removed, 2 * REMOVED);
    assert_int_equal(tamis_filter_close(seen) | tamis_filter_close(counts), 0);
}

CASES_PREPARE
{
    (void)scratch_directory();
}
