/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spool.h: what a pull has received so far, in a file that outlives the process.
 *
 *     STORE/pulls/<16 digits>.part     notes (notes.h) of the file that is being received, and its
 *                                      bytes so far, packed if it is packed
 *     STORE/pulls/<16 digits>.last     notes of what was last published; .last.new while they are
 *                                      written
 *     STORE/pulls/<16 digits>.base     a spool that was published, with its notes, for the patches
 *                                      of the nights to come (patch.h); only with --patches
 *
 * The digits are url_id() of the filter's name; the notes have the name itself.
 *
 * Who has an exclusive flock on NAME.part is the only one that pulls NAME; the lock goes with the
 * process, however it ends.  The notes are written before the first byte, over a file of length 0.
 * So a kill at any moment leaves bytes that belong to the notes before them, or no notes, and then
 * no bytes.
 *
 * A power cut may leave other bytes than were received: what is published is compared with the
 * digest at its end, or with its signature, and a spool that was refused is not used again.
 *
 * The directory and its files have the mode, the owner and the group that staging/ of the store
 * has. A spool is removed when its list is published or refused.  One that nobody goes on with is
 * removed by `tamis repair`, or by any pull a week later.
 */
#pragma once

#include "command.h"
#include "pull/notes.h"

struct spool {
    char *path; /* STORE/pulls, for messages */
    int dir_fd;
    int fd;
    char part[32], last[32], base[32]; /* names in there */
    struct notes notes;                /* of the bytes below; all zero if there are none */
    uint64_t bytes;                    /* received */
};

/* Opens or makes the spool of a name in the store at `path`, which must be there, and locks it;
 * waits for another pull of the name as long as --wait allows.  CLI_DONE, or the exit status after
 * a message; then nothing is to be closed. */
int spool_open(struct spool *spool, const struct invocation *call, const char *path,
               const char *name);
/* What was received stays for the next pull. */
void spool_close(struct spool *spool);
/* Is removed with all that was received, and closed. */
void spool_remove(struct spool *spool);

/* Forgets all bytes, and begins the file that these notes describe.  As the next one: CLI_DONE, or
 * CLI_ERROR after a message. */
int spool_begin(struct spool *spool, const struct notes *notes);
/* Forgets all bytes, and what they were of. */
int spool_empty(struct spool *spool);
int spool_append(struct spool *spool, const void *data, size_t bytes);
/* The same, without a message.  false: it failed. */
bool spool_put(struct spool *spool, const void *data, size_t bytes);

/* Bytes from `at` on into the buffer, of those that were received.  Their number; below 0 after a
 * message. */
int64_t spool_read(const struct spool *spool, uint64_t at, void *buffer, size_t bytes);

/* Bytes that the disk has free for it; UINT64_MAX if that is not known. */
uint64_t spool_room(const struct spool *spool);

/* The notes of what was last published under the name.  false: there are none. */
bool spool_read_last(const struct spool *spool, struct notes *notes);
/* They are replaced in one step.  If they cannot be written, the next pull receives more than it
 * needs to; that is all. */
void spool_write_last(const struct spool *spool, const struct notes *notes);

/* The spool becomes the base of patches, with these notes, and is closed. */
void spool_keep_base(struct spool *spool, const struct notes *notes);
/* There shall be none. */
void spool_remove_base(const struct spool *spool);
/* The bytes of the base, for the caller to free, and its notes.  NULL: there is none. */
void *spool_read_base(const struct spool *spool, struct notes *notes, size_t *bytes);

/* Removes the spools that nobody has locked and nobody has written to for `seconds`, and notes
 * whose writer was killed; with `exists` also notes and bases of filters that are not there any
 * more.  With `dry` nothing is removed.  Calls `tell` for each, with its path from the store on.
 * CLI_DONE, also if there are none, or CLI_ERROR after a message. */
struct spool_sweep {
    int64_t seconds;
    bool dry;
    int (*exists)(void *context, const char *name); /* 0: it is not there; NULL: spools only */
    void (*tell)(void *context, const char *file);
    void *context;
};
int spool_sweep(const char *store_path, const struct spool_sweep *sweep);
