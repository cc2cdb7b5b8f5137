/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runs.c: see runs.h.
 *
 * Merging works in parts.  The marks of all runs, sorted, cut the digests into parts that fit a
 * thread's share of the memory.  Each part is read from all runs and sorted anew, which is about as
 * fast as merging.  Parts are drawn in order.  A part gets its place in the new file when the part
 * before it has one: then it is known how many digests come before.
 */
#include "build/runs.h"

#include <pthread.h>

#define DIGEST_BYTES sizeof(uint64_t)
#define MARK_DIGESTS ((size_t)1024)
#define WRITE_DIGESTS ((size_t)1 << 18) /* 2 MiB a write */
#define PART_DIGESTS_MAX ((uint64_t)1 << 18)

#define MERGING "merging the keys' digests; free some"

static int fail_runs_memory(void)
{
    return tamis__fail(TAMIS_ENOMEM, "out of memory " MERGING);
}

static size_t marks_of(uint64_t count)
{
    return (size_t)((count + MARK_DIGESTS - 1) / MARK_DIGESTS);
}

/* ---- One run --------------------------------------------------------------------------------- */

static int write_all_runs(const struct tamis__keyset *keyset, uint64_t first)
{
    int rc = 0;
    for (size_t done = 0; rc == 0 && done < keyset->count;) {
        const size_t left = keyset->count - done;
        const size_t now = left < WRITE_DIGESTS ? left : WRITE_DIGESTS;
        rc = tamis__temporary_write(tamis__keyset_file(keyset), (first + done) * DIGEST_BYTES,
                                    keyset->digests + done, now * DIGEST_BYTES);
        if (rc == 0) rc = tamis__crew_tell(keyset->crew);
        done += now;
    }
    return rc;
}

int tamis__runs_write(struct tamis__keyset *keyset)
{
    struct tamis__run run = {.count = keyset->count};
    uint64_t offset = 0;
    run.marks = malloc(marks_of(run.count) * DIGEST_BYTES);
    if (run.marks == NULL) return fail_runs_memory();
    for (size_t i = 0; i < marks_of(run.count); i++)
        run.marks[i] = keyset->digests[i * MARK_DIGESTS];
    int rc =
        tamis__temporary_extend(&keyset->files[keyset->file], run.count * DIGEST_BYTES, &offset);
    run.first = offset / DIGEST_BYTES;
    if (rc == 0) rc = write_all_runs(keyset, run.first);
    struct tamis__run *added = NULL;
    if (rc == 0)
        added = tamis__array_add(&keyset->runs, &keyset->run_count, &keyset->run_room,
                                 sizeof *added, MERGING);
    if (added != NULL)
        *added = run;
    else
        free(run.marks);
    return rc != 0 || added != NULL ? rc : TAMIS_ENOMEM;
}

int tamis__run_find(const struct tamis__keyset *keyset, const struct tamis__run *run,
                    uint64_t digest, uint64_t *below, bool *is_there)
{
    uint64_t block[MARK_DIGESTS];
    const size_t marks = marks_of(run->count);
    const size_t next = tamis__digests_find(run->marks, marks, digest);
    *is_there = next < marks && run->marks[next] == digest;
    *below = next * MARK_DIGESTS;
    if (next == 0 || *is_there) return 0;
    const uint64_t begin = (next - 1) * MARK_DIGESTS, left = run->count - begin;
    const size_t count = left < MARK_DIGESTS ? (size_t)left : MARK_DIGESTS;
    const int rc =
        tamis__temporary_read(tamis__keyset_file(keyset), (run->first + begin) * DIGEST_BYTES,
                              block, count * DIGEST_BYTES);
    if (rc < 0) return rc;
    const size_t at = tamis__digests_find(block, count, digest);
    *below = begin + at;
    *is_there = at < count && block[at] == digest;
    return 0;
}

/* ---- All runs -------------------------------------------------------------------------------- */

/* The memory that each worker has for itself. */
struct share {
    uint64_t *digests, *spare;
    size_t room;
    uint64_t *begins; /* where the part begins in each run */
    size_t *counts;
};

struct merging {
    struct tamis__keyset *keyset;
    struct tamis__temporary *to;
    uint64_t *lows; /* where the parts begin */
    size_t parts;
    struct share *shares; /* of the workers */
    uint64_t *marks;      /* of the new run; the part that has a mark sets it */
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    uint64_t turn; /* guarded by it from here on: the next part to get its place */
    bool failed;
    uint64_t distinct;
    tamis__u128 sum;
};

/* Cuts into parts of at most `size` digests, plus 1024 for each run, which the marks do not
 * resolve. */
static int cut(struct merging *m, uint64_t size)
{
    const struct tamis__keyset *keyset = m->keyset;
    size_t all = 0, at = 0;
    for (size_t i = 0; i < keyset->run_count; i++)
        all += marks_of(keyset->runs[i].count);
    uint64_t *marks = malloc(all * DIGEST_BYTES), *spare = malloc(all * DIGEST_BYTES);
    m->lows = malloc((all + 1) * DIGEST_BYTES);
    const bool got = marks != NULL && spare != NULL && m->lows != NULL;
    if (got) {
        for (size_t i = 0; i < keyset->run_count; i++) {
            const struct tamis__run *run = &keyset->runs[i];
            memcpy(marks + at, run->marks, marks_of(run->count) * DIGEST_BYTES);
            at += marks_of(run->count);
        }
        tamis__digests_sort(marks, spare, all, 64);
        const size_t step = size > MARK_DIGESTS ? (size_t)(size / MARK_DIGESTS) : 1;
        m->lows[m->parts++] = 0;
        for (size_t i = step; i < all; i += step)
            if (marks[i] != m->lows[m->parts - 1]) m->lows[m->parts++] = marks[i];
    }
    free(marks);
    free(spare);
    return got ? 0 : fail_runs_memory();
}

static int room_for_part(struct share *share, size_t count)
{
    if (count <= share->room) return 0;
    free(share->digests);
    free(share->spare);
    share->digests = malloc(count * DIGEST_BYTES);
    share->spare = malloc(count * DIGEST_BYTES);
    share->room = share->digests != NULL && share->spare != NULL ? count : 0;
    return share->room > 0 ? 0 : fail_runs_memory();
}

/* Finds where the part lies in each run. *count is its number of digests in all runs. */
static int find_part(const struct merging *m, struct share *share, uint64_t part, size_t *count)
{
    const struct tamis__keyset *keyset = m->keyset;
    *count = 0;
    for (size_t i = 0; i < keyset->run_count; i++) {
        const struct tamis__run *run = &keyset->runs[i];
        uint64_t end = run->count;
        bool is_there;
        int rc = tamis__run_find(keyset, run, m->lows[part], &share->begins[i], &is_there);
        if (rc == 0 && part + 1 < m->parts)
            rc = tamis__run_find(keyset, run, m->lows[part + 1], &end, &is_there);
        if (rc < 0) return rc;
        share->counts[i] = (size_t)(end - share->begins[i]);
        *count += share->counts[i];
    }
    return 0;
}

/* Reads the part from all runs, one behind the other. */
static int read_part(const struct merging *m, struct share *share, uint64_t part, size_t *count)
{
    const struct tamis__keyset *keyset = m->keyset;
    size_t at = 0;
    int rc = find_part(m, share, part, count);
    if (rc == 0) rc = room_for_part(share, *count);
    for (size_t i = 0; rc == 0 && i < keyset->run_count; i++) {
        if (share->counts[i] == 0) continue;
        rc = tamis__temporary_read(tamis__keyset_file(keyset),
                                   (keyset->runs[i].first + share->begins[i]) * DIGEST_BYTES,
                                   share->digests + at, share->counts[i] * DIGEST_BYTES);
        at += share->counts[i];
    }
    return rc;
}

/* Waits until the parts before this one have their places; then takes ours. */
static int take_place(struct merging *m, uint64_t part, size_t count, tamis__u128 sum,
                      uint64_t *place)
{
    (void)pthread_mutex_lock(&m->mutex);
    while (m->turn != part && !m->failed)
        (void)pthread_cond_wait(&m->moved, &m->mutex);
    *place = m->distinct;
    m->distinct += count;
    m->sum += sum;
    m->turn = part + 1;
    const bool failed = m->failed;
    (void)pthread_cond_broadcast(&m->moved);
    (void)pthread_mutex_unlock(&m->mutex);
    return failed ? tamis__fail(TAMIS_EIO, "another thread of the build has failed") : 0;
}

static void give_up_runs(struct merging *m)
{
    (void)pthread_mutex_lock(&m->mutex);
    m->failed = true;
    (void)pthread_cond_broadcast(&m->moved);
    (void)pthread_mutex_unlock(&m->mutex);
}

static int merge_part(void *context, unsigned worker, uint64_t part)
{
    struct merging *m = context;
    struct share *share = &m->shares[worker];
    const uint64_t low = m->lows[part];
    const uint64_t high = part + 1 < m->parts ? m->lows[part + 1] - 1 : UINT64_MAX;
    uint64_t place = 0;
    size_t count = 0, kept = 0;
    int rc = read_part(m, share, part, &count);
    if (rc == 0) {
        tamis__digests_sort(share->digests, share->spare, count, tamis__digests_bits(low, high));
        kept = tamis__digests_unique(share->digests, share->digests, count);
        rc = take_place(m, part, kept, tamis__digests_sum(share->digests, kept), &place);
    }
    if (rc == 0)
        rc = tamis__temporary_write(m->to, place * DIGEST_BYTES, share->digests,
                                    kept * DIGEST_BYTES);
    for (size_t i = (MARK_DIGESTS - place % MARK_DIGESTS) % MARK_DIGESTS; rc == 0 && i < kept;
         i += MARK_DIGESTS)
        m->marks[(place + i) / MARK_DIGESTS] = share->digests[i];
    if (rc < 0) give_up_runs(m);
    if (m->keyset->tells) tamis__crew_done(m->keyset->crew, count);
    return rc;
}

static int prepare_runs(struct merging *m)
{
    struct tamis__keyset *keyset = m->keyset;
    const unsigned threads = keyset->crew->threads;
    const uint64_t all = tamis__keyset_file(keyset)->bytes / DIGEST_BYTES;
    uint64_t offset, size = keyset->most / 2 / threads;
    if (size > PART_DIGESTS_MAX) size = PART_DIGESTS_MAX;
    m->marks = malloc(marks_of(all) * DIGEST_BYTES);
    m->shares = calloc(threads, sizeof *m->shares);
    bool got = m->marks != NULL && m->shares != NULL;
    for (unsigned i = 0; got && i < threads; i++) {
        struct share *share = &m->shares[i];
        share->begins = calloc(keyset->run_count, sizeof *share->begins);
        share->counts = calloc(keyset->run_count, sizeof *share->counts);
        got = share->begins != NULL && share->counts != NULL;
    }
    const int rc = got ? cut(m, size) : fail_runs_memory();
    return rc < 0 ? rc : tamis__temporary_extend(m->to, all * DIGEST_BYTES, &offset);
}

static void clear_merging(struct merging *m)
{
    for (unsigned i = 0; m->shares != NULL && i < m->keyset->crew->threads; i++) {
        free(m->shares[i].digests);
        free(m->shares[i].spare);
        free(m->shares[i].begins);
        free(m->shares[i].counts);
    }
    free(m->shares);
    free(m->lows);
    free(m->marks);
    (void)pthread_cond_destroy(&m->moved);
    (void)pthread_mutex_destroy(&m->mutex);
}

/* Puts the merged run in the place of the runs. */
static void exchange(struct merging *m)
{
    struct tamis__keyset *keyset = m->keyset;
    for (size_t i = 0; i < keyset->run_count; i++)
        free(keyset->runs[i].marks);
    keyset->runs[0] = (struct tamis__run){.count = m->distinct, .marks = m->marks};
    keyset->run_count = 1;
    m->marks = NULL;
    tamis__temporary_clear(&keyset->files[keyset->file]);
    keyset->file ^= 1;
    keyset->distinct = m->distinct;
    keyset->sum = m->sum;
}

int tamis__runs_merge(struct tamis__keyset *keyset)
{
    struct merging m = {.keyset = keyset, .to = &keyset->files[keyset->file ^ 1]};
    (void)pthread_mutex_init(&m.mutex, NULL);
    (void)pthread_cond_init(&m.moved, NULL);
    int rc = prepare_runs(&m);
    if (rc == 0) rc = tamis__crew_run(keyset->crew, merge_part, &m, m.parts);
    if (rc == 0) exchange(&m);
    clear_merging(&m);
    return rc;
}
