/* SPDX-License-Identifier: BSD-2-Clause */
/* journal.c: see journal.h. */
#include "handle/journal.h"

#include <pthread.h>

#include "handle/points.h"
#include "handle/view.h"
#include "segment/mark.h"

/*
 * A checkpoint is made when a log reaches TAMIS__LOG_LIMIT, or the given share of the filter's data
 * if that is more.  4 million keys in 64 MiB dirty most pages of a filter of up to 16 GiB, so a
 * checkpoint writes the whole filter.  With a log of an eighth of the data, that is 8 bytes written
 * for each byte that is logged.
 */
#define LIMIT_SHARE 8u

struct tamis__journal {
    struct tamis_filter *filter;
    struct tamis__logs logs;
    struct tamis__journal
        *inherited; /* journal of the parent process; its mutex may be locked for ever */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct tamis__log log; /* file.fd below 0: there is no log */
    bool busy, syncing, failed;
    uint64_t reserved;                      /* bytes promised to frames that have no place yet */
    unsigned writing;                       /* frames that have a place and are not written yet */
    uint64_t written, synced;               /* numbers of frames, counted as they are written */
    uint64_t segments[TAMIS__SEGMENTS_MAX]; /* named by frames since the log last began anew */
    uint32_t segment_count;
};

/* ---- One journal in each process ------------------------------------------------------------- */

/* Frees a journal.  An inherited one has lost its descriptor, so nothing of its log is given back.
 * Its condition is not destroyed: that could wait for threads of the parent. */
static void free_journal(struct tamis__journal *journal)
{
    while (journal != NULL) {
        struct tamis__journal *inherited = journal->inherited;
        tamis__log_close(&journal->log);
        free(journal);
        journal = inherited;
    }
}

int tamis__journal_of(struct tamis_filter *filter, struct tamis__journal **journal)
{
    /* ORDER acquire: pairs with the release below, so the journal is complete. */
    *journal = __atomic_load_n(&filter->journal, __ATOMIC_ACQUIRE);
    if (*journal != NULL) return 0;
    struct tamis__journal *made = calloc(1, sizeof *made);
    if (made == NULL)
        return tamis__fail(TAMIS_ENOMEM, "out of memory for the log of the filter '%s'",
                           filter->name);
    made->filter = filter;
    made->logs = tamis__store_logs(filter->store);
    made->inherited = filter->inherited_journal;
    made->log.file.fd = -1;
    (void)pthread_mutex_init(&made->mutex, NULL);
    (void)pthread_cond_init(&made->changed, NULL);
    if (!__atomic_compare_exchange_n(&filter->journal, journal, made, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        made->inherited = NULL; /* another thread was faster */
        free_journal(made);
    } else {
        *journal = made;
    }
    return 0;
}

/* ---- Checkpoints ----------------------------------------------------------------------------- */

static bool is_degraded(const struct tamis__view *view)
{
    for (uint32_t i = 0; i < view->count;
         i++) /* ORDER relaxed: a sync that follows tells the truth */
        if (__atomic_load_n(&view->segments[i].segment.live->degraded_since, __ATOMIC_RELAXED))
            return true;
    return false;
}

/* Brings a segment to the disk that a frame names and that the list no longer has: a rollback may
 * put it in force again. */
static int sync_left(const struct tamis__journal *journal, uint64_t number)
{
    struct tamis__mapped_segment left;
    struct tamis_filter *filter = journal->filter;
    int rc = tamis__map_segment(filter->store, number, filter->filter_id, true, &left);
    if (rc < 0) return tamis__segment_exists(&filter->store->place, number) == 0 ? 0 : rc;
    rc = tamis__mark_checkpoint(&left.segment);
    tamis__close_segment(&left);
    return rc < 0 ? rc : 0;
}

/* Brings all segments of the view to the disk, and all others that frames name. */
static int make_checkpoint(const struct tamis__journal *journal, const struct tamis__view *view)
{
    int rc = 0;
    for (uint32_t i = 0; rc >= 0 && i < view->count; i++)
        rc = tamis__mark_checkpoint(&view->segments[i].segment);
    for (uint32_t i = 0; rc >= 0 && i < journal->segment_count; i++)
        if (tamis__view_find(view, journal->segments[i]) == NULL)
            rc = sync_left(journal, journal->segments[i]);
    return rc < 0 ? rc : 0;
}

static uint64_t limit_of(const struct tamis__view *view)
{
    uint64_t data_bytes = 0;
    for (uint32_t i = 0; i < view->count; i++)
        data_bytes += view->segments[i].segment.header->data_bytes;
    const uint64_t share = data_bytes / LIMIT_SHARE;
    return share > TAMIS__LOG_LIMIT ? share : TAMIS__LOG_LIMIT;
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* Marks the filter as degraded, for all processes: the log of this call's keys is not on the disk.
 * Returns `rc`. */
static int fail_log(struct tamis__journal *journal, const struct tamis__view *view, int rc)
{
    char cause[768];
    (void)snprintf(cause, sizeof cause, "%s", tamis_last_error());
    for (uint32_t i = 0; i < view->count; i++)
        (void)tamis__mark_degrade(&view->segments[i].segment, rc);
    return tamis__fail(
        rc,
        "%s; the keys of this call may be in the filter '%s' and are not safe from "
        "a power cut: once the disk works again, add them again, which brings the whole "
        "filter to the disk first",
        cause, journal->filter->name);
}

static int fail_with_others(const struct tamis__journal *journal)
{
    return tamis__fail(TAMIS_EIO,
                       "the log of the filter '%s' could not be written to the disk for another "
                       "thread; the keys of this call are not safe from a power cut: once the disk "
                       "is well, add them again",
                       journal->filter->name);
}

/* ---- The busy thread ------------------------------------------------------------------------- */

/* Waits until no frame is on its way into the log, and keeps other threads from changing it. Called
 * with the mutex, which it gives back. */
static void become_busy(struct tamis__journal *journal)
{
    journal->busy = true;
    while (journal->reserved > 0 || journal->writing > 0 || journal->syncing)
        (void)pthread_cond_wait(&journal->changed, &journal->mutex);
    (void)pthread_mutex_unlock(&journal->mutex);
}

static void end_busy(struct tamis__journal *journal)
{
    (void)pthread_mutex_lock(&journal->mutex);
    journal->busy = false;
    (void)pthread_cond_broadcast(&journal->changed);
}

/* Begins the log anew: nothing in it is needed any more. */
static int begin_anew(struct tamis__journal *journal, const struct tamis__view *view)
{
    int rc = make_checkpoint(journal, view);
    if (rc < 0) return rc;
    TAMIS__POINT(TAMIS__POINT_LOG_RETIRED);
    if (journal->failed && journal->log.file.fd >= 0)
        rc = tamis__log_remove(&journal->logs, &journal->log);
    if (rc < 0) return rc;
    if (journal->log.file.fd >= 0) tamis__log_rewind(&journal->log);
    journal->failed = false;
    journal->segment_count = 0;
    journal->synced = journal->written;
    return 0;
}

/* Makes room in the log for a frame of `bytes` bytes.  The caller has become busy. */
static int make_room_for_frame(struct tamis__journal *journal, const struct tamis__view *view,
                               size_t bytes)
{
    struct tamis__log *log = &journal->log;
    int rc = 0;
    if (journal->failed || is_degraded(view) || journal->segment_count == TAMIS__SEGMENTS_MAX ||
        (log->file.fd >= 0 && log->end + bytes > log->bytes && log->end > limit_of(view)))
        rc = begin_anew(journal, view);
    if (rc == 0 && log->file.fd < 0)
        rc = tamis__log_create(&journal->logs, journal->filter->filter_id, log);
    if (rc == 0) rc = tamis__log_reach(&journal->logs, log, log->end + bytes);
    return log->failed ? fail_log(journal, view, rc) : rc;
}

int tamis__journal_reserve(struct tamis__journal *journal, const struct tamis__view *view,
                           size_t bytes)
{
    int rc = 0;
    (void)pthread_mutex_lock(&journal->mutex);
    while (journal->busy)
        (void)pthread_cond_wait(&journal->changed, &journal->mutex);
    const struct tamis__log *log = &journal->log;
    if (journal->failed || log->file.fd < 0 || is_degraded(view) ||
        journal->segment_count == TAMIS__SEGMENTS_MAX ||
        log->end + journal->reserved + bytes > log->bytes) {
        become_busy(journal);
        rc = make_room_for_frame(journal, view, bytes);
        end_busy(journal);
        /* This call returns the error.  The frames that wait for their sync get it by `failed`. */
        journal->failed |= log->failed;
    }
    if (rc == 0) journal->reserved += bytes;
    (void)pthread_mutex_unlock(&journal->mutex);
    return rc;
}

void tamis__journal_release(struct tamis__journal *journal, size_t reserved)
{
    (void)pthread_mutex_lock(&journal->mutex);
    journal->reserved -= reserved;
    (void)pthread_cond_broadcast(&journal->changed);
    (void)pthread_mutex_unlock(&journal->mutex);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* The caller has the mutex. */
static void note_segment(struct tamis__journal *journal, uint64_t number)
{
    for (uint32_t i = 0; i < journal->segment_count; i++)
        if (journal->segments[i] == number) return;
    if (journal->segment_count < TAMIS__SEGMENTS_MAX)
        journal->segments[journal->segment_count++] = number;
    else
        journal->failed = true; /* cannot happen: reserve prevents it */
}

int tamis__journal_append(struct tamis__journal *journal, const struct tamis__view *view,
                          struct tamis__frame *frame, unsigned char *buffer, size_t reserved,
                          uint64_t *ticket)
{
    frame->epoch = journal->log.epoch; /* stays the same while bytes are reserved */
    const size_t bytes = tamis__frame_seal(journal->log.nonce, frame, buffer);
    (void)pthread_mutex_lock(&journal->mutex);
    const uint64_t at = journal->log.end;
    const bool failed = journal->failed;
    journal->log.end += bytes;
    journal->reserved -= reserved;
    journal->writing++;
    note_segment(journal, frame->segment);
    (void)pthread_mutex_unlock(&journal->mutex);
    int rc = failed ? fail_with_others(journal)
                    : tamis__log_write(&journal->logs, &journal->log, at, buffer, bytes);
    TAMIS__POINT(TAMIS__POINT_DURABLE_WRITTEN);
    (void)pthread_mutex_lock(&journal->mutex);
    journal->writing--;
    if (rc < 0) journal->failed = true;
    *ticket = ++journal->written;
    (void)pthread_cond_broadcast(&journal->changed);
    (void)pthread_mutex_unlock(&journal->mutex);
    return rc < 0 && !failed ? fail_log(journal, view, rc) : rc;
}

/* Syncs all that is written by now.  The caller has the mutex, which is given back during the
 * sync. */
static int sync_written(struct tamis__journal *journal)
{
    const uint64_t written = journal->written;
    journal->syncing = true;
    (void)pthread_mutex_unlock(&journal->mutex);
    const int rc = tamis__log_sync(&journal->logs, &journal->log);
    (void)pthread_mutex_lock(&journal->mutex);
    journal->syncing = false;
    if (rc == 0 && written > journal->synced) journal->synced = written;
    if (rc < 0) journal->failed = true;
    (void)pthread_cond_broadcast(&journal->changed);
    return rc;
}

int tamis__journal_sync(struct tamis__journal *journal, const struct tamis__view *view,
                        uint64_t ticket)
{
    int rc = 0;
    bool failed = false;
    (void)pthread_mutex_lock(&journal->mutex);
    while (rc == 0 && journal->synced < ticket) {
        failed = journal->failed;
        if (failed) break;
        if (journal->syncing || journal->busy) {
            TAMIS__POINT(TAMIS__POINT_LOG_AWAITED);
            (void)pthread_cond_wait(&journal->changed, &journal->mutex);
        } else {
            rc = sync_written(journal);
        }
    }
    (void)pthread_mutex_unlock(&journal->mutex);
    if (failed) return fail_with_others(journal);
    return rc < 0 ? fail_log(journal, view, rc) : 0;
}

/* ---- The end --------------------------------------------------------------------------------- */

int tamis__journal_close(struct tamis_filter *filter, bool whole)
{
    struct tamis__journal *journal = filter->journal;
    int rc = 0;
    if (journal != NULL && journal->log.file.fd >= 0) {
        for (uint32_t i = 0; whole && i < journal->segment_count; i++)
            whole = tamis__view_find(filter->view, journal->segments[i]) != NULL;
        if (!whole && journal->segment_count > 0) rc = make_checkpoint(journal, filter->view);
        TAMIS__POINT(TAMIS__POINT_LOG_RETIRED);
        if (rc == 0) rc = tamis__log_remove(&journal->logs, &journal->log);
    }
    return rc;
}

void tamis__journal_forget(struct tamis_filter *filter)
{
    struct tamis__journal *journal = filter->journal;
    if (journal != NULL && journal->log.file.fd >= 0)
        (void)tamis__log_remove(&journal->logs, &journal->log);
}

void tamis__journal_free(struct tamis_filter *filter)
{
    free_journal(filter->journal != NULL ? filter->journal : filter->inherited_journal);
    filter->journal = filter->inherited_journal = NULL;
}
