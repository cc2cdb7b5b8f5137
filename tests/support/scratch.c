/* SPDX-License-Identifier: BSD-2-Clause */
/* scratch.c: scratch directories; a failure here stops the program, as no test can go on. */
#include "scratch.h"

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define OPEN_DIRECTORIES_MAX 16

/* A container has 64 MiB there, unless told otherwise: too little for some tests. */
#define MEMORY_BYTES_MIN (UINT64_C(1) << 30)

static char *directory;
static pid_t maker;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

void scratch_remove(const char *path)
{
    (void)nftw(path, remove_one, OPEN_DIRECTORIES_MAX, FTW_DEPTH | FTW_PHYS);
}

static void remove_directory(void)
{
    if (getpid() == maker) scratch_remove(directory);
}

static const char *parent(void)
{
    const char *given = getenv("TMPDIR");
    return given == NULL || *given == '\0' ? "/tmp" : given;
}

const char *scratch_directory(void)
{
    if (directory != NULL) return directory;
    if (asprintf(&directory, "%s/tamis-test-XXXXXX", parent()) < 0) err(1, "asprintf");
    if (mkdtemp(directory) == NULL) err(1, "mkdtemp %s", directory);
    maker = getpid();
    if (atexit(remove_directory) != 0) errx(1, "atexit");
    return directory;
}

void scratch_in_memory(void)
{
    struct statvfs fs;
    if (access("/dev/shm", W_OK) == 0 && statvfs("/dev/shm", &fs) == 0 &&
        (uint64_t)fs.f_bavail * fs.f_frsize >= MEMORY_BYTES_MIN)
        (void)setenv("TMPDIR", "/dev/shm", 0);
}

static bool is_tmpfs(const char *path)
{
    struct statfs fs;
    return statfs(path, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
}

void scratch_on_disk(void)
{
    char program[4096] = "";
    if (!is_tmpfs(parent())) return;
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) err(1, "/proc/self/exe");
    *strrchr(program, '/') = '\0';
    if (is_tmpfs(program)) {
        (void)fprintf(stderr, "skipped: %s and %s are no disks\n", parent(), program);
        exit(77);
    }
    (void)setenv("TMPDIR", program, 1);
}

char *scratch_path(const char *name)
{
    static unsigned number;
    char *path;
    if (asprintf(&path, "%s/%s-%u", scratch_directory(), name,
                 __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED)) < 0)
        err(1, "asprintf");
    return path;
}

static void copy_file(const char *from, const char *to, mode_t mode)
{
    char buffer[1 << 16];
    ssize_t got;
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    const int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (in < 0 || out < 0) err(1, "copy %s to %s", from, to);
    while ((got = read(in, buffer, sizeof buffer)) > 0)
        if (write(out, buffer, (size_t)got) != got) err(1, "write %s", to);
    if (got < 0) err(1, "read %s", from);
    (void)close(in);
    (void)close(out);
}

/* The trees are three levels deep; recursion is the shortest way to say it. */
void scratch_copy(const char *from, const char *to) /* NOLINT(misc-no-recursion) */
{
    struct stat st;
    if (lstat(from, &st) != 0) err(1, "stat %s", from);
    if (S_ISREG(st.st_mode)) {
        copy_file(from, to, st.st_mode & 0777);
        return;
    }
    if (mkdir(to, 0777) != 0) err(1, "mkdir %s", to);
    DIR *dir = opendir(from);
    if (dir == NULL) err(1, "opendir %s", from);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char *source, *target;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (asprintf(&source, "%s/%s", from, entry->d_name) < 0) err(1, "asprintf");
        if (asprintf(&target, "%s/%s", to, entry->d_name) < 0) err(1, "asprintf");
        scratch_copy(source, target);
        free(source);
        free(target);
    }
    (void)closedir(dir);
}
