/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * foreign_test.c: what does not belong into a store, with the timing and the system that a shell
 * cannot set. tests/multiproc/permissions_test.sh has the rest.
 *
 * Seen to fail: the group where adopt() does not set it; the swap with LMDB opened by path (it
 * wrote into the victim), network types without the check, hard links without the check of
 * st_nlink.
 */
#include "fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/io.h"
#include "os/network.h"
#include "points.h"
#include "tamis.h"

static char root[512], victim[512];
static unsigned swaps_left;

/* Has a lease on the file, and gives it back late, as a process does that had no processor. */
static void lease_and_linger(const char *file, int ready)
{
    sigset_t asked;
    int signal_number;
    const int fd = open(file, O_RDWR | O_CLOEXEC);
    (void)sigemptyset(&asked);
    (void)sigaddset(&asked, SIGIO);
    (void)sigprocmask(SIG_BLOCK, &asked, NULL);
    if (fd < 0 || fcntl(fd, F_SETLEASE, F_WRLCK) != 0) _exit(2);
    if (write(ready, "", 1) != 1 || sigwait(&asked, &signal_number) != 0) _exit(1);
    (void)usleep(50000);
    _exit(fcntl(fd, F_SETLEASE, F_UNLCK) != 0);
}

/* Seen to fail without the pauses of tamis__open(): a hundred tries are over in less than a
 * millisecond. */
STORE_CASE(file_with_a_lease_is_opened_when_that_is_given_back)
{
    char file[600], byte;
    int ready[2], status;
    close_anyhow(fixture_filter(store, "x", 100));
    (void)snprintf(file, sizeof file, "%s/segments/0000000000000001.seg", path);
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) lease_and_linger(file, ready[1]);
    (void)close(ready[1]);
    if (read(ready[0], &byte, 1) == 1) {
        tamis_filter *filter;
        assert_done(tamis_filter_open(store, "x", 0, &filter));
        assert_done(tamis_filter_close(filter));
    }
    (void)close(ready[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 1); /* 2: no lease to be had here */
}

/* The file that was checked goes aside, and a link to another store's is in its place. */
static void swap_catalog(unsigned point)
{
    char from[600], to[600];
    if (point != TAMIS__POINT_CATALOG_CHECKED || swaps_left == 0) return;
    swaps_left--;
    (void)snprintf(from, sizeof from, "%s/catalog.mdb", root);
    (void)snprintf(to, sizeof to, "%s/catalog.mdb.kept", root);
    if (rename(from, to) != 0 || symlink(victim, from) != 0) abort();
}

STORE_CASE(catalog_swapped_for_a_link_before_lmdb_opens_it_is_not_followed)
{
    AUTO_FREE char *other;
    AUTO_STORE *theirs = fixture_store(&other);
    close_anyhow(fixture_filter(theirs, "theirs", 100));
    (void)snprintf(root, sizeof root, "%s", path);
    (void)snprintf(victim, sizeof victim, "%s/catalog.mdb", other);
    close_anyhow(fixture_filter(store, "mine", 100));
    const uint64_t bytes = fixture_size(victim);
    char *before = malloc(bytes), *after = malloc(bytes);
    fixture_peek(victim, 0, before, bytes);
    swaps_left = 1;
    tamis__point_hook = swap_catalog;
    assert_done(tamis_filter_drop(store, "mine")); /* it writes to what was checked */
    tamis__point_hook = NULL;
    assert_int_equal(swaps_left, 0);
    assert_int_equal(fixture_size(victim), bytes);
    fixture_peek(victim, 0, after, bytes);
    assert_memory_equal(before, after, bytes);
    free(before);
    free(after);
    assert_refused(TAMIS_EFOREIGN, "symbolic link", tamis_filter_drop(store, "mine"));
}

CASE(links_are_refused_without_openat2_too)
{
    char *path;
    for (int no = 0; no < 2; no++) {
        tamis__io_no_openat2 = no != 0;
        tamis_store *store = fixture_store(&path), *again = NULL;
        close_anyhow(fixture_filter(store, "f", 100));
        tamis_filter *filter = NULL;
        char *segment = strdup(fixture_segment_path(path, 1));
        assert_int_equal(rename(segment, fixture_join(path, "elsewhere")), 0);
        assert_int_equal(symlink("../elsewhere", segment), 0);
        assert_refused(TAMIS_EFOREIGN, "symbolic link", tamis_filter_open(store, "f", 0, &filter));
        tamis_store_close(store);
        assert_int_equal(unlink(segment), 0);
        char *moved = strdup(fixture_join(path, "moved"));
        assert_int_equal(rename(fixture_join(path, "segments"), moved), 0);
        assert_int_equal(symlink("moved", fixture_join(path, "segments")), 0);
        assert_true(tamis_store_open(path, 0, &again) < 0);
        free(moved);
        free(segment);
        free(path);
    }
    tamis__io_no_openat2 = false;
}

CASE(hard_links_are_refused_but_those_of_a_repair_that_died)
{
    AUTO_FREE char *path;
    tamis_store *store = fixture_store(&path), *again = NULL;
    close_anyhow(fixture_filter(store, "f", 100));
    tamis_filter *filter = NULL;
    AUTO_FREE char *file = strdup(fixture_segment_path(path, 1)),
                   *other = strdup(fixture_join(path, "other"));
    assert_int_equal(link(file, other), 0);
    assert_refused(TAMIS_EFOREIGN, "2 names (hard links)",
                   tamis_filter_open(store, "f", 0, &filter));
    assert_refused(TAMIS_EFOREIGN, "hard links", tamis_filter_drop(store, "f"));
    /* Who only reads changes nothing under the other name: backups share files. */
    assert_done(tamis_filter_open(store, "f", TAMIS_OPEN_READ_ONLY, &filter));
    assert_done(tamis_filter_close(filter));
    assert_int_equal(unlink(other), 0);
    assert_done(tamis_filter_open(store, "f", 0, &filter));
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    AUTO_FREE char *catalog = strdup(fixture_join(path, "catalog.mdb"));
    assert_int_equal(link(catalog, other), 0);
    assert_refused(TAMIS_EFOREIGN, "hard links", tamis_store_open(path, 0, &again));
    assert_int_equal(unlink(other), 0);
    tamis_store_close(fixture_open(path, 0));
}

/* f_type of NFS, SMB, CIFS, SMB2, Ceph, AFS twice, 9p, Coda, NCP, Lustre, GPFS, GFS2, OCFS2, FUSE.
 * */
static const uint32_t networks[] = {
    0x6969,     0x517B, 0xFF534D42, 0xFE534D42, 0xC36400,  0x5346414F, 0x6B414653, 0x1021997,
    0x73757245, 0x564C, 0xBD00BD0,  0x47504653, 0x1161970, 0x7461636F, 0x65735546,
};
/* ext4, xfs, btrfs, tmpfs, overlayfs, f2fs, ZFS. */
static const uint32_t locals[] = {0xEF53,     0x58465342, 0x9123683E, 0x1021994,
                                  0x794C7630, 0xF2F52010, 0x2FC12FC1};

CASE(network_file_systems_are_refused_unless_forced)
{
    AUTO_FREE char *path, *fresh = scratch_path("fresh");
    tamis_store *store = NULL;
    tamis_store_close(fixture_store(&path));
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        tamis__network_type = networks[i];
        for (unsigned flags = 0; flags <= TAMIS_OPEN_READ_ONLY; flags += TAMIS_OPEN_READ_ONLY) {
            assert_refused(TAMIS_EUNSUPPORTED, "--force-network-fs",
                           tamis_store_open(path, flags, &store));
            tamis_store_close(fixture_open(path, flags | TAMIS_OPEN_FORCE_NETWORK_FS));
        }
        assert_refused(TAMIS_EUNSUPPORTED, "local disk", tamis_store_repair(path, 0, NULL, NULL));
        assert_done(tamis_store_repair(path, TAMIS_REPAIR_FORCE_NETWORK_FS, NULL, NULL));
        assert_refused(TAMIS_EUNSUPPORTED, "which other machines may have mounted too",
                       tamis_store_open(fresh, TAMIS_OPEN_CREATE, &store));
        assert_int_equal(access(fresh, F_OK), -1); /* nothing was made */
    }
    for (size_t i = 0; i < sizeof locals / sizeof locals[0]; i++) {
        tamis__network_type = locals[i];
        tamis_store_close(fixture_open(path, 0));
    }
    tamis__network_type = 0;
    print_message("%zu types of network file systems refused, %zu local ones taken\n",
                  sizeof networks / sizeof networks[0], sizeof locals / sizeof locals[0]);
}

CASE(modes_that_no_store_can_have_are_refused)
{
    static const uint32_t bad[] = {0400, 0060, 0620, 0602, 0660 | 01, 0760, 01660, 02660, 0200};
    tamis_store *store = NULL;
    AUTO_FREE char *path = scratch_path("store");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct tamis_store_options options = {
            .size = sizeof options, .flags = TAMIS_OPEN_CREATE, .mode = bad[i]};
        assert_refused(TAMIS_EINVAL, "cannot have the mode",
                       tamis_store_open_with(path, &options, &store));
        assert_int_equal(access(path, F_OK), -1);
    }
    struct tamis_store_options options = {
        .size = sizeof options, .flags = TAMIS_OPEN_CREATE, .mode = 0640};
    assert_done(tamis_store_open_with(path, &options, &store));
    tamis_store_close(store);
    assert_done(tamis_store_open_with(path, &options, &store)); /* it is that already */
    tamis_store_close(store);
    options.mode = 0660;
    assert_refused(TAMIS_EMISMATCH, "has mode 0640, not 0660; change it with 'chmod 0660",
                   tamis_store_open_with(path, &options, &store));
}

/* Another group that this process may give files to; 0 if there is none. */
static gid_t other_group(void)
{
    gid_t groups[64];
    const int count = getgroups(64, groups);
    for (int i = 0; i < count; i++)
        if (groups[i] != getegid()) return groups[i];
    return geteuid() == 0 ? 54321 : 0;
}

/* Directories with setgid hand the group on by themselves; those of this store do not. */
STORE_CASE(files_have_the_group_of_the_store_where_directories_do_not_hand_it_on)
{
    struct stat st;
    const gid_t group = other_group();
    if (group == 0) cases_skip("this user has one group alone");
    const char *catalog = fixture_join(path, "catalog.mdb");
    assert_int_equal(chown(catalog, (uid_t)-1, group), 0);
    assert_int_equal(chmod(catalog, 0640), 0);
    close_anyhow(fixture_filter(store, "f", 100));
    assert_int_equal(stat(fixture_join(path, "segments"), &st), 0);
    assert_int_equal(st.st_mode & S_ISGID, 0);
    assert_int_equal(stat(fixture_segment_path(path, 1), &st), 0);
    assert_int_equal(st.st_gid, group);
    assert_int_equal(st.st_mode & 07777, 0640);
}
