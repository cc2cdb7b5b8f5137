/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuse.c: queries of a binary fuse filter (fuse.h has the layout).  The filter is static:
 * build/ makes its data, and nothing changes them.  So they are read without atomics, and a
 * checksum closes them.
 *
 * The header alone bounds every access: the piece of a digest is below `pieces`, and its slots are
 * below the slots of a piece, whatever the seeds and the fingerprints say (fuse_check).
 */
#include <math.h>

#include "hash/hash_set.h"
#include "hash/sum.h"
#include "kind/block.h"
#include "kind/fuse.h"
#include "kind/kind.h"

/* The checksum is computed in steps of this size; each step's memory is given back
 * before the next. */
#define VERIFY_STEP ((uint64_t)32 << 20)

/* Keys that are fetched ahead, each three cache lines.  Measured at 120 MiB: with 8 keys 33.5 ns a
 * query, with 16 31.1, with 64 33.3. */
#define KEYS_AHEAD 16u

/* Where the three fingerprints of a key are, counted over all pieces. */
struct probe {
    uint64_t slots[TAMIS__FUSE_ARITY];
    uint32_t fingerprint;
};

TAMIS__INLINE struct probe probe_of(const struct tamis__fuse_ask *ask, uint64_t digest)
{
    const uint64_t piece = tamis__scale(digest, ask->geometry.pieces);
    const struct tamis__fuse_place place =
        tamis__fuse_place(&ask->geometry, digest, ask->seeds[piece]);
    const uint64_t first = piece * ask->piece_slots;
    return (struct probe){
        .slots = {first + place.slots[0], first + place.slots[1], first + place.slots[2]},
        .fingerprint = place.fingerprint};
}

TAMIS__INLINE void prefetch(const struct tamis__fuse_ask *ask, const struct probe *probe,
                            uint32_t bytes)
{
    const char *fingerprints = ask->fingerprints;
    for (unsigned i = 0; i < TAMIS__FUSE_ARITY; i++)
        __builtin_prefetch(fingerprints + tamis__fuse_offset(probe->slots[i], bytes, ask->bits), 0,
                           3);
}

TAMIS__INLINE unsigned test_probe(const struct tamis__fuse_ask *ask, const struct probe *probe,
                                  uint32_t bytes)
{
    const uint64_t *slots = probe->slots;
    const uint32_t sum = tamis__fuse_fingerprint(ask->fingerprints, slots[0], bytes, ask->bits) ^
                         tamis__fuse_fingerprint(ask->fingerprints, slots[1], bytes, ask->bits) ^
                         tamis__fuse_fingerprint(ask->fingerprints, slots[2], bytes, ask->bits);
    return ((sum ^ probe->fingerprint) & tamis__fuse_mask(bytes, ask->bits)) == 0;
}

/* What becomes a digest: a key by one of two rules, or a digest that the caller has. */
enum source { XXH3_KEYS, SIP_KEYS, DIGESTS };

TAMIS__INLINE uint64_t digest_at(const struct tamis__fuse_ask *ask, const struct tamis_key *keys,
                                 const uint64_t *digests, size_t i, enum source source)
{
    if (source == DIGESTS) return digests[i];
    if (source == SIP_KEYS) return tamis__fuse_digest(&ask->by, keys[i].data, keys[i].bytes);
    return tamis__digest_at_once(keys[i].data, keys[i].bytes, ask->by.seed).low;
}

/* Asks for keys, or digests: prefetches the lines of each, and tests it KEYS_AHEAD keys later.
 * `bytes` and `source` are constants in each instance. */
TAMIS__INLINE size_t fuse_run(const struct tamis__fuse_ask *given, const struct tamis_key *keys,
                              const uint64_t *digests, size_t count, uint8_t *answers,
                              uint32_t bytes, enum source source)
{
    const struct tamis__fuse_ask ask = *given; /* so that it stays in registers */
    const size_t head = count < KEYS_AHEAD ? count : KEYS_AHEAD;
    struct probe ring[KEYS_AHEAD];
    size_t ones = 0;
    for (size_t i = 0; i < head; i++) {
        ring[i] = probe_of(&ask, digest_at(&ask, keys, digests, i, source));
        prefetch(&ask, &ring[i], bytes);
    }
    for (size_t i = head; i < count; i++) {
        struct probe *slot = &ring[i % KEYS_AHEAD];
        const unsigned one = test_probe(&ask, slot, bytes);
        answers[i - KEYS_AHEAD] = (uint8_t)one;
        ones += one;
        if (source != DIGESTS && i + TAMIS__FETCH_AHEAD < count)
            tamis__fetch_key(&keys[i + TAMIS__FETCH_AHEAD]);
        *slot = probe_of(&ask, digest_at(&ask, keys, digests, i, source));
        prefetch(&ask, slot, bytes);
    }
    for (size_t i = count - head; i < count; i++) {
        const unsigned one = test_probe(&ask, &ring[i % KEYS_AHEAD], bytes);
        answers[i] = (uint8_t)one;
        ones += one;
    }
    return ones;
}

TAMIS__INLINE size_t fuse_run_keys(const struct tamis__segment *segment,
                                   const struct tamis_key *keys, const uint64_t *digests,
                                   size_t count, uint8_t *answers, enum source source)
{
    const struct tamis__fuse_ask ask = tamis__fuse_ask_of(segment);
    if (segment->header->pieces == 0) {
        memset(answers, 0, count);
        return 0;
    }
#ifdef __x86_64__
    if (tamis__cpu() == TAMIS__CPU_AVX512 && ask.piece_slots <= UINT32_MAX)
        return tamis__fuse_run_avx512(segment, keys, digests, count, answers);
#endif
    switch (tamis__fuse_instance(ask.bits)) {
    case 1:
        return fuse_run(&ask, keys, digests, count, answers, 1, source);
    case 2:
        return fuse_run(&ask, keys, digests, count, answers, 2, source);
    case 4:
        return fuse_run(&ask, keys, digests, count, answers, 4, source);
    default:
        return fuse_run(&ask, keys, digests, count, answers, TAMIS__FUSE_PACKED, source);
    }
}

static size_t fuse_contains_batch(const struct tamis__segment *segment,
                                  const struct tamis_key *keys, size_t count, uint8_t *answers)
{
    if (tamis__header_digester(segment->header).other != NULL)
        return fuse_run_keys(segment, keys, NULL, count, answers, SIP_KEYS);
    return fuse_run_keys(segment, keys, NULL, count, answers, XXH3_KEYS);
}

size_t tamis__fuse_contains_digests(const struct tamis__segment *segment, const uint64_t *digests,
                                    size_t count, uint8_t *answers)
{
    return fuse_run_keys(segment, NULL, digests, count, answers, DIGESTS);
}

int tamis__fuse_contains_digest(const struct tamis__segment *segment, uint64_t digest)
{
    if (segment->header->pieces == 0) return 0;
    const struct tamis__fuse_ask ask = tamis__fuse_ask_of(segment);
    const struct probe probe = probe_of(&ask, digest);
    switch (tamis__fuse_instance(ask.bits)) {
    case 1:
        return (int)test_probe(&ask, &probe, 1);
    case 2:
        return (int)test_probe(&ask, &probe, 2);
    case 4:
        return (int)test_probe(&ask, &probe, 4);
    default:
        return (int)test_probe(&ask, &probe, TAMIS__FUSE_PACKED);
    }
}

static int fuse_contains(const struct tamis__segment *segment, const void *key, size_t key_bytes)
{
    const struct tamis__digester by = tamis__header_digester(segment->header);
    return tamis__fuse_contains_digest(segment, tamis__fuse_digest(&by, key, key_bytes));
}

static void fuse_fetch(const struct tamis__segment *segment, const void *key, size_t key_bytes)
{
    const struct tamis__digester by = tamis__header_digester(segment->header);
    if (segment->header->pieces == 0) return;
    const struct tamis__fuse_ask ask = tamis__fuse_ask_of(segment);
    const struct probe probe = probe_of(&ask, tamis__fuse_digest(&by, key, key_bytes));
    prefetch(&ask, &probe, tamis__fuse_instance(ask.bits));
}

static int refuse_add(void)
{
    return tamis__fail(TAMIS_EUNSUPPORTED,
                       "a filter of kind fuse is static, nothing can be added to it; `tamis build` "
                       "makes it anew with all keys");
}

static int fuse_add(const struct tamis__segment *segment, const void *key, size_t key_bytes)
{
    (void)segment, (void)key, (void)key_bytes;
    return refuse_add();
}

static int64_t fuse_add_batch(const struct tamis__segment *segment, const struct tamis_key *keys,
                              size_t count, uint8_t *answers)
{
    (void)segment, (void)keys;
    memset(answers, TAMIS_ANSWER_REFUSED, count);
    return refuse_add();
}

static int fuse_check(const struct tamis__segment_header *header, const char **reason)
{
    const struct tamis__fuse_shape shape = tamis__fuse_header_shape(header);
    struct tamis__layout layout;
    *reason = "has a geometry that no fuse filter has";
    if (!tamis__fuse_shape_is_valid(&shape) || header->m_bits != tamis__fuse_m_bits(&shape) ||
        header->k != TAMIS__FUSE_ARITY || header->words != 0 || header->counter_bits != 0 ||
        header->bit_order != TAMIS__BITS_LSB_FIRST ||
        tamis__fuse_is_packed(header->fingerprint_bits) !=
            ((header->incompat_flags & TAMIS__INCOMPAT_PACKED) != 0))
        return TAMIS_ECORRUPT;
    tamis__static_layout(tamis__fuse_data_bits(&shape), &layout);
    *reason = "has data of a length that its pieces contradict";
    if (header->data_bytes != layout.data_bytes) return TAMIS_ECORRUPT;
    return tamis__check_hash_set(header, reason);
}

static int fuse_verify(const struct tamis__segment *segment, uint64_t *offset, const char **reason)
{
    const struct tamis__segment_header *h = segment->header;
    struct tamis__sum64 sum;
    tamis__sum64_init(&sum);
    for (uint64_t at = 0; at < h->data_bytes; at += VERIFY_STEP) {
        const uint64_t bytes = h->data_bytes - at < VERIFY_STEP ? h->data_bytes - at : VERIFY_STEP;
        tamis__sum64_add(&sum, (const unsigned char *)segment->data + at, bytes);
        if (segment->place != NULL) tamis__segment_release(segment, at, bytes);
    }
    if (tamis__sum64_finish(&sum) == h->data_checksum) return 0;
    *offset = h->data_offset;
    *reason = "has data that do not match their checksum; build the filter anew, roll it back, or "
              "restore the file from a copy";
    return 1;
}

/* Writes the digest and the fingerprint, with as many digits as their bits need. */
static size_t fuse_explain(const struct tamis__segment *segment, const void *key, size_t key_bytes,
                           uint64_t *positions, char *text, size_t text_bytes)
{
    const struct tamis__segment_header *h = segment->header;
    const struct tamis__fuse_ask ask = tamis__fuse_ask_of(segment);
    const uint64_t digest = tamis__fuse_digest(&ask.by, key, key_bytes);
    const struct probe probe = h->pieces == 0 ? (struct probe){{0}, 0} : probe_of(&ask, digest);
    const uint32_t kept =
        probe.fingerprint & tamis__fuse_mask(TAMIS__FUSE_PACKED, h->fingerprint_bits);
    memcpy(positions, probe.slots, sizeof probe.slots);
    return (size_t)snprintf(text, text_bytes, "%016" PRIx64 ",%0*" PRIx32, digest,
                            (int)(h->fingerprint_bits + 3) / 4, kept);
}

/* *ones gets the number of fingerprints that are not 0.  The rate follows from
 * their width alone. */
static void fuse_measure(const struct tamis__segment *segment, uint64_t *ones, double *fp_rate)
{
    const struct tamis__segment_header *h = segment->header;
    const struct tamis__fuse_ask ask = tamis__fuse_ask_of(segment);
    const uint64_t slots = h->pieces * ask.piece_slots;
    *ones = 0;
    const uint32_t bytes = tamis__fuse_instance(ask.bits);
    const uint32_t mask = tamis__fuse_mask(bytes, ask.bits);
    for (uint64_t i = 0; i < slots; i++)
        *ones += (tamis__fuse_fingerprint(ask.fingerprints, i, bytes, ask.bits) & mask) != 0;
    *fp_rate = tamis__static_rate(h->fingerprint_bits, h->pieces);
}

const struct tamis__kind tamis__kind_fuse = {
    .id = TAMIS_KIND_FUSE,
    .check = fuse_check,
    .add = fuse_add,
    .contains = fuse_contains,
    .fetch = fuse_fetch,
    .add_batch = fuse_add_batch,
    .contains_batch = fuse_contains_batch,
    .verify = fuse_verify,
    .explain = fuse_explain,
    .measure = fuse_measure,
};
