/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disk_full.c: every act of acts.h on a disk that is filled to the last block, on ext4, btrfs and tmpfs.
 *
 * The store is copied there, its handles are opened, the disk is filled but for so many blocks, the act is
 * run: it is right, or an error with a sentence; no SIGBUS, no crash, and nothing is told wrongly, then or
 * later.  When room has been made the store is sound and the act works.  Where a file system cannot be
 * mounted (no root, no mkfs) it is left out, and the output says so.
 *
 * Seen to fail: with files that are made by ftruncate() instead of by allocation (SIGBUS on tmpfs, where
 * the guard is taken out too).
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
};

static const struct disk disks[] = {
    {"ext4", "truncate -s 48M \"$1\" && mkfs.ext4 -q -m 0 -O ^has_journal \"$1\"",
     "mount -o loop \"$1\" \"$2\""},
    {"btrfs", "truncate -s 120M \"$1\" && mkfs.btrfs -q --mixed \"$1\"",
     "mount -o loop \"$1\" \"$2\""},
    {"tmpfs", "true", "mount -t tmpfs -o size=32M tmpfs \"$2\""},
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
