/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make_fuse.c: makes a segment of kind fuse from the keyset, piece by piece, on all threads.
 *
 * A piece is a range of sorted digests.  Each thread makes its pieces in memory of some tens of
 * MiB, and writes each into the staged file with one write.  So the kernel begins early to write to
 * the disk, and little is left for the sync at the end.
 */
#include "build/budget.h"
#include "build/build.h"
#include "build/piece.h"
#include "os/io.h"

/* Data of this size or more begin on a boundary of 2 MiB (docs/format.md), so that folios of 2 MiB
 * can be mapped. */
#define LARGE_BYTES ((uint64_t)32 << 20)

int tamis__build_plan_fuse(struct tamis_build *build)
{
    struct tamis_filter_spec *spec = &build->filter;
    if (!build->plan.hash_set->any_kind)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "kind fuse goes with hash set xxh3 or sip only; leave the set out, or "
                           "build a filter of kind bloom");
    if (spec->m_bits != 0 || spec->k != 0 || spec->counter_bits != 0 || spec->on_full != 0)
        return tamis__fail(TAMIS_EINVAL,
                           "a filter of kind fuse has neither m nor k nor counters, and is never "
                           "full; give its rate alone, or build another kind");
    if (spec->fp_rate == 0) spec->fp_rate = TAMIS_FP_RATE_DEFAULT;
    if (!tamis__rate_is_valid(spec->fp_rate))
        return tamis__fail(TAMIS_EINVAL,
                           "a rate of %g is out of range; give one from %g to below 1",
                           spec->fp_rate, TAMIS_FP_RATE_MIN);
    build->fingerprint_bits = tamis__fuse_fingerprint_bits(spec->fp_rate);
    if (build->fingerprint_bits != 0) return 0;
    return tamis__fail(TAMIS_EUNSUPPORTED,
                       "a rate of %g is less than kind fuse has, which is 2^-32; give a greater "
                       "rate, or build another kind",
                       spec->fp_rate);
}

/* ---- Shape ----------------------------------------------------------------------------------- */

/* The smallest digest of piece `piece`: the first d with scale(d, pieces) = piece. */
static uint64_t piece_begin(uint32_t piece, uint32_t pieces)
{
    return (uint64_t)((((tamis__u128)piece << 64) + pieces - 1) / pieces);
}

static int cut_pieces(struct tamis_build *build, uint32_t pieces, uint64_t *fullest)
{
    const struct tamis__keyset *keyset = &build->keyset;
    build->pieces = calloc((size_t)pieces + 1, sizeof *build->pieces);
    if (build->pieces == NULL)
        return tamis__fail(TAMIS_ENOMEM, "out of memory for %u piece%s", pieces,
                           tamis__plural(pieces));
    int rc = 0;
    build->pieces[pieces] = keyset->distinct;
    for (uint32_t i = 1; rc == 0 && i < pieces; i++)
        rc = tamis__keyset_rank(keyset, piece_begin(i, pieces), &build->pieces[i]);
    *fullest = 0;
    for (uint32_t i = 0; rc == 0 && i < pieces; i++) {
        const uint64_t keys = build->pieces[i + 1] - build->pieces[i];
        if (keys > *fullest) *fullest = keys;
    }
    return rc;
}

/* Makes the draft's header from the keys. */
static int draft(struct tamis_build *build, struct tamis__fuse_shape *shape, uint64_t *fullest)
{
    const uint64_t keys = build->keyset.distinct;
    if (keys > TAMIS__FUSE_KEYS_MAX)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "a filter of kind fuse cannot hold %llu keys; build several",
                           (unsigned long long)keys);
    const uint32_t pieces = tamis__fuse_pieces(keys);
    const int rc = cut_pieces(build, pieces, fullest);
    if (rc < 0) return rc;
    tamis__fuse_shape(*fullest, build->fingerprint_bits, pieces, shape);
    struct tamis__listed_segment segment = {.hash_set = build->plan.hash_set->id,
                                            .seed = build->filter.seed,
                                            .capacity = keys > 0 ? keys : 1,
                                            .fp_rate = build->filter.fp_rate,
                                            .items = keys};
    memcpy(segment.parameters, build->plan.parameters, sizeof segment.parameters);
    tamis__draft_init_fuse(build->store, build->name, &segment, shape, &build->draft);
    return 0;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* The working memory of a thread. */
struct bench {
    uint64_t *digests; /* NULL: they are read in place */
    void *workspace, *fingerprints;
};

struct making {
    struct tamis_build *build;
    struct tamis__fuse_shape shape;
    uint64_t piece_bytes;
    struct bench *benches;
    unsigned bench_count;
    uint64_t *seeds;
};

static int make_piece(void *context, unsigned worker, uint64_t piece)
{
    const struct making *m = context;
    struct tamis_build *build = m->build;
    const struct bench *bench = &m->benches[worker];
    const uint64_t first = build->pieces[piece], count = build->pieces[piece + 1] - first;
    const uint64_t offset = build->draft.header.data_offset +
                            tamis__fuse_seeds_bytes(m->shape.pieces) + piece * m->piece_bytes;
    const uint64_t *digests;
    int rc = tamis__keyset_read(&build->keyset, first, (size_t)count, bench->digests, &digests);
    if (rc == 0)
        rc = tamis__piece_build(&m->shape, digests, count, bench->workspace, bench->fingerprints,
                                &m->seeds[piece]);
    if (rc == 0 && build->draft.header.data_bytes >= LARGE_BYTES)
        tamis__segment_large_folios(&build->draft.staged, offset, m->piece_bytes);
    if (rc == 0)
        rc = tamis__segment_fill(&build->store->place, &build->draft.staged, offset,
                                 bench->fingerprints, (size_t)m->piece_bytes);
    if (rc < 0) return rc;
    tamis__start_writing(build->draft.staged.file.fd, offset, m->piece_bytes);
    tamis__crew_done(&build->crew, count);
    return 0;
}

static int furnish(struct making *m, uint64_t fullest)
{
    const bool reads = tamis__keyset_is_on_disk(&m->build->keyset);
    const size_t workspace = tamis__piece_workspace_bytes(&m->shape, fullest);
    const size_t digests = reads ? ((size_t)fullest + 1) * sizeof *m->benches->digests : 0;
    const size_t fingerprints = (size_t)m->piece_bytes + TAMIS__FUSE_END_BYTES;
    const unsigned threads = m->build->crew.threads;
    m->bench_count =
        tamis__budget_threads(threads < m->shape.pieces ? threads : (unsigned)m->shape.pieces,
                              workspace + digests + fingerprints);
    m->seeds = calloc(m->shape.pieces, sizeof *m->seeds);
    m->benches = calloc(m->bench_count, sizeof *m->benches);
    bool got = m->seeds != NULL && m->benches != NULL;
    for (unsigned i = 0; got && i < m->bench_count; i++) {
        struct bench *bench = &m->benches[i];
        if (reads) bench->digests = malloc(digests);
        bench->workspace = malloc(workspace);
        bench->fingerprints = malloc(fingerprints);
        got = bench->workspace != NULL && bench->fingerprints != NULL &&
              (!reads || bench->digests != NULL);
    }
    return got ? 0
               : tamis__fail(TAMIS_ENOMEM,
                             "out of memory for the pieces that are being made; use fewer threads");
}

static void clear_making(struct making *m)
{
    for (unsigned i = 0; m->benches != NULL && i < m->bench_count; i++) {
        free(m->benches[i].digests);
        free(m->benches[i].workspace);
        free(m->benches[i].fingerprints);
    }
    free(m->benches);
    free(m->seeds);
}

static int make_pieces(struct making *m, uint64_t fullest)
{
    struct tamis_build *build = m->build;
    const unsigned threads = build->crew.threads;
    int rc = furnish(m, fullest);
    build->crew.threads = m->bench_count; /* there may be memory for fewer */
    if (rc == 0) rc = tamis__crew_run(&build->crew, make_piece, m, m->shape.pieces);
    build->crew.threads = threads;
    if (rc == 0)
        rc = tamis__segment_fill(&build->store->place, &build->draft.staged,
                                 build->draft.header.data_offset, m->seeds,
                                 m->shape.pieces * sizeof *m->seeds);
    clear_making(m);
    return rc;
}

int tamis__build_make_fuse(struct tamis_build *build)
{
    struct making m = {.build = build};
    struct tamis_store *store = build->store;
    uint64_t fullest = 0;
    int rc = draft(build, &m.shape, &fullest);
    if (rc == 0) rc = tamis__crew_phase(&build->crew, TAMIS_BUILD_MAKING, build->keyset.distinct);
    if (rc == 0) rc = tamis__draft_stage(store, &build->draft);
    m.piece_bytes = tamis__fuse_piece_slots(&m.shape) * m.shape.fingerprint_bits / 8;
    if (rc == 0 && m.shape.pieces > 0) rc = make_pieces(&m, fullest);
    if (rc == 0)
        rc = tamis__segment_map_staged(&store->place, &build->draft.staged, &build->draft.header,
                                       &build->segment);
    return rc;
}
