/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keyset.c: see keyset.h; runs.c has what concerns the file.
 *
 * Sorting in memory takes these steps:
 *
 *     digests  --count, scatter by the leading bits-->  other     slices of the first, in parallel
 *              each range, of about a cache's size, is sorted in place; duplicates are taken out;
 *              digests are summed up; ranges are moved together if there were duplicates; the two
 *              arrays change names
 *
 * So both arrays together are within the bound, and at the end one of them stays in memory.
 */
#include "build/keyset.h"

#include <assert.h>

#include "build/runs.h"
#include "os/io.h"
#include "tamis_build.h"

#define DIGEST_BYTES sizeof(uint64_t)
#define FIRST_ROOM ((size_t)1 << 12)
#define SLICE_DIGESTS ((size_t)1 << 20) /* some ms of work */
#define WORKER_SPARE_MAX                                                                           \
    ((size_t)1 << 17) /* 1 MiB; a range fills at most 3/4 of it, if digests are hashes */
#define LARGE_BYTES ((size_t)32 << 20) /* arrays of this size or more ask for large pages */

void tamis__keyset_init(struct tamis__keyset *keyset, const struct tamis__place *place,
                        struct tamis__crew *crew, uint64_t memory_bytes)
{
    if (memory_bytes < TAMIS__KEYSET_BYTES_MIN) memory_bytes = TAMIS__KEYSET_BYTES_MIN;
    *keyset = (struct tamis__keyset){.crew = crew};
    tamis__temporary_init(&keyset->files[0], place);
    tamis__temporary_init(&keyset->files[1], place);
    /* There are two arrays, and all threads together have half of one more. */
    keyset->most = (size_t)(memory_bytes * 2 / 5 / DIGEST_BYTES);
    keyset->worker_spare = keyset->most / 2 / crew->threads;
    if (keyset->worker_spare > WORKER_SPARE_MAX) keyset->worker_spare = WORKER_SPARE_MAX;
}

void tamis__keyset_clear(struct tamis__keyset *keyset)
{
    free(keyset->digests);
    free(keyset->other);
    for (size_t i = 0; i < keyset->run_count; i++)
        free(keyset->runs[i].marks);
    free(keyset->runs);
    tamis__temporary_clear(&keyset->files[0]);
    tamis__temporary_clear(&keyset->files[1]);
    *keyset = (struct tamis__keyset){.run_count = 0};
}

static int fail_keyset_memory(uint64_t bytes)
{
    char text[TAMIS__SIZE_BYTES];
    return tamis__fail(TAMIS_ENOMEM,
                       "out of memory: the build wants %s for the keys' digests; give it less to "
                       "use (--memory), or free some",
                       tamis__size_text(text, (double)bytes));
}

/* ---- Sorting in memory ----------------------------------------------------------------------- */

/* A sort under way.  Each task writes only the parts of its item. */
struct sorting {
    struct tamis__keyset *keyset;
    unsigned bits; /* leading bits that tell the ranges apart */
    size_t ranges, slices;
    uint64_t *places;  /* [slice][range]: counts, then the place of the next digest */
    uint64_t *starts;  /* [range], and the end */
    size_t *kept;      /* [range]: distinct digests */
    tamis__u128 *sums; /* [range]; NULL: not wanted */
    uint64_t **spares; /* [worker] */
};

static void count_done(const struct sorting *s, uint64_t digests)
{
    if (s->keyset->tells && s->keyset->run_count == 0) tamis__crew_done(s->keyset->crew, digests);
}

static size_t slice_of(const struct sorting *s, uint64_t item, const uint64_t **digests)
{
    const size_t begin = (size_t)item * SLICE_DIGESTS, left = s->keyset->count - begin;
    *digests = s->keyset->digests + begin;
    return left < SLICE_DIGESTS ? left : SLICE_DIGESTS;
}

static int count_slice(void *context, unsigned worker, uint64_t item)
{
    const struct sorting *s = context;
    const uint64_t *digests;
    const size_t count = slice_of(s, item, &digests);
    (void)worker;
    tamis__digests_count(digests, count, s->bits, s->places + item * s->ranges);
    return 0;
}

static int scatter_slice(void *context, unsigned worker, uint64_t item)
{
    const struct sorting *s = context;
    const uint64_t *digests;
    const size_t count = slice_of(s, item, &digests);
    (void)worker;
    tamis__digests_scatter(digests, count, s->bits, s->keyset->other, s->places + item * s->ranges);
    count_done(s, count / 2);
    return 0;
}

static int sort_range(void *context, unsigned worker, uint64_t item)
{
    const struct sorting *s = context;
    uint64_t *range = s->keyset->other + s->starts[item];
    const size_t count = (size_t)(s->starts[item + 1] - s->starts[item]);
    /* A range that is larger than hashes would make it is sorted by way of the first array. */
    uint64_t *spare =
        count <= s->keyset->worker_spare ? s->spares[worker] : s->keyset->digests + s->starts[item];
    tamis__digests_sort(range, spare, count, 64 - s->bits);
    s->kept[item] = tamis__digests_unique(range, range, count);
    if (s->sums != NULL) s->sums[item] = tamis__digests_sum(range, s->kept[item]);
    count_done(s, count - count / 2);
    return 0;
}

/* Turns counts into places: the ranges in order, and in each range the slices. */
static void place_all(struct sorting *s)
{
    uint64_t at = 0;
    for (size_t range = 0; range < s->ranges; range++) {
        s->starts[range] = at;
        for (size_t slice = 0; slice < s->slices; slice++) {
            uint64_t *place = &s->places[slice * s->ranges + range];
            const uint64_t count = *place;
            *place = at;
            at += count;
        }
    }
    s->starts[s->ranges] = at;
}

/* Closes the gaps that duplicates have left. */
static int gather_digests(const struct sorting *s)
{
    uint64_t *digests = s->keyset->other;
    size_t at = 0;
    int rc = 0;
    for (size_t range = 0; rc == 0 && range < s->ranges; range++) {
        if (at != s->starts[range]) {
            memmove(digests + at, digests + s->starts[range], s->kept[range] * DIGEST_BYTES);
            rc = tamis__crew_tell(s->keyset->crew);
        }
        at += s->kept[range];
    }
    s->keyset->count = at;
    return rc;
}

static int run_sorting(struct sorting *s)
{
    struct tamis__keyset *keyset = s->keyset;
    int rc = tamis__crew_run(keyset->crew, count_slice, s, s->slices);
    if (rc != 0) return rc;
    place_all(s);
    rc = tamis__crew_run(keyset->crew, scatter_slice, s, s->slices);
    if (rc == 0) rc = tamis__crew_run(keyset->crew, sort_range, s, s->ranges);
    if (rc == 0) rc = gather_digests(s);
    if (rc != 0) return rc;
    for (size_t range = 0; s->sums != NULL && range < s->ranges; range++)
        keyset->sum += s->sums[range];
    uint64_t *const sorted = keyset->other;
    const size_t room = keyset->other_room;
    keyset->other = keyset->digests;
    keyset->other_room = keyset->room;
    keyset->digests = sorted;
    keyset->room = room;
    return 0;
}

static uint64_t *get_digests(size_t count)
{
    uint64_t *digests = malloc(count * DIGEST_BYTES);
    if (digests != NULL && count * DIGEST_BYTES >= LARGE_BYTES)
        tamis__advise_large(digests, count * DIGEST_BYTES);
    return digests;
}

static bool get_spares(struct sorting *s)
{
    s->spares = calloc(s->keyset->crew->threads, sizeof *s->spares);
    bool got = s->spares != NULL;
    for (unsigned i = 0; got && i < s->keyset->crew->threads; i++) {
        s->spares[i] = malloc(s->keyset->worker_spare * DIGEST_BYTES);
        got = s->spares[i] != NULL;
    }
    return got;
}

static int prepare(struct sorting *s, bool want_sum)
{
    struct tamis__keyset *keyset = s->keyset;
    const size_t count = keyset->count;
    while (s->bits < TAMIS__RANGE_BITS_MAX && count >> s->bits > keyset->worker_spare / 4 * 3)
        s->bits++;
    s->ranges = (size_t)1 << s->bits;
    s->slices = (count + SLICE_DIGESTS - 1) / SLICE_DIGESTS;
    s->places = calloc(s->slices * s->ranges, sizeof *s->places);
    s->starts = calloc(s->ranges + 1, sizeof *s->starts);
    s->kept = calloc(s->ranges, sizeof *s->kept);
    s->sums = want_sum ? calloc(s->ranges, sizeof *s->sums) : NULL;
    if (keyset->other_room < count) {
        free(keyset->other);
        keyset->other = get_digests(count);
        keyset->other_room = keyset->other != NULL ? count : 0;
    }
    if (s->places == NULL || s->starts == NULL || s->kept == NULL ||
        (want_sum && s->sums == NULL) || keyset->other == NULL || !get_spares(s))
        return fail_keyset_memory(count * DIGEST_BYTES);
    return 0;
}

/* Sorts the digests in memory, and keeps each once. */
static int sort_memory(struct tamis__keyset *keyset, bool want_sum)
{
    struct sorting s = {.keyset = keyset};
    if (keyset->count == 0) return 0;
    int rc = prepare(&s, want_sum);
    if (rc == 0) rc = run_sorting(&s);
    for (unsigned i = 0; s.spares != NULL && i < keyset->crew->threads; i++)
        free(s.spares[i]);
    free(s.spares);
    free(s.sums);
    free(s.kept);
    free(s.starts);
    free(s.places);
    return rc;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

static int grow_keyset(struct tamis__keyset *keyset)
{
    size_t room = keyset->room < FIRST_ROOM ? FIRST_ROOM : 2 * keyset->room;
    if (room > keyset->most) room = keyset->most;
    uint64_t *digests = realloc(keyset->digests, room * DIGEST_BYTES);
    if (digests == NULL) return fail_keyset_memory(room * DIGEST_BYTES);
    if (room * DIGEST_BYTES >= LARGE_BYTES) tamis__advise_large(digests, room * DIGEST_BYTES);
    keyset->digests = digests;
    keyset->room = room;
    return 0;
}

/* Called when memory is full.  If half of it is duplicates, it is enough to take them out. */
static int spill(struct tamis__keyset *keyset)
{
    int rc = sort_memory(keyset, false);
    if (rc != 0 || keyset->count <= keyset->most / 2) return rc;
    rc = tamis__runs_write(keyset);
    if (rc == 0) keyset->count = 0;
    return rc;
}

int tamis__keyset_add(struct tamis__keyset *keyset, const uint64_t *digests, size_t count)
{
    for (size_t done = 0; done < count;) {
        int rc = 0;
        if (keyset->count == keyset->room)
            rc = keyset->room < keyset->most ? grow_keyset(keyset) : spill(keyset);
        if (rc != 0) return rc;
        size_t now = keyset->room - keyset->count;
        if (now > count - done) now = count - done;
        memcpy(keyset->digests + keyset->count, digests + done, now * DIGEST_BYTES);
        keyset->count += now;
        keyset->added += now;
        done += now;
    }
    return 0;
}

/* Gives memory back before something else is made that needs some. */
static void free_digests(uint64_t **digests, size_t *room)
{
    free(*digests);
    *digests = NULL;
    *room = 0;
}

int tamis__keyset_sort(struct tamis__keyset *keyset)
{
    const uint64_t written = tamis__keyset_file(keyset)->bytes / DIGEST_BYTES;
    const int rc = tamis__crew_phase(keyset->crew, TAMIS_BUILD_SORTING, written + keyset->count);
    keyset->tells = true;
    return rc != 0 ? rc : tamis__keyset_sort_silently(keyset);
}

int tamis__keyset_sort_silently(struct tamis__keyset *keyset)
{
    const bool spilled = keyset->run_count > 0;
    int rc = sort_memory(keyset, !spilled);
    free_digests(&keyset->other, &keyset->other_room);
    if (rc != 0) return rc;
    keyset->distinct = keyset->count;
    if (!spilled) return 0;
    if (keyset->count > 0) rc = tamis__runs_write(keyset);
    keyset->count = 0;
    free_digests(&keyset->digests, &keyset->room);
    return rc != 0 ? rc : tamis__runs_merge(keyset);
}

/* ---- Reading --------------------------------------------------------------------------------- */

int tamis__keyset_rank(const struct tamis__keyset *keyset, uint64_t digest, uint64_t *rank)
{
    bool is_there;
    if (tamis__keyset_is_on_disk(keyset))
        return tamis__run_find(keyset, &keyset->runs[0], digest, rank, &is_there);
    *rank = tamis__digests_find(keyset->digests, keyset->count, digest);
    return 0;
}

int tamis__keyset_has(const struct tamis__keyset *keyset, uint64_t digest)
{
    uint64_t rank = 0;
    bool is_there = false;
    if (tamis__keyset_is_on_disk(keyset)) {
        const int rc = tamis__run_find(keyset, &keyset->runs[0], digest, &rank, &is_there);
        return rc < 0 ? rc : is_there;
    }
    rank = tamis__digests_find(keyset->digests, keyset->count, digest);
    return rank < keyset->count && keyset->digests[rank] == digest;
}

int tamis__keyset_read(const struct tamis__keyset *keyset, uint64_t first, size_t count,
                       uint64_t *buffer, const uint64_t **digests)
{
    assert(first <= keyset->distinct && count <= keyset->distinct - first);
    if (!tamis__keyset_is_on_disk(keyset)) {
        *digests = keyset->digests + first;
        return 0;
    }
    *digests = buffer;
    return tamis__temporary_read(tamis__keyset_file(keyset), first * DIGEST_BYTES, buffer,
                                 count * DIGEST_BYTES);
}
