/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page_disks_test.c: filters with huge pages on file systems that give them, that give none, and
 * that are told not to.
 *
 * On each one filters are made, filled, synced, grown, moved on, built, merged, changed from one
 * sort of page to another, backed up and verified, and no call fails.  Then the filter has the huge
 * pages that it is set to have, or says why not (store/segment/obstacle.c).  A disk that cannot be
 * mounted is skipped: that takes root, loop devices, and a kernel that knows the file system.
 *
 * Seen to fail: with MADV_COLLAPSE left out (tmpfs with huge=never has none); with the obstacle
 * always that of the file's history (btrfs, and ext4 with data=journal).
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "numbers.h"
#include "small_disk.h"
#include "tamis.h"

#define MIB ((uint64_t)1 << 20)
#define CAPACITY 40000000u /* some 50 MiB */
#define KEYS 4000u
#define BATCH 1000u

static void add(tamis_filter *filter, uint64_t from, uint64_t count)
{
    uint64_t numbers[BATCH];
    struct tamis_key keys[BATCH];
    for (uint64_t done = 0; done < count; done += BATCH) {
        numbers_from(from + done, BATCH, numbers, keys);
        assert_done(tamis_filter_add_batch(filter, keys, BATCH, NULL));
    }
}

static void has_all(tamis_filter *filter, uint64_t from, uint64_t count)
{
    for (uint64_t key = from; key < from + count; key++)
        assert_int_equal(tamis_filter_contains(filter, &key, sizeof key), 1);
}

static struct tamis_filter_mapped mapped(tamis_filter *filter)
{
    struct tamis_filter_mapped got = {.size = sizeof got};
    assert_done(tamis_filter_mapped(filter, &got));
    return got;
}

/* ---- All operations -------------------------------------------------------------------------- */

static void change_sorts(tamis_store *store, tamis_filter *filter)
{
    static const uint32_t sorts[] = {TAMIS_PAGES_SMALL, TAMIS_PAGES_AUTO, TAMIS_PAGES_HUGE};
    for (uint64_t i = 0; i < 3; i++) {
        assert_done(tamis_filter_set_pages(store, "large", sorts[i]));
        add(filter, KEYS + i * BATCH, BATCH);
        assert_done(tamis_filter_sync(filter));
        (void)mapped(filter);
        has_all(filter, 0, KEYS + (i + 1) * BATCH);
    }
}

static void grow_and_move(tamis_store *store)
{
    AUTO_FILTER *growing =
        fixture_create(store, "growing", SPEC(.capacity = 1000, .pages = TAMIS_PAGES_HUGE));
    add(growing, 0, KEYS);
    assert_true(fixture_stat(growing).segment_count > 1);
    has_all(growing, 0, KEYS);
    AUTO_FILTER *window = fixture_create(
        store, "window", SPEC(.window_items = KEYS, .slices = 2, .pages = TAMIS_PAGES_HUGE));
    add(window, 0, BATCH);
    assert_done(tamis_filter_rotate(window));
    has_all(window, 0, BATCH);
    AUTO_FILTER *counting = fixture_create(
        store, "counting",
        SPEC(.capacity = 3000000, .kind = TAMIS_KIND_COUNTING, .pages = TAMIS_PAGES_HUGE));
    add(counting, 0, BATCH);
    assert_done(tamis_filter_remove(counting, "none", 4));
    has_all(counting, 0, BATCH);
}

static void build(tamis_store *store)
{
    const struct tamis_build_spec spec = {
        .size = sizeof spec,
        .filter = SPEC(.fp_rate = 0x1p-16, .kind = TAMIS_KIND_FUSE, .pages = TAMIS_PAGES_HUGE)};
    uint64_t numbers[BATCH];
    struct tamis_key keys[BATCH];
    tamis_build *started = NULL;
    assert_done(tamis_build_begin(store, "built", &spec, &started));
    for (uint64_t done = 0; done < KEYS; done += BATCH) {
        numbers_from(done, BATCH, numbers, keys);
        assert_done(tamis_build_add(started, keys, BATCH));
    }
    assert_done(tamis_build_publish(started, NULL));
    tamis_build_close(started);
    AUTO_FILTER *filter =
        fixture_opened(store, "built", TAMIS_OPEN_READ_ONLY | TAMIS_OPEN_POPULATE);
    has_all(filter, 0, KEYS);
}

static void merge_and_back_up(tamis_store *store, tamis_filter *filter, const char *path)
{
    char copy[4096];
    (void)snprintf(copy, sizeof copy, "%s-copy", path);
    AUTO_FILTER *other =
        fixture_create(store, "other", SPEC(.capacity = CAPACITY, .pages = TAMIS_PAGES_HUGE));
    assert_done(tamis_filter_merge(other, MERGE(.sources = &filter, .count = 1)));
    has_all(other, 0, KEYS);
    assert_done(tamis_store_backup(store, copy, NULL, NULL));
    AUTO_STORE *copied = fixture_open(copy, 0);
    AUTO_FILTER *opened = fixture_opened(copied, "large", 0);
    has_all(opened, 0, KEYS);
    add(opened, 10 * KEYS, BATCH);
    assert_done(tamis_filter_sync(opened));
    has_all(opened, 10 * KEYS, BATCH);
}

/* ---- What is had, and what is said ----------------------------------------------------------- */

enum gives { GIVES, GIVES_NONE };

static bool kernel_is_from(unsigned major, unsigned minor)
{
    struct utsname system;
    unsigned a = 0, b = 0;
    assert_int_equal(uname(&system), 0);
    assert_true(sscanf(system.release, "%u.%u", &a, &b) == 2);
    return a > major || (a == major && b >= minor);
}

static void has_huge_pages_or_says_why(tamis_filter *filter, enum gives gives)
{
    const struct tamis_filter_mapped got = mapped(filter);
    const char *obstacle = got.obstacle != NULL ? got.obstacle : "nothing";
    print_message("%.1f MiB of %.1f are huge; in the way: %s\n", (double)got.huge_bytes / 1048576,
                  (double)got.present / 1048576, obstacle);
    assert_int_equal(got.wanted, TAMIS_PAGES_HUGE);
    assert_true(got.huge_bytes >= 32 * MIB || got.obstacle != NULL);
    if (got.huge_bytes >= 32 * MIB || !kernel_is_from(6, 16)) return;
    if (gives == GIVES) /* what else there may be is an error of ours */
        assert_true(strstr(obstacle, "memory has no 2 MiB") != NULL ||
                    strstr(obstacle, "switched off") != NULL);
    else
        assert_non_null(strstr(obstacle, "the file system gives"));
}

static void use_disk(const struct small_disk *disk, enum gives gives)
{
    AUTO_FREE char *image = scratch_path(disk->name), *root = scratch_path("root");
    AUTO_FREE char *path = NULL;
    if (!small_disk_mount(disk, image, root)) {
        print_message("[ SKIPPED ] cannot mount %s here: that needs root, a loop device, mkfs and "
                      "a kernel that has it\n",
                      disk->name);
        skip();
    }
    assert_true(asprintf(&path, "%s/store", root) > 0);
    {
        AUTO_STORE *store = fixture_open(path, TAMIS_OPEN_CREATE);
        AUTO_FILTER *filter =
            fixture_create(store, "large", SPEC(.capacity = CAPACITY, .pages = TAMIS_PAGES_HUGE));
        add(filter, 0, KEYS);
        assert_done(tamis_filter_sync(filter));
        change_sorts(store, filter);
        has_huge_pages_or_says_why(filter, gives);
        grow_and_move(store);
        build(store);
        merge_and_back_up(store, filter, path);
    }
    assert_int_equal(fixture_problems(path), 0);
    small_disk_unmount();
    scratch_remove(image);
}

#define MOUNT_LOOP "mount -o loop \"$1\" \"$2\""
#define IMAGE "truncate -s 500M \"$1\" && "

CASE(ext4)
{
    use_disk(&(struct small_disk){"ext4", IMAGE "mkfs.ext4 -q -m 0 \"$1\"", MOUNT_LOOP, 0}, GIVES);
}

CASE(ext4_with_data_in_the_journal)
{
    use_disk(&(struct small_disk){"ext4-data", IMAGE "mkfs.ext4 -q -m 0 \"$1\"",
                                  "mount -o loop,data=journal \"$1\" \"$2\"", 0},
             GIVES_NONE);
}

CASE(ext3)
{
    use_disk(&(struct small_disk){"ext3", IMAGE "mkfs.ext3 -q -m 0 \"$1\"", MOUNT_LOOP, 0}, GIVES);
}

CASE(xfs)
{
    use_disk(&(struct small_disk){"xfs", IMAGE "mkfs.xfs -q \"$1\"", MOUNT_LOOP, 0}, GIVES);
}

CASE(btrfs)
{
    use_disk(&(struct small_disk){"btrfs", IMAGE "mkfs.btrfs -q \"$1\"", MOUNT_LOOP, 0},
             GIVES_NONE);
}

CASE(tmpfs_where_it_is_advised)
{
    use_disk(&(struct small_disk){"tmpfs-advise", "true",
                                  "mount -t tmpfs -o size=500M,huge=advise tmpfs \"$2\"", 0},
             GIVES);
}

CASE(tmpfs_without)
{
    use_disk(&(struct small_disk){"tmpfs-never", "true",
                                  "mount -t tmpfs -o size=500M,huge=never tmpfs \"$2\"", 0},
             GIVES);
}

CASE(tmpfs_with_nothing_else)
{
    use_disk(&(struct small_disk){"tmpfs-always", "true",
                                  "mount -t tmpfs -o size=500M,huge=always tmpfs \"$2\"", 0},
             GIVES);
}

/* ---- A file system that is only read --------------------------------------------------------- */

CASE(image_that_is_only_read)
{
    AUTO_FREE char *path = scratch_path("packed"), *image = scratch_path("image"),
                   *root = scratch_path("root");
    char make[512];
    {
        AUTO_STORE *store = fixture_open(path, TAMIS_OPEN_CREATE);
        AUTO_FILTER *filter =
            fixture_create(store, "large", SPEC(.capacity = CAPACITY, .pages = TAMIS_PAGES_HUGE));
        add(filter, 0, KEYS);
    }
    (void)snprintf(make, sizeof make, "mksquashfs '%s' \"$1\" -no-progress -noD -noF", path);
    const struct small_disk disk = {"squashfs", make, MOUNT_LOOP, 0};
    if (!small_disk_mount(&disk, image, root)) {
        print_message("[ SKIPPED ] cannot mount squashfs here: that needs root, a loop device, "
                      "mksquashfs and a kernel that has it\n");
        skip();
    }
    {
        AUTO_STORE *store = fixture_open(root, TAMIS_OPEN_READ_ONLY);
        AUTO_FILTER *filter = fixture_opened(store, "large", TAMIS_OPEN_POPULATE);
        has_all(filter, 0, KEYS);
        const struct tamis_filter_mapped got = mapped(filter);
        print_message("%.1f MiB of %.1f are huge; in the way: %s\n",
                      (double)got.huge_bytes / 1048576, (double)got.present / 1048576,
                      got.obstacle != NULL ? got.obstacle : "nothing");
        assert_true(got.huge_bytes >= 32 * MIB ||
                    (got.obstacle != NULL && strstr(got.obstacle, "the file system") != NULL));
    }
    assert_int_equal(fixture_problems(root), 0);
    small_disk_unmount();
}

CASES_PREPARE
{
    scratch_in_memory();
}
