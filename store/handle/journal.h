/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal.h: the log of a handle, shared by its threads.
 *
 *     reserve    there is room for a frame: so a full disk is found before a bit is set
 *     append     the frame is written, not synced
 *     sync       it is on the disk; threads that come together share one fdatasync()
 *
 * What makes, grows or retires the log, one thread does while the others wait (`busy`); it waits
 * for frames that have room and are not written.  A checkpoint of all segments that the frames name
 * makes them needless: then the log begins anew at its front.
 *
 * A write or a sync that failed ends it: it is never written to again, the filter is degraded, and
 * the next `reserve` makes a checkpoint and another log first.
 *
 * The mutex is of one process: a child of fork() begins a journal of its own (tamis__journal_of).
 */
#ifndef TAMIS_HANDLE_JOURNAL_H
#define TAMIS_HANDLE_JOURNAL_H

#include "handle/view.h"
#include "log/log.h"

struct tamis__journal;

/* The one of this process; made where there is none.  TAMIS_ENOMEM. */
int tamis__journal_of(struct tamis_filter *filter, struct tamis__journal **journal);

/* Room for a frame of so many bytes.  The caller has entered `view`, and owes an append. */
int tamis__journal_reserve(struct tamis__journal *journal, const struct tamis__view *view,
                           size_t bytes);
/* Not needed after all. */
void tamis__journal_release(struct tamis__journal *journal, size_t reserved);

/* Write the frame whose payload stands in `buffer` into the room reserved for it.  *ticket is what
 * sync wants. */
int tamis__journal_append(struct tamis__journal *journal, const struct tamis__view *view,
                          struct tamis__frame *frame, unsigned char *buffer, size_t reserved,
                          uint64_t *ticket);
/* 0 once all that had that ticket, or a lower one, is on the disk. */
int tamis__journal_sync(struct tamis__journal *journal, const struct tamis__view *view,
                        uint64_t ticket);

/* The handle ends: take the log away.  `whole`: a checkpoint of all its segments has ended well
 * since the last add; else one is made.  Where it fails the log stays for others. */
int tamis__journal_close(struct tamis_filter *filter, bool whole);
/* The same of a filter that was dropped: nobody needs it, and who cleans the store takes what this
 * leaves. */
void tamis__journal_forget(struct tamis_filter *filter);
/* Give back what it has in memory, and the lock; harmless where there is none. */
void tamis__journal_free(struct tamis_filter *filter);

#endif
