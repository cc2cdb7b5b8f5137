/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redisbloom.c: format `redisbloom`: what BF.SCANDUMP answers, in a plain container.
 *
 *     "SCANDUMP"                                                  8 bytes
 *     frames, one for each answer of BF.SCANDUMP in order:
 *         u64 iterator returned, u64 bytes, the bytes             little-endian
 *         (1, header), (1 + bytes so far, chunk)..., (0, nothing)
 *
 * The header is RedisBloom's own, packed and little-endian:
 *
 *     u64 size, u32 layers, u32 options, u32 growth; then for each layer
 *     u64 bytes, u64 bits, u64 size, f64 error, f64 bpe, u32 hashes, u64 entries, u8 n2
 *
 * Chunks run through the layers in order; no chunk crosses the end of a layer.  RedisBloom cuts
 * them at 16 MiB; here any length is read.  A layer becomes a segment: RedisBloom asks all layers
 * and adds to the newest, as Tamis does with segments.  What else the header says is kept in the
 * segment's header, so that the export gives the dump again, with the sizes of that time.
 *
 * A header is checked as RedisBloom checks one that BF.LOADCHUNK brings (bloom_validate_integrity
 * and SB_ValidateIntegrity there), and then by what the hash set can express.  Positions are 64-bit
 * Murmur modulo `bits`, so a chain without the option FORCE64, or a layer whose modulus 2^n2 is not
 * its size, is refused.
 */
#include "exchange/redisbloom.h"

#include <math.h>

#include "hash/hash_set.h"

static const char magic[8] = {'S', 'C', 'A', 'N', 'D', 'U', 'M', 'P'};

#define FRAME_BYTES 16u
#define CHAIN_AT (sizeof magic + FRAME_BYTES)
#define CHAIN_BYTES 20u
#define LAYER_BYTES 53u
#define CHUNK_BYTES ((uint64_t)16 << 20)

#define OPTION_NOROUND 1u
#define OPTION_FORCE64 4u
#define OPTION_NO_SCALING 8u
#define OPTIONS_KNOWN 15u     /* and ENTS_IS_BITS 2, NO_SCALING 8 */
#define LN2 0.693147180559945 /* as RedisBloom writes it: its k must come out the same */
#define LN2_SQUARED 0.480453013918201

/* The header of a chain and of a layer, taken apart. */
struct chain {
    uint64_t size;
    uint32_t layers, options, growth;
};

struct layer {
    uint64_t bytes, bits, size;
    double error, bpe;
    uint32_t hashes;
    uint64_t entries;
    uint8_t n2;
};

_Static_assert(sizeof(struct tamis__layer_origin) <= TAMIS__KEPT_BYTES, "must fit the header");

static void read_layer(const unsigned char *at, struct layer *layer)
{
    *layer = (struct layer){.bytes = tamis__get64(at),
                            .bits = tamis__get64(at + 8),
                            .size = tamis__get64(at + 16),
                            .error = tamis__double_from_bits(tamis__get64(at + 24)),
                            .bpe = tamis__double_from_bits(tamis__get64(at + 32)),
                            .hashes = tamis__get32(at + 40),
                            .entries = tamis__get64(at + 44),
                            .n2 = at[52]};
}

/* ---- Judging --------------------------------------------------------------------------------- */

/* Checks what RedisBloom itself would refuse. */
static int judge_layer(const struct layer *l, uint32_t i, uint64_t at,
                       struct tamis__refusal *refusal)
{
    if (!(l->error > 0 && l->error < 1)) /* NaN too */
        return tamis__refuse(refusal, TAMIS_ECORRUPT, at + 24,
                             "gives layer %u an error rate of %g, not between 0 and 1", i,
                             l->error);
    if (l->bytes == 0 || l->bytes > TAMIS__M_BITS_MAX / 8 || l->bits != l->bytes * 8)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, at,
                             "gives layer %u %llu byte%s and %llu bit%s, which do not go together",
                             i, (unsigned long long)l->bytes, tamis__plural(l->bytes),
                             (unsigned long long)l->bits, tamis__plural(l->bits));
    if (!isfinite(l->bpe) || ceil(LN2 * l->bpe) != (double)l->hashes)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, at + 40,
                             "gives layer %u %u hash%s, which its %g bits per entry contradict", i,
                             l->hashes, l->hashes == 1 ? "" : "es", l->bpe);
    if (l->entries == 0 || l->entries > TAMIS__CAPACITY_MAX || l->size > TAMIS__CAPACITY_MAX)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, at + 44,
                             "gives layer %u room for %llu of its entries, and has %llu in it", i,
                             (unsigned long long)l->entries, (unsigned long long)l->size);
    return 0;
}

/* Checks what only Tamis cannot do. */
static int judge_support(const struct layer *l, uint32_t i, uint64_t at,
                         struct tamis__refusal *refusal)
{
    if (l->hashes == 0)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, at + 40, "gives layer %u 0 hashes", i);
    if (l->hashes > TAMIS_K_MAX)
        return tamis__refuse(refusal, TAMIS_EUNSUPPORTED, at + 40,
                             "gives layer %u %u hashes, and a filter of Tamis has 1 to %d; make it "
                             "anew there for a greater error rate",
                             i, l->hashes, TAMIS_K_MAX);
    if (l->n2 != 0 && (l->n2 > 62 || l->bits != (uint64_t)1 << l->n2))
        return tamis__refuse(refusal, TAMIS_EUNSUPPORTED, at + 52,
                             "takes positions in layer %u modulo 2^%u, but has %llu bit%s, as "
                             "only old versions made it; add its keys to a new filter",
                             i, l->n2, (unsigned long long)l->bits, tamis__plural(l->bits));
    return 0;
}

static int judge_chain(const struct chain *c, uint64_t at, struct tamis__refusal *refusal)
{
    if (c->options & ~OPTIONS_KNOWN)
        return tamis__refuse(refusal, TAMIS_EUNSUPPORTED, at + 12,
                             "has options %#x, of which %#x are not known; use a newer Tamis",
                             c->options, c->options & ~OPTIONS_KNOWN);
    if (!(c->options & OPTION_FORCE64))
        return tamis__refuse(refusal, TAMIS_EUNSUPPORTED, at + 12,
                             "is of a RedisBloom that hashed to 32 bits (no option FORCE64); add "
                             "its keys to a new filter");
    return 0;
}

static void describe_chain_layer(const struct chain *c, const struct layer *l,
                                 struct tamis__layer *layer)
{
    const struct tamis__layer_origin origin = {.bpe = tamis__double_to_bits(l->bpe),
                                               .options = c->options,
                                               .growth = c->growth,
                                               .n2 = l->n2};
    *layer = (struct tamis__layer){.segment = {.kind = TAMIS_KIND_BLOOM,
                                               .hash_set = TAMIS__HASH_REDISBLOOM,
                                               .m_bits = l->bits,
                                               .k = l->hashes,
                                               .capacity = l->entries,
                                               .fp_rate = l->error,
                                               .items = l->size}};
    memcpy(layer->kept, &origin, sizeof origin);
}

/* ---- Growth ---------------------------------------------------------------------------------- */

uint32_t tamis__redisbloom_on_full(const struct tamis__segment_header *layer)
{
    struct tamis__layer_origin origin;
    memcpy(&origin, layer->kept, sizeof origin);
    return origin.options & OPTION_NO_SCALING ? TAMIS_ON_FULL_REFUSE : TAMIS_ON_FULL_GROW;
}

bool tamis__redisbloom_grows(const struct tamis__segment_header *newest)
{
    struct tamis__layer_origin origin;
    memcpy(&origin, newest->kept, sizeof origin);
    return newest->hash_set == TAMIS__HASH_REDISBLOOM && (origin.options & OPTION_FORCE64) != 0;
}

static int fail_layer(const char *why)
{
    return tamis__fail(
        TAMIS_ELIMIT, "the next layer would have %s; make a new filter of a greater capacity", why);
}

int tamis__redisbloom_next(const struct tamis__segment_header *newest, struct tamis__layer *next)
{
    struct tamis__layer_origin origin;
    struct tamis_sizing sizing = {.fp_rate = tamis__double_from_bits(newest->fp_rate) / 2};
    memcpy(&origin, newest->kept, sizeof origin);
    if (origin.growth == 0 || newest->capacity > TAMIS__CAPACITY_MAX / origin.growth)
        return fail_layer("an impossible capacity");
    sizing.capacity = newest->capacity * origin.growth;
    tamis__hash_set_by_id(TAMIS__HASH_REDISBLOOM)->shape(&sizing);
    if (!(sizing.fp_rate > 0) || sizing.k > TAMIS_K_MAX) return fail_layer("too many hashes");
    if (sizing.m_bits > TAMIS__M_BITS_MAX) return fail_layer("too many bits");
    const struct chain chain = {.options = origin.options, .growth = origin.growth};
    const struct layer layer = {.bits = sizing.m_bits,
                                .error = sizing.fp_rate,
                                .bpe = -(log(sizing.fp_rate) / LN2_SQUARED),
                                .hashes = sizing.k,
                                .entries = sizing.capacity};
    describe_chain_layer(&chain, &layer, next);
    next->segment.bit_order = TAMIS__BITS_LSB_FIRST;
    return 0;
}

/* ---- In -------------------------------------------------------------------------------------- */

/* Reads the frame that opens the stream; returns the bytes of the chain's header in it. */
static int64_t parse_frame(const unsigned char *at, size_t bytes, struct tamis__refusal *refusal)
{
    const size_t known = bytes < sizeof magic ? bytes : sizeof magic;
    if (memcmp(at, magic, known) != 0)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, 0,
                             "does not begin with SCANDUMP; docs/exchange.md says how the answers "
                             "of BF.SCANDUMP are put into a file");
    if (bytes < CHAIN_AT)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, bytes, "is truncated inside its head");
    const uint64_t length = tamis__get64(at + sizeof magic + 8);
    if (tamis__get64(at + sizeof magic) != 1)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, sizeof magic,
                             "begins with iterator %llu, not with the header (iterator 1)",
                             (unsigned long long)tamis__get64(at + sizeof magic));
    if (length < CHAIN_BYTES + LAYER_BYTES || (length - CHAIN_BYTES) % LAYER_BYTES != 0)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, sizeof magic + 8,
                             "has a header of %llu byte%s, which no number of layers has",
                             (unsigned long long)length, tamis__plural((uint64_t)length));
    if (length > CHAIN_BYTES + TAMIS__SEGMENTS_MAX * LAYER_BYTES)
        return tamis__refuse(
            refusal, TAMIS_EUNSUPPORTED, sizeof magic + 8,
            "has %llu layers, and a filter of Tamis at most %u; make it anew there "
            "for more keys",
            (unsigned long long)(length - CHAIN_BYTES) / LAYER_BYTES, TAMIS__SEGMENTS_MAX);
    if (length > bytes - CHAIN_AT)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, bytes, "is truncated inside its head");
    return (int64_t)length;
}

static int parse_layers(const unsigned char *head, const struct chain *chain,
                        struct tamis__outline *outline, struct tamis__refusal *refusal)
{
    uint64_t size = 0, bytes = 0;
    for (uint32_t i = 0; i < chain->layers; i++) {
        struct layer layer;
        const uint64_t at = CHAIN_AT + CHAIN_BYTES + (uint64_t)i * LAYER_BYTES;
        read_layer(head + at, &layer);
        int rc = judge_layer(&layer, i, at, refusal);
        if (rc == 0) rc = judge_support(&layer, i, at, refusal);
        if (rc < 0) return rc;
        if (layer.bytes > INT64_MAX - bytes) /* iterators are signed */
            return tamis__refuse(refusal, TAMIS_ECORRUPT, at,
                                 "has layers whose sizes overflow in layer %u", i);
        bytes += layer.bytes;
        size += layer.size; /* at most 64 of 2^56 each */
        describe_chain_layer(chain, &layer, &outline->layers[i]);
    }
    if (size != chain->size)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, CHAIN_AT,
                             "says that it holds %llu key%s, and its layers say %llu",
                             (unsigned long long)chain->size, tamis__plural(chain->size),
                             (unsigned long long)size);
    outline->least_bytes = bytes + (uint64_t)(chain->layers + 1) * FRAME_BYTES;
    return 0;
}

static int redisbloom_parse(const void *head, size_t bytes, struct tamis__outline *outline,
                            struct tamis__refusal *refusal)
{
    const int64_t length = parse_frame(head, bytes, refusal);
    if (length < 0) return (int)length;
    const unsigned char *at = (const unsigned char *)head + CHAIN_AT;
    const struct chain chain = {.size = tamis__get64(at),
                                .layers = tamis__get32(at + 8),
                                .options = tamis__get32(at + 12),
                                .growth = tamis__get32(at + 16)};
    /* This means 1 to TAMIS__SEGMENTS_MAX layers, as parse_frame() bounds the length. */
    if ((uint64_t)length != CHAIN_BYTES + (uint64_t)chain.layers * LAYER_BYTES)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, sizeof magic + 8,
                             "has a header of %lld byte%s for %u layer%s", (long long)length,
                             tamis__plural((uint64_t)length), chain.layers,
                             tamis__plural(chain.layers));
    const int rc = judge_chain(&chain, CHAIN_AT, refusal);
    if (rc < 0) return rc;
    outline->count = chain.layers;
    outline->head_bytes = CHAIN_AT + (uint64_t)length;
    return parse_layers(head, &chain, outline, refusal);
}

/* Checks a frame that should bring data from `position` on, for a layer that lacks `left` bytes. */
static int judge_frame(const struct tamis__reader *reader, uint64_t at, const unsigned char *frame,
                       uint64_t position, uint64_t left)
{
    char reason[160];
    const uint64_t iterator = tamis__get64(frame), length = tamis__get64(frame + 8);
    if (length == 0)
        return tamis__reader_fail(reader, TAMIS_ECORRUPT, at,
                                  "ends before the data of all its layers");
    if (length > left) {
        (void)snprintf(reason, sizeof reason,
                       "has a chunk of %llu byte%s where its layer has %llu left",
                       (unsigned long long)length, tamis__plural(length), (unsigned long long)left);
        return tamis__reader_fail(reader, TAMIS_ECORRUPT, at + 8, reason);
    }
    if (iterator == position + length + 1) return 0;
    (void)snprintf(reason, sizeof reason,
                   "has a chunk out of order: iterator %llu where %llu comes next",
                   (unsigned long long)iterator, (unsigned long long)(position + length + 1));
    return tamis__reader_fail(reader, TAMIS_ECORRUPT, at, reason);
}

static int load_layer(struct tamis__reader *reader, const struct tamis__stream_target *target,
                      uint32_t index, uint64_t bytes, uint64_t *position)
{
    while (bytes > 0) {
        unsigned char *frame;
        const uint64_t at = reader->offset;
        int rc = tamis__reader_take(reader, FRAME_BYTES, &frame);
        if (rc == 0) rc = judge_frame(reader, at, frame, *position, bytes);
        if (rc < 0) return rc;
        const uint64_t length = tamis__get64(frame + 8);
        rc = tamis__load_data(reader, target, index, length);
        if (rc < 0) return rc;
        *position += length;
        bytes -= length;
    }
    return 0;
}

static int redisbloom_load(struct tamis__reader *reader, const struct tamis__outline *outline,
                           const struct tamis__stream_target *target)
{
    unsigned char *frame;
    uint64_t position = 0;
    int rc = tamis__reader_take(reader, (size_t)outline->head_bytes, &frame);
    for (uint32_t i = 0; rc == 0 && i < outline->count; i++)
        rc = load_layer(reader, target, i, outline->layers[i].segment.m_bits / 8, &position);
    const uint64_t at = reader->offset;
    if (rc == 0) rc = tamis__reader_take(reader, FRAME_BYTES, &frame);
    if (rc < 0) return rc;
    if (tamis__get64(frame) != 0 || tamis__get64(frame + 8) != 0)
        return tamis__reader_fail(reader, TAMIS_ECORRUPT, at,
                                  "goes on after the data of all its layers");
    return tamis__reader_finish(reader);
}

/* ---- Out ------------------------------------------------------------------------------------- */

/*
 * Returns what RedisBloom needs to know of a segment.  The header of an imported segment has it.
 * For a segment that Tamis made, *error is the rate that it was made for, or else a rate that gives
 * its k.
 */
static struct tamis__layer_origin origin_of(const struct tamis__segment_header *h, double *error)
{
    struct tamis__layer_origin origin;
    memcpy(&origin, h->kept, sizeof origin);
    *error = tamis__double_from_bits(h->fp_rate);
    if (origin.options != 0) return origin;
    double bpe = -(log(*error) / LN2_SQUARED);
    if (ceil(LN2 * bpe) != (double)h->k) {
        *error = exp2(-((double)h->k - 0.5));
        bpe = -(log(*error) / LN2_SQUARED);
    }
    origin = (struct tamis__layer_origin){
        .bpe = tamis__double_to_bits(bpe), .options = OPTION_NOROUND | OPTION_FORCE64, .growth = 2};
    return origin;
}

static int check_layer_segment(const struct tamis__segment_header *h,
                               const struct tamis__segment_header *first)
{
    double error;
    if (!tamis_kind_has(h->kind, TAMIS_KIND_IS_PLAIN) || h->hash_set != TAMIS__HASH_REDISBLOOM)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "RedisBloom finds keys by its own hash set only; export a filter that "
                           "has a segment of another one as tamis");
    if (h->m_bits % 8 != 0)
        return tamis__fail(
            TAMIS_EUNSUPPORTED,
            "RedisBloom stores whole bytes, and the filter has %llu bits; export it as tamis",
            (unsigned long long)h->m_bits);
    const struct tamis__layer_origin a = origin_of(first, &error);
    const struct tamis__layer_origin b = origin_of(h, &error);
    if (a.options != b.options || a.growth != b.growth)
        return tamis__fail(
            TAMIS_EUNSUPPORTED,
            "the segments come from RedisBloom filters of different options, so they "
            "are not layers of one");
    return 0;
}

static int redisbloom_check(const struct tamis__cargo *cargo)
{
    for (uint32_t i = 0; i < cargo->count; i++) {
        const int rc = check_layer_segment(cargo->segments[i]->header, cargo->segments[0]->header);
        if (rc < 0) return rc;
    }
    return 0;
}

static int put64(struct tamis__writer *writer, uint64_t value)
{
    return tamis__writer_put(writer, &value, sizeof value);
}

static int put_frame(struct tamis__writer *writer, uint64_t iterator, uint64_t bytes)
{
    const int rc = put64(writer, iterator);
    return rc < 0 ? rc : put64(writer, bytes);
}

/* Writes one layer as the header has it. */
static void write_layer(unsigned char *at, const struct tamis__segment_header *h, uint64_t size)
{
    double error;
    const struct tamis__layer_origin origin = origin_of(h, &error);
    const uint64_t bytes = h->m_bits / 8, rate = tamis__double_to_bits(error);
    memcpy(at, &bytes, 8);
    memcpy(at + 8, &h->m_bits, 8);
    memcpy(at + 16, &size, 8);
    memcpy(at + 24, &rate, 8);
    memcpy(at + 32, &origin.bpe, 8);
    memcpy(at + 40, &h->k, 4);
    memcpy(at + 44, &h->capacity, 8);
    at[52] = (unsigned char)origin.n2;
}

static int save_chain_head(const struct tamis__cargo *cargo, struct tamis__writer *writer)
{
    unsigned char head[CHAIN_BYTES + TAMIS__SEGMENTS_MAX * LAYER_BYTES];
    uint64_t size = 0;
    double error;
    const struct tamis__layer_origin origin = origin_of(cargo->segments[0]->header, &error);
    for (uint32_t i = 0; i < cargo->count; i++) {
        const uint64_t items =
            tamis__segment_items(cargo->segments[i]); /* read once, as adders go on meanwhile */
        write_layer(head + CHAIN_BYTES + (size_t)i * LAYER_BYTES, cargo->segments[i]->header,
                    items);
        size += items;
    }
    memcpy(head, &size, 8);
    memcpy(head + 8, &cargo->count, 4);
    memcpy(head + 12, &origin.options, 4);
    memcpy(head + 16, &origin.growth, 4);
    const size_t bytes = CHAIN_BYTES + (size_t)cargo->count * LAYER_BYTES;
    int rc = tamis__writer_put(writer, magic, sizeof magic);
    if (rc == 0) rc = put_frame(writer, 1, bytes);
    return rc < 0 ? rc : tamis__writer_put(writer, head, bytes);
}

static int redisbloom_save(const struct tamis__cargo *cargo, struct tamis__writer *writer)
{
    const struct tamis__passage passage = {.bit_order = TAMIS__BITS_LSB_FIRST};
    uint64_t iterator = 1;
    int rc = save_chain_head(cargo, writer);
    for (uint32_t i = 0; i < cargo->count; i++) {
        const uint64_t bytes = cargo->segments[i]->header->m_bits / 8;
        for (uint64_t done = 0; rc == 0 && done < bytes;) {
            const uint64_t now = bytes - done < CHUNK_BYTES ? bytes - done : CHUNK_BYTES;
            iterator += now;
            rc = put_frame(writer, iterator, now);
            if (rc == 0) rc = tamis__writer_data(writer, cargo->segments[i], &passage, done, now);
            done += now;
        }
    }
    return rc < 0 ? rc : put_frame(writer, 0, 0);
}

const struct tamis__format tamis__format_redisbloom = {
    .name = "redisbloom",
    .head_bytes = CHAIN_AT + CHAIN_BYTES + TAMIS__SEGMENTS_MAX * LAYER_BYTES,
    .parse = redisbloom_parse,
    .load = redisbloom_load,
    .check = redisbloom_check,
    .save = redisbloom_save,
};
