/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log.h: the file of a log, which holds the newest keys of a durable filter: it is made, appended
 * to, read again, removed.
 *
 *     logs/<filter id>-<nonce>.new    being made; removed by the next maker where its lock is free
 *     logs/<filter id>-<nonce>.log    locked (flock) as long as its owner, one handle in one
 *                                     process, lives
 *
 * A log is full of zeros, synced, before it gets its name, and so are the bytes that it grows by
 * before a frame goes there.  So an append overwrites blocks that the file system has laid out, and
 * fdatasync() writes only data.
 *
 * The calls here are not for several threads at once: the caller has a lock of its own (journal.c).
 */
#pragma once

#include "log/frame.h"
#include "os/io.h"
#include "os/private_fd.h"

#define TAMIS__LOG_NAME_BYTES 48

/* How long a log is when it is made; reasoned, not measured.  It is short, so that it is made
 * quickly for those who add a key and leave. */
#define TAMIS__LOG_FIRST_BYTES ((uint64_t)64 << 10)

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
    bool damaged;   /* a log of another: its header or length is wrong, or it cuts a frame */
    bool failed;    /* a sync failed while it grew: frames before may be lost in silence */
};

/* Makes a log for a filter.  When this returns 0, the log is on the disk, and empty. */
int tamis__log_create(const struct tamis__logs *logs, uint64_t filter_id, struct tamis__log *log);

/* Makes the log at least `bytes` long.  After TAMIS_ENOSPACE and the like it is as it was, unless
 * it is `failed`. */
int tamis__log_reach(const struct tamis__logs *logs, struct tamis__log *log, uint64_t bytes);
int tamis__log_write(const struct tamis__logs *logs, const struct tamis__log *log, uint64_t offset,
                     const void *frames, size_t bytes);
int tamis__log_sync(const struct tamis__logs *logs, const struct tamis__log *log);
/* The frames are no longer needed: the log begins at its front again, with the next epoch. */
void tamis__log_rewind(struct tamis__log *log);

/* Removes the file, then the lock.  If that fails, the lock stays until tamis__log_close(). */
int tamis__log_remove(const struct tamis__logs *logs, struct tamis__log *log);
/* Removes the file alone; the lock stays. */
int tamis__log_unlink(const struct tamis__logs *logs, const struct tamis__log *log);
/* Gives the lock back and leaves the file; harmless on a zeroed or closed log. */
void tamis__log_close(struct tamis__log *log);

/* ---- Logs of others -------------------------------------------------------------------------- */

/* Reads what the name of a log says; false if the name is not that of a log. */
bool tamis__log_parse_name(const char *name, uint64_t *filter_id, uint64_t *nonce);

/* Calls fn for each log of a filter (0: of all), whoever has it, until fn returns other than 0. */
typedef int tamis__log_fn(void *context, uint64_t filter_id, const char *name);
int tamis__logs_each(const struct tamis__logs *logs, uint64_t filter_id, tamis__log_fn *fn,
                     void *context);

/* The same for every name in logs/; with fn of os/io.h. */
int tamis__logs_each_name(const struct tamis__logs *logs, tamis__name_fn *fn, void *context);

/* Opens a log to look at it, without its lock.  TAMIS_ENOTFOUND: it is gone. */
int tamis__log_look(const struct tamis__logs *logs, const char *name, struct tamis__log *log);
/* For a log that is open: 1 if its lock was free and is ours now, 0 if its owner lives. */
int tamis__log_try_lock(const struct tamis__logs *logs, const struct tamis__log *log);

/* Takes a log over.  Returns 1; 0 if its owner lives, or it is gone.  A header that cannot be read
 * is no hindrance, as the name says what its frames need, but the log is `damaged`.  A log of
 * another store or of a newer version is refused. */
int tamis__log_take(const struct tamis__logs *logs, const char *name, struct tamis__log *log);

/* Is this a whole log of this store, by its header and its length?  Returns 0; TAMIS_ECORRUPT if it
 * is damaged, though its frames may be read; TAMIS_EFOREIGN if it is of another store;
 * TAMIS_EVERSION if it is of a newer version; or an error of reading.  *reason is a clause that
 * fits behind the name of the file. */
int tamis__log_judge(const struct tamis__logs *logs, const struct tamis__log *log,
                     const char **reason);

/* Calls fn for each whole frame, of whatever epoch, until fn returns other than 0.  The room for a
 * frame is on the disk before the frame, so a log that ends within a frame is `damaged`. */
typedef int tamis__frame_fn(void *context, const struct tamis__frame *frame);
int tamis__log_each_frame(const struct tamis__logs *logs, struct tamis__log *log,
                          tamis__frame_fn *fn, void *context);
