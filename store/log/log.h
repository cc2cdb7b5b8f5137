/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log.h: the file of a log: made, appended to, read again, removed.
 *
 *     logs/<filter id>-<nonce>.new    being made; removed by the next maker where its lock is free
 *     logs/<filter id>-<nonce>.log    locked (flock) as long as its owner, one handle in one
 *                                     process, lives
 *
 * It is full of zeros, synced, before it gets its name, and so is what it grows by before a frame
 * goes there: an append overwrites blocks that the file system has settled, and fdatasync() has
 * data alone to write.
 *
 * Nothing here is for several threads: the caller has a lock of its own (durable.c).
 */
#ifndef TAMIS_LOG_LOG_H
#define TAMIS_LOG_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "file/io.h"
#include "file/private_fd.h"
#include "log/frame.h"

#define TAMIS__LOG_NAME_BYTES 48

/* What logs of a store have in common; `path` is the store's, for sentences. */
struct tamis__logs {
    int root_fd;
    const char *path;
    uint64_t store_id;
};

struct tamis__log {
    struct tamis__private_fd file; /* locked; closed in a child of fork() */
    char name[TAMIS__LOG_NAME_BYTES];
    uint64_t filter_id, nonce, epoch;
    uint64_t bytes; /* of the file, all of them written once */
    uint64_t end;   /* where the next frame goes */
    bool damaged;   /* one that was taken over: by its header, its length or a frame that it cuts */
    bool failed;    /* a sync as it grew failed: frames before may be lost in silence */
};

/* One for a filter.  It is on the disk, empty, when this returns 0. */
int tamis__log_create(const struct tamis__logs *logs, uint64_t filter_id, struct tamis__log *log);

/* Make it at least so long.  TAMIS_ENOSPACE and the like: it is as it was, unless it is `failed`.
 * */
int tamis__log_reach(const struct tamis__logs *logs, struct tamis__log *log, uint64_t bytes);
int tamis__log_write(const struct tamis__logs *logs, const struct tamis__log *log, uint64_t offset,
                     const void *frames, size_t bytes);
int tamis__log_sync(const struct tamis__logs *logs, const struct tamis__log *log);
/* Its frames are needed no more: begin at the front, with the next epoch. */
void tamis__log_rewind(struct tamis__log *log);

/* Take the file away, then the lock.  Where that fails the lock stays until tamis__log_close(). */
int tamis__log_remove(const struct tamis__logs *logs, struct tamis__log *log);
/* The file alone; the lock stays. */
int tamis__log_unlink(const struct tamis__logs *logs, const struct tamis__log *log);
/* Give the lock back and leave the file; harmless on a zeroed or closed one. */
void tamis__log_close(struct tamis__log *log);

/* ---- Logs of others -------------------------------------------------------------------------- */

/* What the name of a log says: false where it is none. */
bool tamis__log_parse_name(const char *name, uint64_t *filter_id, uint64_t *nonce);

/* Call fn for each log of a filter (0: of all), whoever has it, until it returns other than 0. */
typedef int tamis__log_fn(void *context, uint64_t filter_id, const char *name);
int tamis__logs_each(const struct tamis__logs *logs, uint64_t filter_id, tamis__log_fn *fn,
                     void *context);

/* The same for all that lies in logs/, whatever its name; with fn of file/io.h. */
int tamis__logs_each_name(const struct tamis__logs *logs, tamis__name_fn *fn, void *context);

/* Open one to look at it, without its lock.  TAMIS_ENOTFOUND: it is gone. */
int tamis__log_look(const struct tamis__logs *logs, const char *name, struct tamis__log *log);
/* Of one that is open: 1 if its lock was free and is ours now, 0 if its owner lives. */
int tamis__log_try_lock(const struct tamis__logs *logs, const struct tamis__log *log);

/* Take one over: 1; 0 where its owner lives, or it is gone.  A header that cannot be read is no
 * hindrance, as the name says what its frames need, but it is `damaged`; one of another store or a
 * newer version is. */
int tamis__log_take(const struct tamis__logs *logs, const char *name, struct tamis__log *log);

/* Is it a whole log of this store, by its header and its length?  0; TAMIS_ECORRUPT: damaged, its
 * frames may be read all the same; TAMIS_EFOREIGN: of another store; TAMIS_EVERSION: of a newer
 * version; or it cannot be read.  *reason: a clause that fits behind the name of the file. */
int tamis__log_judge(const struct tamis__logs *logs, const struct tamis__log *log,
                     const char **reason);

/* Call fn for each whole frame, of whatever epoch, until it returns other than 0.  Room for a frame
 * is on the disk before the frame: a log that ends within one is `damaged`. */
typedef int tamis__frame_fn(void *context, const struct tamis__frame *frame);
int tamis__log_each_frame(const struct tamis__logs *logs, struct tamis__log *log,
                          tamis__frame_fn *fn, void *context);

#endif
