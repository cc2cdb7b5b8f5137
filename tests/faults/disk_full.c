/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disk_full.c: every act of acts.h on a disk that is filled to the last block, on ext4, btrfs and
 * tmpfs.
 *
 * The store is copied there, its handles are opened, the disk is filled but for so many blocks, the
 * act is run: it is right, or an error with a sentence; no SIGBUS, no crash, and nothing is told
 * wrongly, then or later.  When room has been made the store is sound and the act works.  Where a
 * file system cannot be mounted (no root, no mkfs) it is left out, and the output says so.
 *
 * Seen to fail: without the handler of SIGBUS (btrfs: a page that is rewritten takes new room).
 * Not seen to fail: with segments made by ftruncate() instead of by allocation, where the handler
 * makes errors of the faults.
 */
#include <stdio.h>

#include "acts.h"
#include "os/guard.h"
#include "small_disk.h"

static unsigned points, told, right, wrong;

/* ---- One act --------------------------------------------------------------------------------- */

static void judge(const char *disk, const char *act, off_t spare, int64_t rc)
{
    points++;
    if (rc == SCENE_WRONG) {
        wrong++;
        print_error("WRONG: %s, %s, %lld bytes free\n", disk, act, (long long)spare);
    } else if (rc < 0) {
        told++;
        if (*tamis_last_error() == '\0') fail_msg("%s: an error without a sentence", act);
    } else {
        right++;
    }
}

static void run_full(const struct small_disk *disk, const struct act *act, const char *root,
                     off_t spare)
{
    AUTO_SCENE scene;
    char path[4096], away[4096];
    (void)snprintf(path, sizeof path, "%s/store", root);
    (void)snprintf(away, sizeof away, "%s/away", root);
    scene_copy_to(&scene, path, away);
    assert_done(scene_open(&scene));
    if (act->prepare != NULL) act->prepare(&scene);
    small_disk_fill(spare);
    judge(disk->name, act->name, spare, act->run(&scene));
    judge(disk->name, "ask", spare, scene_ask(&scene));
    (void)scene_close(&scene);
    small_disk_make_room();
    const int rc = scene_open(&scene);
    if (rc < 0) fail_msg("%s, %s: not usable: %s", disk->name, act->name, tamis_last_error());
    const int64_t problems = fixture_problems(path);
    if (problems != 0)
        fail_msg("%s, %s: %lld problems", disk->name, act->name, (long long)problems);
    assert_int_equal(scene_ask(&scene), 0);
}

/* A durable filter whose log has no room: nothing is added, and once there is room all is. */
static void run_durable_full(const struct small_disk *disk, const char *root, off_t spare)
{
    struct tamis_key keys[2] = {{"one", 3}, {"two", 3}};
    uint8_t answers[2];
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/durable", root);
    tamis_store *store = fixture_open(path, TAMIS_OPEN_CREATE);
    tamis_filter *filter =
        fixture_create(store, "durable", SPEC(.capacity = 1000, .flags = TAMIS_FILTER_DURABLE));
    small_disk_fill(spare);
    const int64_t one = tamis_filter_add(filter, "one", 3);
    judge(disk->name, "durable add", spare, one);
    const int64_t both = tamis_filter_add_batch(filter, keys, 2, answers);
    judge(disk->name, "durable batch", spare, both);
    for (size_t i = 0; i < 2; i++) {
        const int has = tamis_filter_contains(filter, keys[i].data, keys[i].bytes);
        const bool in = both >= 0 || (i == 0 && one >= 0);
        judge(disk->name, "durable", spare, has < 0 ? has : has == in ? 0 : SCENE_WRONG);
    }
    if (spare == 0 && (one != TAMIS_ENOSPACE || both != TAMIS_ENOSPACE))
        fail_msg("%s: without room a durable add is %lld, a batch %lld", disk->name, (long long)one,
                 (long long)both);
    small_disk_make_room();
    assert_int_equal(tamis_filter_add(filter, "three", 5), 1);
    assert_int_equal(tamis_filter_add_batch(filter, keys, 2, NULL), both >= 0  ? 0
                                                                    : one >= 0 ? 1
                                                                               : 2);
    assert_int_equal(tamis_filter_close(filter), 0);
    tamis_store_close(store);
    assert_int_equal(fixture_problems(path), 0);
    scratch_remove(path);
}

/* Every size of the room from none to what these acts need, block by block. */
static void sweep(const struct small_disk *disk, const char *root)
{
    static const char *const swept[] = {"add new", "create", "durable", "close"};
    for (off_t spare = 0; spare <= disk->sweep_blocks * 4096; spare += 4096) {
        run_durable_full(disk, root, spare);
        for (size_t i = 0; i < acts_count; i++)
            for (size_t j = 0; j < sizeof swept / sizeof swept[0]; j++)
                if (strcmp(acts[i].name, swept[j]) == 0) run_full(disk, &acts[i], root, spare);
    }
}

static void run_on(const struct small_disk *disk)
{
    static const off_t spares[] = {0, 8192, 65536};
    AUTO_FREE char *image = scratch_path("image"), *root = scratch_path("disk");
    if (!small_disk_mount(disk, image, root)) {
        (void)printf("disk-full: %s left out: it cannot be made or mounted here\n", disk->name);
    } else {
        for (size_t i = 0; i < acts_count; i++)
            run_full(disk, &acts[i], root, spares[i % 3]);
        sweep(disk, root);
        (void)printf("disk-full: %s: %u points so far\n", disk->name, points);
        small_disk_unmount();
    }
    scratch_remove(image);
}

/* Not by cmocka's runner: see truncate_under_us.c. */
int main(void)
{
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    scratch_in_memory();
    for (size_t i = 0; i < small_disks_count; i++)
        run_on(&small_disks[i]);
    if (points == 0) return 77;
    (void)printf("disk-full: %u points, SIGBUS 0, crashes 0, wrong answers %u; %u errors with a "
                 "sentence, %u right; %llu faults were met\n",
                 points, wrong, told, right, (unsigned long long)tamis__guard_faults);
    return wrong > 0 || told == 0;
}
