/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disk.h: what of a directory tree a power cut would leave.
 *
 * The processes of a scene work on real files; what they see is what the page cache has.  Beside
 * that this keeps, in memory that all of them share, what the disk is sure to have: for each file
 * its contents as of its last sync, for each directory its names as of its last sync, and since
 * then the changes of names in their order.  calls.c tells it of every call that matters, before
 * and after.
 *
 *     file     durable    contents at the last sync; nothing for a new file
 *              between    contents at some instant since then, as the kernel writes back when it
 *                         likes
 *              (now)      read from the real file when the picture is taken: stores into mappings
 *                         too
 *     names    entries    durable; root, directory, name -> file
 *              changes    not durable: link, unlink, rename, in the order they were made
 *
 * A sync of a file says nothing about its name.  A rename is in both directories or in none of
 * them, as file systems with a journal or copy on write have it; apart from that nothing is
 * ordered.
 */
#ifndef TAMIS_CRASH_DISK_H
#define TAMIS_CRASH_DISK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define DISK_FILES_MAX 1024
#define DISK_ENTRIES_MAX 1024
#define DISK_NAME_BYTES 64
#define DISK_SITE_BYTES 160
#define DISK_PAGE 4096u

/* Which syncs are not made, as if the library did not ask for them. */
enum disk_deaf {
    DISK_DEAF_HEADER = 1u << 0,    /* msync of a page: the header at a mark, a name label        */
    DISK_DEAF_SEGMENT = 1u << 1,   /* msync of a segment                                         */
    DISK_DEAF_FILE = 1u << 2,      /* fsync of a segment's file before it gets its name          */
    DISK_DEAF_DIRECTORY = 1u << 3, /* fsync of a directory                                       */
    DISK_DEAF_CATALOG = 1u << 4,   /* of LMDB's file, and that it is written to with O_DSYNC     */
    DISK_DEAF_LOG = 1u << 5,       /* of what is in logs/                                        */
    DISK_DEAF_ALL = (1u << 6) - 1,
};

struct disk_contents {
    uint8_t *data;
    uint64_t bytes, room;
    bool is_there;
};

struct disk_file {
    dev_t device;
    ino_t inode;
    mode_t mode;
    struct disk_contents durable, between;
    struct disk_contents last; /* when its last name was taken from it */
};

struct disk_entry {
    int directory; /* index of a file; -1: the root's own */
    int file;
    char name[DISK_NAME_BYTES];
};

/* From where it goes, to where it comes; directory -1: nowhere. */
struct disk_change {
    struct disk_entry from, to;
};

struct disk {
    pthread_mutex_t lock; /* guards all of it, and is held while a picture is taken */
    char root[256];
    unsigned deaf; /* enum disk_deaf */
    uint64_t random;
    uint64_t calls; /* that were seen */
    int request_fd, reply_fd;
    char site[DISK_SITE_BYTES]; /* of the cut that is asked for */
    struct disk_file files[DISK_FILES_MAX];
    int file_count;
    struct disk_entry entries[DISK_ENTRIES_MAX];
    int entry_count;
    struct disk_change changes[DISK_ENTRIES_MAX];
    int change_count;
    uint8_t *arena;
    size_t arena_used, arena_bytes;
};

/* In memory shared with the children to come; never freed. */
struct disk *disk_new(size_t arena_bytes);

/* All that is under `root` now is durable, and nothing else is known. */
void disk_begin(struct disk *disk, const char *root, unsigned deaf, uint64_t seed);

/* The caller has the lock in all that follows. */

/* The file that a descriptor or a status is of; -1 if it is not of this tree. */
int disk_find(const struct disk *disk, const struct stat *status);
int disk_find_fd(const struct disk *disk, int fd);
/* Its present name, "" if it has none, into `path`. */
void disk_path(const struct disk *disk, int file, char *path, size_t bytes);

/* A new file or directory has this name. */
void disk_made(struct disk *disk, int directory, const char *name, const struct stat *status);
/* Names that move, come and go; from or to may be -1. */
void disk_renamed(struct disk *disk, int file, int from, const char *from_name, int to,
                  const char *to_name);
/* Keep the contents of a file that is about to lose a name. */
void disk_keep_last(struct disk *disk, int directory_fd, const char *name);

/* Bytes of a file are on the disk now: `count` from `offset` on, or all. */
void disk_sync_file(struct disk *disk, int file, int fd);
void disk_sync_range(struct disk *disk, int file, int fd, uint64_t offset, uint64_t count);
void disk_sync_directory(struct disk *disk, int directory);

/* The names after the first `count` changes of those that `kept` says (NULL: all). */
int disk_entries_after(const struct disk *disk, const bool *kept, struct disk_entry *entries);

/* Read what the file has now; into the arena. */
void disk_read(struct disk *disk, int fd, struct disk_contents *into);

/* Now and then the kernel writes something back by itself. */
void disk_write_back(struct disk *disk);

/* ---- calls.c: the process that called this is seen by the disk from now on, as are its children
 * */

void disk_attach(struct disk *disk);
void disk_detach(void);
/* A cut here, between two calls. */
void disk_tick(const char *site);

#endif
