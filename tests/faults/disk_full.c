/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disk_full.c: every act of acts.h on a disk that is filled to the last block, on ext4, btrfs and tmpfs.
 *
 * The store is copied there, its handles are opened, the disk is filled but for so many blocks, the act is
 * run: it is right, or an error with a sentence; no SIGBUS, no crash, and nothing is told wrongly, then or
 * later.  When room has been made the store is sound and the act works.  Where a file system cannot be
 * mounted (no root, no mkfs) it is left out, and the output says so.
 *
 * Seen to fail: without the handler of SIGBUS (btrfs: a page that is rewritten takes new room).  Not seen to
 * fail: with segments made by ftruncate() instead of by allocation, where the handler makes errors of the faults.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "acts.h"
#include "file/guard.h"

static unsigned points, told, right, wrong;

/* ---- Disks ----------------------------------------------------------------------------------- */

struct disk {
    const char *name, *make, *mount; /* shell commands; $1 the image, $2 the directory */
    off_t sweep_blocks;
};

static const struct disk disks[] = {
    {"ext4", "truncate -s 48M \"$1\" && mkfs.ext4 -q -m 0 -O ^has_journal \"$1\"",
     "mount -o loop \"$1\" \"$2\"", 1},
    {"btrfs", "truncate -s 120M \"$1\" && mkfs.btrfs -q --mixed \"$1\"",
     "mount -o loop \"$1\" \"$2\"", 1},
    {"tmpfs", "true", "mount -t tmpfs -o size=32M tmpfs \"$2\"", 16},
};

static int run_shell(const char *command, const char *image, const char *directory)
{
    char line[1024];
    (void)snprintf(line, sizeof line,
                   "set -- '%s' '%s'; PATH=$PATH:/usr/sbin:/sbin; (%s) >/dev/null 2>&1", image,
                   directory, command);
    return system(line); // NOLINT(cert-env33-c): fixed commands
}

static char filler[4096], mounted[4096];

/* At the end too, whatever it was, before the scratch directory goes. */
static void unmount(void)
{
    if (*mounted != '\0' && umount2(mounted, MNT_DETACH) != 0) warn("umount %s", mounted);
    *mounted = '\0';
}

static void make_room(void)
{
    (void)unlink(filler);
}

/* Take all room but `spare` bytes. */
static void fill_up(off_t spare)
{
    static char block[65536];
    const int fd = open(filler, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) return; /* not even that: it is full */
    memset(block, 'x', sizeof block);
    off_t end = 0;
    for (off_t now = 64 << 20; now >= (off_t)sizeof block; now /= 2) /* most of it at once */
        while (fallocate(fd, 0, end, now) == 0)
            end += now;
    if (lseek(fd, end, SEEK_SET) != end) err(1, "%s", filler);
    for (size_t now = sizeof block; now >= 512; now /= 2)
        while (write(fd, block, now) == (ssize_t)now)
            continue;
    (void)fsync(fd); /* what is only promised is found out */
    struct stat st;
    if (fstat(fd, &st) == 0 && spare > 0)
        (void)ftruncate(fd, st.st_size > spare ? st.st_size - spare : 0);
    (void)fsync(fd);
    (void)close(fd);
}

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

static void run_full(const struct disk *disk, const struct act *act, const char *root, off_t spare)
{
    struct scene scene;
    char path[4096], away[4096];
    (void)snprintf(path, sizeof path, "%s/store", root);
    (void)snprintf(away, sizeof away, "%s/away", root);
    scene_copy_to(&scene, path, away);
    assert_done(scene_open(&scene));
    if (act->prepare != NULL) act->prepare(&scene);
    fill_up(spare);
    judge(disk->name, act->name, spare, act->run(&scene));
    judge(disk->name, "ask", spare, scene_ask(&scene));
    (void)scene_close(&scene);
    make_room();
    const int rc = scene_open(&scene);
    if (rc < 0) fail_msg("%s, %s: not usable: %s", disk->name, act->name, tamis_last_error());
    const int64_t problems = fixture_problems(path);
    if (problems != 0)
        fail_msg("%s, %s: %lld problems", disk->name, act->name, (long long)problems);
    assert_int_equal(scene_ask(&scene), 0);
    scene_clear(&scene);
}

/* A durable filter whose log has no room: nothing is added, and once there is room all is. */
static void run_durable_full(const struct disk *disk, const char *root, off_t spare)
{
    const struct tamis_filter_spec spec = {.capacity = 1000, .flags = TAMIS_FILTER_DURABLE};
    struct tamis_key keys[2] = {{"one", 3}, {"two", 3}};
    uint8_t answers[2];
    char path[4096];
    tamis_store *store = NULL;
    tamis_filter *filter = NULL;
    (void)snprintf(path, sizeof path, "%s/durable", root);
    assert_done(tamis_store_open(path, TAMIS_CREATE, &store));
    assert_done(tamis_filter_create(store, "durable", &spec, &filter));
    fill_up(spare);
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
    make_room();
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
static void sweep(const struct disk *disk, const char *root)
{
    static const char *const swept[] = {"add new", "create", "durable", "close"};
    for (off_t spare = 0; spare <= disk->sweep_blocks * 4096; spare += 4096) {
        run_durable_full(disk, root, spare);
        for (size_t i = 0; i < acts_count; i++)
            for (size_t j = 0; j < sizeof swept / sizeof swept[0]; j++)
                if (strcmp(acts[i].name, swept[j]) == 0) run_full(disk, &acts[i], root, spare);
    }
}

static void run_on(const struct disk *disk)
{
    static const off_t spares[] = {0, 8192, 65536};
    char *image = scratch_path("image"), *root = scratch_path("disk");
    if (mkdir(root, 0755) != 0) err(1, "%s", root);
    if (run_shell(disk->make, image, root) != 0 || run_shell(disk->mount, image, root) != 0) {
        (void)printf("disk-full: %s left out: it cannot be made or mounted here\n", disk->name);
    } else {
        (void)snprintf(filler, sizeof filler, "%s/filler", root);
        (void)snprintf(mounted, sizeof mounted, "%s", root);
        for (size_t i = 0; i < acts_count; i++)
            run_full(disk, &acts[i], root, spares[i % 3]);
        sweep(disk, root);
        (void)printf("disk-full: %s: %u points so far\n", disk->name, points);
        unmount();
    }
    scratch_remove(image);
    free(image);
    free(root);
}

/* Not by cmocka's runner: see truncate_under_us.c. */
int main(void)
{
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    scratch_in_memory();
    (void)scratch_directory(); /* its end is registered first */
    if (atexit(unmount) != 0) err(1, "atexit");
    for (size_t i = 0; i < sizeof disks / sizeof disks[0]; i++)
        run_on(&disks[i]);
    if (points == 0) return 77;
    (void)printf("disk-full: %u points, SIGBUS 0, crashes 0, wrong answers %u; %u errors with a "
                 "sentence, %u right; %llu faults were met\n",
                 points, wrong, told, right, (unsigned long long)tamis__guard_faults);
    return wrong > 0 || told == 0;
}
