/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify.c: before it is published, the new segment is asked as its users will ask it: in a mapping
 * of its file.
 *
 * Every key must answer yes.  Keys that are made up and were not added may answer yes at the rate
 * that the segment was made for.  Their number is binomial, and a segment is refused if it is far
 * out in the tail.
 */
#include <math.h>

#include "build/build.h"
#include "kind/fuse.h"

#define CHUNK_DIGESTS ((size_t)1 << 15) /* asked for at once: 256 KiB, well under a ms */
#define SAMPLE_CHUNK 1024u
/* One of 10^12 sound segments is refused. */
#define REFUSED_LOG 27.63

static int fail_verify(const struct tamis_build *build, const char *what)
{
    return tamis__fail(TAMIS_ECORRUPT,
                       "the new generation of '%s' was made, but %s; nothing was published: test "
                       "the machine's memory and disk, then build again",
                       build->name, what);
}

/* ---- The keys -------------------------------------------------------------------------------- */

struct asking {
    struct tamis_build *build;
    struct share {
        uint64_t *digests;
        uint8_t *answers;
    } * shares; /* of the workers */
};

static int ask_digests(void *context, unsigned worker, uint64_t item)
{
    const struct asking *a = context;
    struct tamis_build *build = a->build;
    const struct share *share = &a->shares[worker];
    const uint64_t first = item * CHUNK_DIGESTS, left = build->keyset.distinct - first;
    const size_t count = left < CHUNK_DIGESTS ? (size_t)left : CHUNK_DIGESTS;
    const uint64_t *digests;
    const int rc = tamis__keyset_read(&build->keyset, first, count, share->digests, &digests);
    if (rc < 0) return rc;
    tamis__crew_done(&build->crew, count);
    if (tamis__fuse_contains_digests(&build->segment, digests, count, share->answers) == count)
        return 0;
    return fail_verify(build, "does not have all of its keys");
}

static int ask_all_digests(struct tamis_build *build)
{
    const unsigned threads = build->crew.threads;
    struct asking a = {.build = build, .shares = calloc(threads, sizeof *a.shares)};
    bool got = a.shares != NULL;
    for (unsigned i = 0; got && i < threads; i++) {
        a.shares[i].digests = malloc(CHUNK_DIGESTS * sizeof *a.shares[i].digests);
        a.shares[i].answers = malloc(CHUNK_DIGESTS);
        got = a.shares[i].digests != NULL && a.shares[i].answers != NULL;
    }
    const int rc =
        got ? tamis__crew_run(&build->crew, ask_digests, &a,
                              (build->keyset.distinct + CHUNK_DIGESTS - 1) / CHUNK_DIGESTS)
            : tamis__fail(TAMIS_ENOMEM, "out of memory verifying '%s'", build->name);
    for (unsigned i = 0; a.shares != NULL && i < threads; i++) {
        free(a.shares[i].digests);
        free(a.shares[i].answers);
    }
    free(a.shares);
    return rc;
}

int tamis__build_each_batch(struct tamis_build *build, struct tamis__spool *spool,
                            const struct tamis__segment *segment, tamis__batch_fn *fn)
{
    struct tamis__spool_reader reader;
    int rc = tamis__spool_open(spool, &reader);
    while (rc == 0) {
        const int count = tamis__spool_next(&reader);
        rc = count;
        if (count <= 0) break;
        const int64_t done = fn(build, segment, reader.keys, (size_t)count);
        rc = done < 0 ? (int)done : 0;
        if (rc < 0) break;
        tamis__crew_done(&build->crew, (uint64_t)done);
        rc = tamis__crew_tell(&build->crew);
    }
    tamis__spool_close(&reader);
    return rc;
}

static int64_t ask_keys(struct tamis_build *build, const struct tamis__segment *segment,
                        const struct tamis_key *keys, size_t count)
{
    uint8_t answers[TAMIS__SPOOL_BATCH];
    const struct tamis__kind *kind = tamis__kind_by_id(segment->header->kind);
    if (kind->contains_batch(segment, keys, count, answers) == count) return (int64_t)count;
    return fail_verify(build, "does not have all of its keys");
}

/* ---- Others ---------------------------------------------------------------------------------- */

/* Makes up keys of 16 bytes.  They are the same in each build of a name's seed: splitmix64 (Steele,
 * Lea, Flood 2014). */
static void make_up(uint64_t *state, uint64_t words[2])
{
    for (unsigned i = 0; i < 2; i++) {
        uint64_t z = (*state += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        words[i] = z ^ (z >> 31);
    }
}

/* Counts the yes answers to a chunk of samples.  A key that was in fact added is no sample. */
static int sample_chunk(struct tamis_build *build, uint64_t *state)
{
    uint64_t words[SAMPLE_CHUNK][2];
    struct tamis_key keys[SAMPLE_CHUNK];
    uint8_t answers[SAMPLE_CHUNK];
    const struct tamis__kind *kind = tamis__kind_by_id(build->segment.header->kind);
    for (size_t i = 0; i < SAMPLE_CHUNK; i++) {
        make_up(state, words[i]);
        keys[i] = (struct tamis_key){.data = words[i], .bytes = sizeof words[i]};
    }
    (void)kind->contains_batch(&build->segment, keys, SAMPLE_CHUNK, answers);
    for (size_t i = 0; i < SAMPLE_CHUNK; i++) {
        const int added =
            answers[i] ? tamis__keyset_has(&build->keyset, tamis__build_digest(build, &keys[i]))
                       : 0;
        if (added < 0) return added;
        build->result.sampled += added == 0;
        build->result.sampled_yes += added == 0 && answers[i];
    }
    return tamis__crew_tell(&build->crew);
}

/* The rate that the segment should have; 1 if its hash set promises none. */
static double promised_rate(const struct tamis_build *build)
{
    const struct tamis__segment_header *h = build->segment.header;
    if (!tamis__hash_set_by_id(h->hash_set)->any_kind)
        return 1; /* docs/hash-sets.md: some hash sets are weak */
    if (build->fingerprint_bits != 0) return ldexp(1, -(int)build->fingerprint_bits);
    return tamis_predict_rate(h->kind, h->m_bits, h->k, build->keyset.distinct);
}

/* Bernstein: P(yes >= n p + t) <= exp(-t^2 / 2 (n p + t / 3)).  With L the logarithm of what is to
 * be refused in vain, t = L / 3 + sqrt(L^2 / 9 + 2 L n p). */
static bool is_likely(const struct tamis_build *build, double rate)
{
    const double expected = rate * (double)build->result.sampled;
    const double most = expected + REFUSED_LOG / 3 +
                        sqrt(REFUSED_LOG * REFUSED_LOG / 9 + 2 * REFUSED_LOG * expected);
    return (double)build->result.sampled_yes <= most;
}

/*
 * The predicted rate is the mean over all sets of as many keys.  A filter of a few hundred keys has
 * a rate of its own, as its few blocks are filled unevenly, which may be a fifth above that.  So
 * two questions are asked: does the segment have more bits set than that number of keys sets?  And
 * does it answer yes more often than these bits let it?
 */
static bool is_likely_by_bits(const struct tamis_build *build)
{
    const struct tamis__segment_header *h = build->segment.header;
    const struct tamis__spread spread =
        tamis__spread_of_items(h->kind, h->m_bits, h->k, (double)build->keyset.distinct);
    uint64_t ones;
    double rate;
    tamis__kind_by_id(h->kind)->measure(&build->segment, &ones, &rate);
    return (double)ones <= spread.mean + tamis__spread_bound(&spread) && is_likely(build, rate);
}

static int sample(struct tamis_build *build)
{
    uint64_t state = build->filter.seed;
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < TAMIS__SAMPLES; i += SAMPLE_CHUNK)
        rc = sample_chunk(build, &state);
    if (rc != 0 || is_likely(build, promised_rate(build))) return rc;
    if (build->fingerprint_bits == 0 && is_likely_by_bits(build)) return 0;
    return fail_verify(build, "answers yes to far more keys than its rate allows");
}

int tamis__build_verify(struct tamis_build *build)
{
    const bool fuse = build->fingerprint_bits != 0;
    const uint64_t all = fuse ? build->keyset.distinct : build->raw.keys;
    int rc = tamis__crew_phase(&build->crew, TAMIS_BUILD_VERIFYING, all + build->against.keys);
    if (rc == 0)
        rc = fuse ? ask_all_digests(build)
                  : tamis__build_each_batch(build, &build->raw, &build->segment, ask_keys);
    return rc != 0 ? rc : sample(build);
}

/* ---- Keys known to be good ------------------------------------------------------------------- */

static int64_t judge_keys(struct tamis_build *build, const struct tamis__segment *segment,
                          const struct tamis_key *keys, size_t count)
{
    uint8_t answers[TAMIS__SPOOL_BATCH];
    const struct tamis__kind *kind = tamis__kind_by_id(segment->header->kind);
    int rc = 0;
    (void)kind->contains_batch(segment, keys, count, answers);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (!answers[i]) continue;
        const uint64_t digest = tamis__build_digest(build, &keys[i]);
        const int added = tamis__keyset_has(&build->keyset, digest);
        if (added < 0) return added;
        rc = added ? tamis__keyset_add(&build->conflicts, &digest, 1)
                   : tamis__exceptions_add(&build->found, keys[i].data, keys[i].bytes, 1);
    }
    return rc < 0 ? rc : (int64_t)count;
}

int tamis__build_judge(struct tamis_build *build, const struct tamis__segment *segment)
{
    tamis__exceptions_clear(&build->found);
    tamis__keyset_clear(&build->conflicts);
    tamis__keyset_init(&build->conflicts, &build->store->place, &build->crew,
                       TAMIS__KEYSET_BYTES_MIN);
    int rc = tamis__build_each_batch(build, &build->against, segment, judge_keys);
    if (rc == 0) rc = tamis__exceptions_sort(&build->found);
    if (rc == 0) rc = tamis__keyset_sort_silently(&build->conflicts);
    build->result.found = build->found.count;
    build->result.conflicts = build->conflicts.distinct;
    return rc;
}
