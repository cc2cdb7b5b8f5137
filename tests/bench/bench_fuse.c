/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_fuse.c: what a binary fuse filter costs to make from 64-bit hashes in memory, and to ask.
 *
 *     bench_fuse [KEYS [RUNS [BITS]]]     default 10,000,000, 3, and fingerprints of 8 bits; needs
 *                                         some 40 bytes a key
 *
 * Made in four ways, the least seconds of each over the runs: by the clock, and of processors,
 * which is the fairer measure where others use the machine meanwhile:
 *
 *     whole      one core, one piece, from hashes in no order.  It stands in for the public C
 *                implementations, whose code is not here: as in them the set is one piece, the
 *                hashes are brought into the order of their first segments by a counting sort, and
 *                segments have up to 2^18 slots.  Written for this comparison, and without a flaw
 *                that we know.
 *     one piece  tamis__piece_build() on one core, the whole set as one piece, from sorted hashes
 *     pieces     tamis__piece_build() on one core, piece after piece, from sorted hashes
 *     all cores  the same on all processors
 *
 * What sorting costs is bench_build's to tell.  Asked: keys that are in and keys that are not, half
 * and half, one by one and in batches, against reads of a random line of the same fingerprints.
 */
#include <err.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "build/piece.h"
#include "kind/fuse.h"
#include "kind/kind.h"

#define QUERIES 8388608u /* a multiple of BATCH */
#define BATCH 1024u

struct bench {
    uint64_t keys;
    uint32_t bits;    /* of a fingerprint */
    uint64_t *mixed;  /* hashes in no order */
    uint64_t *sorted; /* the same */
    uint64_t *starts; /* of each piece in `sorted`, and the end */
    struct tamis__fuse_shape shape;
    struct tamis__segment segment;
    unsigned char *fingerprints;
    uint32_t next; /* atomic: the piece that is built next */
};

static void *allocate(uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) err(1, "%" PRIu64 " bytes", bytes);
    return memory;
}

/* By the clock, and of all processors together. */
struct seconds {
    double clock, cpu;
};

static struct seconds now(void)
{
    return (struct seconds){bench_clock(CLOCK_MONOTONIC), bench_clock(CLOCK_PROCESS_CPUTIME_ID)};
}

static struct seconds since(struct seconds start)
{
    const struct seconds end = now();
    return (struct seconds){end.clock - start.clock, end.cpu - start.cpu};
}

static void keep_least(struct seconds *least, struct seconds found)
{
    if (least->cpu == 0 || found.cpu < least->cpu) least->cpu = found.cpu;
    if (least->clock == 0 || found.clock < least->clock) least->clock = found.clock;
}

/* splitmix64: a bijection, so that hashes of different numbers differ. */
static uint64_t hash_of(uint64_t number)
{
    uint64_t z = (number + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* ---- The stand-in ---------------------------------------------------------------------------- */

struct whole {
    struct tamis__fuse_geometry geometry;
    uint64_t slots, seed, keys;
    uint64_t *ordered, *mixture;
    uint32_t *own;
    uint8_t *load;
    uint32_t *queue;
    uint8_t *fingerprints;
};

static void whole_order(struct whole *w, const uint64_t *hashes)
{
    const uint64_t segments = w->geometry.first_slots / w->geometry.segment_slots;
    uint64_t *starts = calloc(segments + 1, sizeof *starts);
    if (starts == NULL) err(1, "calloc");
    for (uint64_t i = 0; i < w->keys; i++)
        starts[tamis__scale(hashes[i], segments) + 1]++;
    for (uint64_t i = 0; i < segments; i++)
        starts[i + 1] += starts[i];
    for (uint64_t i = 0; i < w->keys; i++)
        w->ordered[starts[tamis__scale(hashes[i], segments)]++] = hashes[i];
    free(starts);
}

static void whole_take(struct whole *w, uint64_t slot, uint64_t hash, uint64_t *end)
{
    w->mixture[slot] ^= hash;
    if (--w->load[slot] == 1) w->queue[(*end)++] = (uint32_t)slot;
}

static bool whole_peel(struct whole *w)
{
    uint64_t end = 0, done = 0;
    for (uint64_t i = 0; i < w->slots; i++)
        if (w->load[i] == 1) w->queue[end++] = (uint32_t)i;
    while (end > 0) {
        const uint64_t slot = w->queue[--end];
        if (w->load[slot] != 1) continue;
        const uint64_t hash = w->mixture[slot];
        const struct tamis__fuse_place place = tamis__fuse_place(&w->geometry, hash, w->seed);
        w->own[done] = (uint32_t)slot;
        w->ordered[done++] = hash;
        for (unsigned j = 0; j < TAMIS__FUSE_ARITY; j++)
            whole_take(w, place.slots[j], hash, &end);
    }
    return done == w->keys;
}

static bool whole_try(struct whole *w, const uint64_t *hashes)
{
    whole_order(w, hashes);
    memset(w->mixture, 0, w->slots * sizeof *w->mixture);
    memset(w->load, 0, w->slots);
    for (uint64_t i = 0; i < w->keys; i++) {
        const struct tamis__fuse_place place =
            tamis__fuse_place(&w->geometry, w->ordered[i], w->seed);
        for (unsigned j = 0; j < TAMIS__FUSE_ARITY; j++) {
            w->mixture[place.slots[j]] ^= w->ordered[i];
            w->load[place.slots[j]]++;
        }
    }
    if (!whole_peel(w)) return false;
    memset(w->fingerprints, 0, w->slots);
    for (uint64_t i = w->keys; i-- > 0;) {
        const struct tamis__fuse_place place =
            tamis__fuse_place(&w->geometry, w->ordered[i], w->seed);
        w->fingerprints[w->own[i]] =
            (uint8_t)(place.fingerprint ^ w->fingerprints[place.slots[0]] ^
                      w->fingerprints[place.slots[1]] ^ w->fingerprints[place.slots[2]]);
    }
    return true;
}

/* L = 2^floor(ln n / ln 3.33 + 2.25), at most 2^18, and 1.125 slots a key for many keys, as in the
 * paper. */
static struct seconds build_whole(const uint64_t *hashes, uint64_t keys)
{
    const double log2_slots = floor(log((double)keys) / log(3.33) + 2.25);
    const uint64_t segment_slots = (uint64_t)exp2(fmin(18, log2_slots));
    const double factor = fmax(1.125, 0.875 + 0.25 * log(1e6) / log((double)keys));
    const uint64_t segments = (uint64_t)ceil(factor * (double)keys / (double)segment_slots) - 2;
    struct whole w = {.geometry = {1, segments * segment_slots, segment_slots},
                      .slots = (segments + 2) * segment_slots,
                      .keys = keys};
    const struct seconds start = now();
    w.ordered = allocate(keys * 8);
    w.mixture = allocate(w.slots * 8);
    w.own = allocate(keys * 4);
    w.queue = allocate(w.slots * 4);
    w.load = allocate(w.slots);
    w.fingerprints = allocate(w.slots);
    w.seed = hash_of(keys);
    while (!whole_try(&w, hashes))
        w.seed = hash_of(w.seed);
    const struct seconds seconds = since(start);
    for (uint64_t i = 0; i < keys; i += 1001) {
        const struct tamis__fuse_place place = tamis__fuse_place(&w.geometry, hashes[i], w.seed);
        if ((uint8_t)(place.fingerprint ^ w.fingerprints[place.slots[0]] ^
                      w.fingerprints[place.slots[1]] ^ w.fingerprints[place.slots[2]]))
            errx(1, "the stand-in lost a key");
    }
    (void)munmap(w.ordered, keys * 8), (void)munmap(w.mixture, w.slots * 8);
    (void)munmap(w.own, keys * 4), (void)munmap(w.queue, w.slots * 4);
    (void)munmap(w.load, w.slots), (void)munmap(w.fingerprints, w.slots);
    return seconds;
}

/* ---- Ours ------------------------------------------------------------------------------------ */

static void *build_pieces(void *context)
{
    struct bench *b = context;
    const uint64_t piece_bytes = tamis__fuse_piece_slots(&b->shape) * b->shape.fingerprint_bits / 8;
    uint64_t fullest = 0;
    for (uint32_t i = 0; i < b->shape.pieces; i++)
        if (b->starts[i + 1] - b->starts[i] > fullest) fullest = b->starts[i + 1] - b->starts[i];
    const uint64_t room = tamis__piece_workspace_bytes(&b->shape, fullest);
    void *workspace = allocate(room);
    unsigned char *made = allocate(piece_bytes + TAMIS__FUSE_END_BYTES);
    for (;;) {
        const uint32_t piece = __atomic_fetch_add(&b->next, 1, __ATOMIC_RELAXED);
        if (piece >= b->shape.pieces) break;
        if (tamis__piece_build(&b->shape, b->sorted + b->starts[piece],
                               b->starts[piece + 1] - b->starts[piece], workspace, made,
                               &b->segment.data[piece]) < 0)
            errx(1, "%s", tamis_last_error());
        memcpy(b->fingerprints + piece * piece_bytes, made, piece_bytes);
    }
    (void)munmap(workspace, room);
    (void)munmap(made, piece_bytes + TAMIS__FUSE_END_BYTES);
    return NULL;
}

static struct seconds build_ours(struct bench *b, unsigned threads)
{
    pthread_t others[256];
    b->next = 0;
    const struct seconds start = now();
    for (unsigned i = 1; i < threads; i++)
        if (pthread_create(&others[i], NULL, build_pieces, b) != 0) errx(1, "pthread_create");
    (void)build_pieces(b);
    for (unsigned i = 1; i < threads; i++)
        (void)pthread_join(others[i], NULL);
    return since(start);
}

static void find_pieces(struct bench *b, uint32_t pieces)
{
    uint64_t at = 0, fullest = 0;
    b->starts = realloc(b->starts, (pieces + 1) * sizeof *b->starts);
    if (b->starts == NULL) err(1, "realloc");
    for (uint32_t piece = 0; piece < pieces; piece++) {
        b->starts[piece] = at;
        while (at < b->keys && tamis__fuse_piece(b->sorted[at], pieces) == piece)
            at++;
        if (at - b->starts[piece] > fullest) fullest = at - b->starts[piece];
    }
    b->starts[pieces] = at;
    tamis__fuse_shape(fullest, b->bits, pieces, &b->shape);
}

/* A segment for that shape, of pages that are there. */
static void make_segment(struct bench *b)
{
    struct tamis__layout layout;
    tamis__static_layout(tamis__fuse_data_bits(&b->shape), &layout);
    unsigned char *memory = allocate(layout.file_bytes);
    memset(memory, 1, layout.file_bytes);
    b->segment = (struct tamis__segment){.header = (void *)memory,
                                         .data = (void *)(memory + layout.data_offset),
                                         .map_bytes = layout.file_bytes};
    *b->segment.header = (struct tamis__segment_header){.hash_set = TAMIS__HASH_XXH3,
                                                        .kind = TAMIS_KIND_FUSE,
                                                        .fingerprint_bits = b->bits,
                                                        .pieces = b->shape.pieces,
                                                        .piece_segments = b->shape.piece_segments,
                                                        .segment_slots = b->shape.segment_slots};
    b->fingerprints = (unsigned char *)b->segment.data + tamis__fuse_seeds_bytes(b->shape.pieces);
}

/* Least significant byte first, two at a time. */
static void sort(struct bench *b)
{
    uint64_t *from = b->sorted, *to = allocate(b->keys * 8), *spare = to;
    memcpy(from, b->mixed, b->keys * 8);
    for (unsigned shift = 0; shift < 64; shift += 16) {
        uint64_t *counts = calloc(65537, sizeof *counts);
        if (counts == NULL) err(1, "calloc");
        for (uint64_t i = 0; i < b->keys; i++)
            counts[(from[i] >> shift & 0xffff) + 1]++;
        for (unsigned i = 0; i < 65536; i++)
            counts[i + 1] += counts[i];
        for (uint64_t i = 0; i < b->keys; i++)
            to[counts[from[i] >> shift & 0xffff]++] = from[i];
        free(counts);
        uint64_t *other = from;
        from = to;
        to = other;
    }
    (void)munmap(spare, b->keys * 8); /* after four passes all is back in b->sorted */
}

static void print_build(const char *name, struct seconds took, uint64_t keys, struct seconds whole)
{
    printf("%-10s %8.3f s  %5.2f of whole   %8.3f s of cpu, %6.1f ns/key, %5.2f of whole\n", name,
           took.clock, took.clock / whole.clock, took.cpu, took.cpu / (double)keys * 1e9,
           took.cpu / whole.cpu);
}

static void bench_builds(struct bench *b, unsigned runs)
{
    const unsigned cores = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t pieces = tamis__fuse_pieces(b->keys);
    struct seconds whole = {0, 0}, one = {0, 0}, one_core = {0, 0}, all = {0, 0};
    for (unsigned run = 0; run < runs; run++) {
        keep_least(&whole, build_whole(b->mixed, b->keys));
        find_pieces(b, 1);
        make_segment(b);
        keep_least(&one, build_ours(b, 1));
        (void)munmap(b->segment.header, b->segment.map_bytes);
        find_pieces(b, pieces);
        make_segment(b);
        keep_least(&one_core, build_ours(b, 1));
        keep_least(&all, build_ours(b, cores < 256 ? cores : 256));
        if (run + 1 < runs) (void)munmap(b->segment.header, b->segment.map_bytes);
    }
    print_build("whole", whole, b->keys, whole);
    print_build("one piece", one, b->keys, whole);
    print_build("pieces", one_core, b->keys, whole);
    print_build("all cores", all, b->keys, whole);
    printf("%u pieces, %u cores, %.4f bits/key\n\n", pieces, cores,
           (double)tamis__fuse_data_bits(&b->shape) / (double)b->keys);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

struct questions {
    uint64_t *numbers; /* keys, 8 bytes each */
    struct tamis_key *keys;
    uint64_t *digests;
    uint8_t *answers;
};

static struct seconds ask_digests(const struct bench *b, const struct questions *q, bool batched)
{
    size_t ones = 0;
    const struct seconds start = now();
    for (uint32_t i = 0; i < QUERIES; i += BATCH) {
        if (batched)
            ones += tamis__fuse_contains_digests(&b->segment, q->digests + i, BATCH, q->answers);
        for (uint32_t j = i; !batched && j < i + BATCH; j++)
            ones += (size_t)tamis__fuse_contains_digest(&b->segment, q->digests[j]);
    }
    const struct seconds seconds = since(start);
    if (ones < QUERIES / 2) errx(1, "a key is absent");
    return seconds;
}

static struct seconds ask_keys(const struct bench *b, const struct questions *q, bool batched)
{
    size_t ones = 0;
    const struct seconds start = now();
    for (uint32_t i = 0; i < QUERIES; i += BATCH) {
        if (batched)
            ones += tamis__kind_fuse.contains_batch(&b->segment, q->keys + i, BATCH, q->answers);
        for (uint32_t j = i; !batched && j < i + BATCH; j++)
            ones +=
                (size_t)tamis__kind_fuse.contains(&b->segment, q->keys[j].data, q->keys[j].bytes);
    }
    const struct seconds seconds = since(start);
    if (ones == QUERIES + 1) errx(1, "impossible"); /* so that the calls are made */
    return seconds;
}

/* One random line each, each read waiting for the one before it, or not. */
static struct seconds read_lines(const struct bench *b, const struct questions *q, bool waiting)
{
    const uint64_t bytes = tamis__fuse_m_bits(&b->shape) / 8;
    uint64_t sum = 0;
    const struct seconds start = now();
    for (uint32_t i = 0; i < QUERIES; i++)
        sum += b->fingerprints[tamis__scale(q->digests[i] + (waiting ? sum << 40 : 0), bytes)];
    const struct seconds seconds = since(start);
    if (sum == 1) printf(" "); /* so that the reads are made */
    return seconds;
}

static void bench_queries(const struct bench *b, unsigned runs)
{
    static const char *const names[] = {
        "a random line, after another", "a random line",      "one digest",
        "digests in batches",           "one key of 8 bytes", "keys in batches"};
    struct seconds seconds[6] = {{0, 0}};
    struct questions q = {.numbers = allocate(QUERIES * 8),
                          .keys = allocate(QUERIES * sizeof(struct tamis_key)),
                          .digests = allocate(QUERIES * 8),
                          .answers = allocate(BATCH)};
    for (uint32_t i = 0; i < QUERIES; i++) {
        q.numbers[i] = i;
        q.keys[i] = (struct tamis_key){&q.numbers[i], 8};
        q.digests[i] = hash_of(i % 2 ? b->keys + i : hash_of(i) % b->keys);
    }
    for (unsigned run = 0; run < runs; run++) {
        for (unsigned i = 0; i < 2; i++) {
            keep_least(&seconds[i], read_lines(b, &q, i == 0));
            keep_least(&seconds[2 + i], ask_digests(b, &q, i == 1));
            keep_least(&seconds[4 + i], ask_keys(b, &q, i == 1));
        }
    }
    printf("fingerprints of %.1f MiB; ns of cpu\n",
           (double)tamis__fuse_m_bits(&b->shape) / 8 / 1048576);
    for (unsigned i = 0; i < 6; i++)
        printf("%-30s %6.1f ns\n", names[i], seconds[i].cpu / QUERIES * 1e9);
}

int main(int argc, char **argv)
{
    struct bench b = {.keys = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000,
                      .bits = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 8};
    const unsigned runs = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 3;
    if (b.keys < 1000 || b.keys > 2000000000 || runs == 0 || b.bits < 8 || b.bits > 32)
        errx(2, "usage: bench_fuse [KEYS [RUNS [BITS]]], 1000 to 2000000000 keys, 8 to 32 bits");
    b.mixed = allocate(b.keys * 8);
    b.sorted = allocate(b.keys * 8);
    for (uint64_t i = 0; i < b.keys; i++)
        b.mixed[i] = hash_of(i);
    sort(&b);
    bench_builds(&b, runs);
    bench_queries(&b, runs);
    return 0;
}
