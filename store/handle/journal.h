/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal.h: the journal of a handle: through it the threads of a handle write its log (log/log.h).
 *
 *     reserve    takes room for a frame, so that a full disk is found before a bit is set
 *     append     writes the frame, without a sync
 *     sync       brings it to the disk; threads that come together share one fdatasync()
 *
 * One thread makes, grows or removes the log, while the others wait (`busy`).  It first waits for
 * frames that have room and are not written.  A checkpoint of all segments that the frames name
 * makes the frames needless: then the log begins anew at its front.
 *
 * After a failed write or sync the log is never written to again, and the filter is degraded.  The
 * next `reserve` first makes a checkpoint and another log.
 *
 * The mutex belongs to one process: a child of fork() begins a journal of its own
 * (tamis__journal_of).
 */
#pragma once

#include "handle/view.h"
#include "log/log.h"

struct tamis__journal;

/* Gives the journal of this process, and makes it if there is none.  TAMIS_ENOMEM. */
int tamis__journal_of(struct tamis_filter *filter, struct tamis__journal **journal);

/* Reserves room for a frame of `bytes` bytes.  The caller has entered `view`, and must append the
 * frame or release the room. */
int tamis__journal_reserve(struct tamis__journal *journal, const struct tamis__view *view,
                           size_t bytes);
/* Gives back room that was reserved and is not needed. */
void tamis__journal_release(struct tamis__journal *journal, size_t reserved);

/* Writes the frame whose payload stands in `buffer` into the room that was reserved for it. *ticket
 * is for tamis__journal_sync(). */
int tamis__journal_append(struct tamis__journal *journal, const struct tamis__view *view,
                          struct tamis__frame *frame, unsigned char *buffer, size_t reserved,
                          uint64_t *ticket);
/* Returns 0 once all frames with that ticket, or a lower one, are on the disk. */
int tamis__journal_sync(struct tamis__journal *journal, const struct tamis__view *view,
                        uint64_t ticket);

/*
 * Ends the journal of a handle and removes its log.  `whole`: a checkpoint of all segments has
 * succeeded since the last add; otherwise one is made.  If it fails, the log stays for others to
 * replay.
 */
int tamis__journal_close(struct tamis_filter *filter, bool whole);
/* As tamis__journal_close(), for a filter that was dropped.  Nobody needs the log; if it cannot be
 * removed here, the next cleaner of the store removes it. */
void tamis__journal_forget(struct tamis_filter *filter);
/* Frees the memory of the journal and gives back its lock.  Does nothing if there is no journal. */
void tamis__journal_free(struct tamis_filter *filter);
