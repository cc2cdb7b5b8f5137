/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * portable.c: format `tamis`, which carries a filter of any kind to another store or machine.
 * preface.c has what may stand before it.
 *
 *     head      what the filter is and how it goes on when it is full or time passes, and a
 *               description of each segment; closed by an XXH3-64
 *     data      the data of each segment in order, as they lie in the file; behind counters, the
 *               counts of those that have outgrown their bits
 *     exceptions  (stream_exceptions.h)
 *     trailer   the XXH3-128 of all before, in canonical form: what xxh128sum prints for the stream
 *               without its last 16 bytes
 *
 * The head has a checksum of its own because it is believed before the rest is there: it says how
 * much to allocate.  The trailer comes last, so nothing is published of a stream that is damaged
 * anywhere.  The stream holds seeds, as no key could be found without them; it does not hold keys,
 * but for exceptions.
 *
 * A stream has the least version that has what it needs, so that older readers may take it: 1; 2
 * for kind fuse or exceptions; 3 for packed fingerprints (sizing/fuse.h); 4 for windows from first;
 * 6 for a key rule, whose text stands behind the descriptions.
 */
#include "exchange/portable.h"

#include <assert.h>

#include "exceptions/index.h"
#include "exchange/portable_head.h"
#include "exchange/stream_exceptions.h"
#include "kind/cells.h"

/* Returns the least version that has fingerprints of that width (0: none), and exceptions. */
static uint32_t version_of(uint32_t fingerprint_bits, bool has_exceptions)
{
    if (fingerprint_bits != 0 && tamis__fuse_is_packed(fingerprint_bits)) return VERSION_PACKED;
    return fingerprint_bits != 0 || has_exceptions ? VERSION_STATIC : VERSION_FIRST;
}

/* The bytes of a head without its checksum. */
static size_t head_bytes_of(const struct head *head)
{
    return sizeof *head + head->segments * sizeof(struct description) +
           (head->version == VERSION_KEY_RULE ? TAMIS__KEY_RULE_TEXT_BYTES : 0);
}

/* ---- In -------------------------------------------------------------------------------------- */

static int refuse_newer(struct tamis__refusal *refusal, uint64_t offset)
{
    return tamis__refuse(refusal, TAMIS_EVERSION, offset,
                         "has what this version does not know; use a newer Tamis");
}

/* Checks magic, version, count and checksum, in the order of what can be trusted. */
static int judge_head(const unsigned char *at, size_t bytes, struct head *head,
                      struct tamis__refusal *refusal)
{
    const size_t known = bytes < sizeof head->magic ? bytes : sizeof head->magic;
    if (memcmp(at, MAGIC, known) != 0)
        return tamis__refuse(refusal, TAMIS_EFOREIGN, 0,
                             "is not of 'tamis export --to tamis' (wrong first bytes); name the "
                             "format that it is of, and unpack it before if it is packed");
    if (bytes < sizeof *head)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, bytes, "is truncated inside its head");
    memcpy(head, at, sizeof *head);
    if (head->version > VERSION_KEY_RULE)
        return tamis__refuse(refusal, TAMIS_EVERSION, offsetof(struct head, version),
                             "has version %u, this library reads up to %u; use a newer Tamis",
                             head->version, VERSION_KEY_RULE);
    if (head->version == 0 || head->segments == 0 || head->segments > TAMIS__SEGMENTS_MAX)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, offsetof(struct head, segments),
                             "says that it has version %u and %u segment%s", head->version,
                             head->segments, tamis__plural(head->segments));
    const size_t checked = head_bytes_of(head);
    if (bytes < checked + 8)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, bytes, "is truncated inside its head");
    if (tamis__get64(at + checked) != tamis__checksum(at, checked))
        return tamis__refuse(refusal, TAMIS_ECORRUPT, checked,
                             "has a damaged head (its checksum does not match)");
    const uint64_t later = offsetof(struct head, exceptions);
    if (head->version == VERSION_FIRST && !tamis__is_zero(at + later, sizeof *head - later))
        return refuse_newer(refusal, later);
    return 0;
}

/* Has the description something in the fields that version 1 does not have? */
static bool has_later_fields(const struct description *d)
{
    const size_t later = offsetof(struct description, fingerprint_bits);
    return !tamis__is_zero((const unsigned char *)d + later, sizeof *d - later);
}

/* The data of a segment of bits or of counters. */
static int judge_cells(const struct description *d, uint64_t at, struct tamis__refusal *refusal)
{
    if ((tamis_kind_has(d->kind, TAMIS_KIND_COUNTS) != 0) != (d->counter_bits != 0) ||
        (d->counter_bits != 0 && !tamis__counter_bits_are_valid(d->counter_bits)))
        return tamis__refuse(refusal, TAMIS_ECORRUPT, at + offsetof(struct description, kind),
                             "has a segment of kind %u with counters of %u bits", d->kind,
                             d->counter_bits);
    if (d->m_bits == 0 || d->m_bits > TAMIS__M_BITS_MAX / 32 * (d->counter_bits != 0 ? 1 : 32) ||
        d->data_bytes != tamis__data_bytes(tamis__data_bits(d->m_bits, d->counter_bits)))
        return tamis__refuse(refusal, TAMIS_ECORRUPT, at + offsetof(struct description, m_bits),
                             "has a segment of %llu bit%s in %llu byte%s",
                             (unsigned long long)d->m_bits, tamis__plural(d->m_bits),
                             (unsigned long long)d->data_bytes, tamis__plural(d->data_bytes));
    if (has_later_fields(d))
        return tamis__refuse(refusal, TAMIS_ECORRUPT,
                             at + offsetof(struct description, fingerprint_bits),
                             "has fingerprints in a segment of kind %u", d->kind);
    return 0;
}

static struct tamis__fuse_shape shape_of(const struct description *d)
{
    return (struct tamis__fuse_shape){.fingerprint_bits = d->fingerprint_bits,
                                      .pieces = d->pieces,
                                      .piece_segments = d->piece_segments,
                                      .segment_slots = d->segment_slots};
}

/* The data of a segment of kind fuse.  Its shape alone says how long they are, and how many keys
 * they can have at most: each takes a slot or more. */
static int judge_fuse(const struct description *d, uint64_t at, struct tamis__refusal *refusal)
{
    const struct tamis__fuse_shape shape = shape_of(d);
    if (!tamis__fuse_shape_is_valid(&shape) || d->m_bits != tamis__fuse_m_bits(&shape) ||
        d->k != TAMIS__FUSE_ARITY || d->words != 0 || d->counter_bits != 0 ||
        d->bit_order != TAMIS__BITS_LSB_FIRST)
        return tamis__refuse(refusal, TAMIS_ECORRUPT,
                             at + offsetof(struct description, fingerprint_bits),
                             "has a geometry that no filter of kind fuse has");
    if (d->data_bytes != tamis__data_bytes(tamis__fuse_data_bits(&shape)))
        return tamis__refuse(refusal, TAMIS_ECORRUPT, at + offsetof(struct description, data_bytes),
                             "has fingerprints in %llu byte%s", (unsigned long long)d->data_bytes,
                             tamis__plural(d->data_bytes));
    if ((d->items == 0) != (d->pieces == 0) || d->items > d->capacity ||
        d->items > tamis__fuse_piece_slots(&shape) * (d->pieces > 0 ? d->pieces : 1))
        return tamis__refuse(refusal, TAMIS_ECORRUPT, at + offsetof(struct description, items),
                             "has more keys than fit into its fingerprints");
    return 0;
}

static void take_shared(const struct description *from, struct tamis__listed_segment *to)
{
    TAMIS__SHARED_FIELDS(TAMIS__COPY_FIELD)
}

static int parse_description(const unsigned char *bytes, uint64_t at, uint32_t version,
                             struct tamis__layer *layer, struct tamis__refusal *refusal)
{
    struct description d;
    memcpy(&d, bytes + at, sizeof d);
    const bool is_static = tamis_kind_has(d.kind, TAMIS_KIND_IS_STATIC);
    if (version == VERSION_FIRST && (is_static || has_later_fields(&d)))
        return refuse_newer(refusal, at + offsetof(struct description, fingerprint_bits));
    const int rc = is_static ? judge_fuse(&d, at, refusal) : judge_cells(&d, at, refusal);
    if (rc < 0) return rc;
    if (version < version_of(d.fingerprint_bits, false))
        return refuse_newer(refusal, at + offsetof(struct description, fingerprint_bits));
    if (d.capacity == 0 || d.capacity > TAMIS__CAPACITY_MAX)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, at + offsetof(struct description, capacity),
                             "has a segment of an impossible capacity");
    if ((d.flags & ~TAMIS__SEGMENT_FLAGS_KNOWN) != 0)
        return refuse_newer(refusal, at + offsetof(struct description, flags));
    if (d.items > TAMIS__CAPACITY_MAX)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, at + offsetof(struct description, items),
                             "has an impossible number of items");
    *layer = (struct tamis__layer){
        .segment = {.fp_rate = tamis__double_from_bits(d.fp_rate), .items = d.items},
        .flags = d.flags,
        .shape = shape_of(&d),
        .data_checksum = d.data_checksum,
    };
    take_shared(&d, &layer->segment);
    memcpy(layer->kept, d.kept, sizeof d.kept);
    return 0;
}

/* Reads the filter as a whole, and how it goes on. */
static int parse_filter(const struct head *head, const unsigned char *bytes,
                        struct tamis__outline *outline, struct tamis__refusal *refusal)
{
    outline->capacity = head->capacity;
    outline->fp_rate = tamis__double_from_bits(head->fp_rate);
    const uint32_t first = head->version >= VERSION_FROM_FIRST ? head->on_full & FROM_FIRST : 0;
    outline->policy = (struct tamis__policy){.on_full = head->on_full - first,
                                             .window_from = first != 0,
                                             .slices = head->slices,
                                             .window_ns = head->window_ns,
                                             .window_items = head->window_items,
                                             .capacity = head->filter_capacity,
                                             .fp_rate = tamis__double_from_bits(head->filter_rate)};
    if (head->version == VERSION_KEY_RULE)
        memcpy(outline->policy.key_rule,
               bytes + head_bytes_of(head) - sizeof outline->policy.key_rule,
               sizeof outline->policy.key_rule);
    if (head->capacity == 0 || head->capacity > TAMIS__SEGMENTS_MAX * TAMIS__CAPACITY_MAX ||
        !(outline->fp_rate > 0 && outline->fp_rate <= 1))
        return tamis__refuse(refusal, TAMIS_ECORRUPT, offsetof(struct head, capacity),
                             "has an impossible capacity or rate");
    const char *problem = tamis__policy_problem(&outline->policy);
    if (problem != NULL)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, offsetof(struct head, on_full), "%s",
                             problem);
    outline->exceptions = head->exceptions;
    memcpy(outline->key_digest, head->key_digest, sizeof outline->key_digest);
    if (head->exceptions > TAMIS_EXCEPTIONS_MAX)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, offsetof(struct head, exceptions),
                             "has more exceptions than a filter can have");
    return 0;
}

static bool is_fuse(const struct tamis__layer *layer)
{
    return layer->shape.fingerprint_bits != 0;
}

/* A filter of kind counting or fuse has one segment, and does not go on in another. */
static int check_alone(const struct tamis__outline *outline, struct tamis__refusal *refusal)
{
    const struct tamis__policy *policy = &outline->policy;
    bool alone = false;
    for (uint32_t i = 0; i < outline->count; i++)
        alone |= outline->layers[i].segment.counter_bits != 0 || is_fuse(&outline->layers[i]);
    const bool goes_on = policy->slices != 0 || policy->on_full == TAMIS_ON_FULL_GROW;
    if (!alone || (outline->count == 1 && !goes_on && policy->on_full != TAMIS_ON_FULL_REFUSE))
        return 0;
    return tamis__refuse(refusal, TAMIS_ECORRUPT, offsetof(struct head, segments),
                         "has counters or fingerprints in a filter that goes on in further "
                         "segments, or refuses");
}

static int check_version(const struct head *head, const struct tamis__outline *outline,
                         struct tamis__refusal *refusal)
{
    const uint32_t bits = outline->layers[0].shape.fingerprint_bits;
    const bool has_rule = outline->policy.key_rule[0] != '\0';
    const uint32_t least = outline->policy.window_from ? VERSION_FROM_FIRST
                                                       : version_of(bits, outline->exceptions > 0);
    if (head->version == (has_rule ? VERSION_KEY_RULE : least)) return 0;
    return tamis__refuse(refusal, TAMIS_ECORRUPT, offsetof(struct head, version),
                         "has version %u, but nothing that needs this version", head->version);
}

/* Checks where segment `index` stands in the list. */
static int check_slice(const struct tamis__outline *outline, uint32_t index, uint64_t at,
                       struct tamis__refusal *refusal)
{
    const struct tamis__listed_segment *s = &outline->layers[index].segment;
    const char *problem = tamis__slice_problem(&outline->policy, s->slice, s->slice_start, s->step);
    if (problem == NULL && index > 0 && s->slice < outline->layers[index - 1].segment.slice)
        problem = "has segments that are not in the order of their slices";
    if (problem == NULL) return 0;
    return tamis__refuse(refusal, TAMIS_ECORRUPT, at + offsetof(struct description, slice), "%s",
                         problem);
}

static uint64_t layer_bytes(const struct tamis__layer *layer)
{
    if (is_fuse(layer)) return tamis__data_bytes(tamis__fuse_data_bits(&layer->shape));
    return tamis__data_bytes(tamis__data_bits(layer->segment.m_bits, layer->segment.counter_bits));
}

int tamis__portable_parse(const void *bytes, size_t count, struct tamis__outline *outline,
                          struct tamis__refusal *refusal)
{
    struct head head;
    int rc = judge_head(bytes, count, &head, refusal);
    if (rc == 0) rc = parse_filter(&head, bytes, outline, refusal);
    if (rc < 0) return rc;
    outline->count = head.segments;
    outline->head_bytes = head_bytes_of(&head) + 8;
    outline->least_bytes = TAMIS__SUM_BYTES + outline->exceptions * TAMIS__STREAM_EXCEPTION_BYTES;
    for (uint32_t i = 0; i < head.segments; i++) {
        const uint64_t at = sizeof head + i * sizeof(struct description);
        rc = parse_description(bytes, at, head.version, &outline->layers[i], refusal);
        if (rc == 0) rc = check_slice(outline, i, at, refusal);
        if (rc < 0) return rc;
        const uint64_t data_bytes =
            layer_bytes(&outline->layers[i]) +
            (outline->layers[i].segment.counter_bits != 0 ? sizeof(struct outgrown) : 0);
        if (outline->least_bytes > INT64_MAX - data_bytes)
            return tamis__refuse(refusal, TAMIS_ECORRUPT, at, "has sizes whose sum overflows");
        outline->least_bytes += data_bytes;
    }
    rc = check_alone(outline, refusal);
    return rc < 0 ? rc : check_version(&head, outline, refusal);
}

/* A target that computes checksums of what passes through it. */
struct summing {
    const struct tamis__stream_target *target;
    struct tamis__sum sum;
    struct tamis__sum64 data; /* of the data of one segment */
};

static int write_summed(void *context, uint32_t index, const void *data, size_t bytes)
{
    struct summing *summing = context;
    tamis__sum_add(&summing->sum, data, bytes);
    tamis__sum64_add(&summing->data, data, bytes);
    return summing->target->write(summing->target->context, index, data, bytes);
}

/* Fingerprints must have the checksum that their build gave them: nothing in them shows damage. */
static int load_segment(struct tamis__reader *reader, struct summing *summing,
                        const struct tamis__layer *layer, uint32_t index)
{
    const struct tamis__stream_target through = {.write = write_summed, .context = summing};
    const uint64_t at = reader->offset;
    tamis__sum64_init(&summing->data);
    const int rc = tamis__load_data(reader, &through, index, layer_bytes(layer));
    if (rc < 0 || !is_fuse(layer) || tamis__sum64_finish(&summing->data) == layer->data_checksum)
        return rc;
    return tamis__reader_fail(reader, TAMIS_ECORRUPT, at,
                              "has fingerprints that do not match their checksum");
}

/* Reads the counts behind the counters of a segment. */
static int load_outgrown(struct tamis__reader *reader, struct summing *summing, uint32_t index)
{
    for (;;) {
        unsigned char *bytes;
        struct outgrown o;
        const uint64_t at = reader->offset;
        int rc = tamis__reader_take(reader, sizeof o, &bytes);
        if (rc < 0) return rc;
        tamis__sum_add(&summing->sum, bytes, sizeof o);
        memcpy(&o, bytes, sizeof o);
        if (o.owner == 0 && o.count == 0) return 0;
        const struct tamis__stream_target *target = summing->target;
        rc = o.owner == 0 ? TAMIS__NO_COUNT
                          : target->count(target->context, index, o.owner - 1, o.count);
        if (rc == TAMIS__NO_COUNT)
            return tamis__reader_fail(reader, TAMIS_ECORRUPT, at, "has an impossible count");
        if (rc < 0) return rc;
    }
}

/* Reads the exceptions, and hands them over when all of them are sound. */
static int load_exceptions(struct tamis__reader *reader, struct summing *summing, uint64_t count)
{
    struct tamis__exceptions set = {.count = 0};
    int rc = tamis__stream_load_exceptions(reader, count, &summing->sum, &set);
    if (rc == 0) rc = summing->target->except(summing->target->context, &set);
    tamis__exceptions_clear(&set);
    return rc;
}

int tamis__portable_load(struct tamis__reader *reader, const struct tamis__outline *outline,
                         const struct tamis__stream_target *target)
{
    struct summing summing = {.target = target};
    const size_t head_bytes = (size_t)(outline->head_bytes - outline->preface_bytes);
    unsigned char *bytes;
    tamis__sum_init(&summing.sum);
    int rc = tamis__reader_take(reader, head_bytes, &bytes);
    if (rc == 0) tamis__sum_add(&summing.sum, bytes, head_bytes);
    for (uint32_t i = 0; rc == 0 && i < outline->count; i++) {
        rc = load_segment(reader, &summing, &outline->layers[i], i);
        if (rc == 0 && outline->layers[i].segment.counter_bits != 0)
            rc = load_outgrown(reader, &summing, i);
    }
    if (rc == 0 && outline->exceptions > 0)
        rc = load_exceptions(reader, &summing, outline->exceptions);
    const uint64_t at = reader->offset;
    if (rc == 0) rc = tamis__reader_take(reader, sizeof reader->digest, &bytes);
    if (rc < 0) return rc;
    tamis__sum_finish(&summing.sum, reader->digest);
    if (memcmp(reader->digest, bytes, sizeof reader->digest) != 0)
        return tamis__reader_fail(reader, TAMIS_ECORRUPT, at,
                                  "is damaged (its checksum does not match)");
    return tamis__reader_finish(reader);
}

/* ---- Out ------------------------------------------------------------------------------------- */

static void describe_segment(const struct tamis__segment *segment, struct description *to)
{
    const struct tamis__segment_header *from = segment->header;
    *to = (struct description){.fp_rate = from->fp_rate,
                               .items = tamis__segment_items(segment),
                               .data_bytes = from->data_bytes,
                               .flags = from->flags & TAMIS__SEGMENT_FLAGS_KNOWN,
                               .piece_segments = from->piece_segments,
                               .segment_slots = from->segment_slots,
                               .data_checksum = from->data_checksum};
    TAMIS__SHARED_FIELDS(TAMIS__COPY_FIELD)
    memcpy(to->kept, from->kept, sizeof to->kept);
}

static int save_head(const struct tamis__cargo *cargo, struct tamis__writer *writer)
{
    unsigned char bytes[HEAD_BYTES_MAX];
    const uint32_t fingerprint_bits = cargo->segments[0]->header->fingerprint_bits;
    const bool first = cargo->policy.window_from != 0;
    const bool has_rule = cargo->policy.key_rule[0] != '\0';
    const uint32_t version =
        first ? VERSION_FROM_FIRST : version_of(fingerprint_bits, cargo->index != NULL);
    struct head head = {.version = has_rule ? VERSION_KEY_RULE : version,
                        .segments = cargo->count,
                        .capacity = cargo->capacity,
                        .fp_rate = tamis__double_to_bits(cargo->fp_rate),
                        .on_full = cargo->policy.on_full | (first ? FROM_FIRST : 0),
                        .slices = cargo->policy.slices,
                        .window_ns = cargo->policy.window_ns,
                        .window_items = cargo->policy.window_items,
                        .filter_capacity = cargo->policy.capacity,
                        .filter_rate = tamis__double_to_bits(cargo->policy.fp_rate)};
    size_t used = sizeof head;
    memcpy(head.magic, MAGIC, sizeof head.magic);
    if (head.version != VERSION_FIRST) {
        head.exceptions = cargo->index != NULL ? tamis__index_count(cargo->index) : 0;
        memcpy(head.key_digest, cargo->key_digest, sizeof head.key_digest);
    }
    memcpy(bytes, &head, sizeof head);
    for (uint32_t i = 0; i < cargo->count; i++) {
        struct description d;
        describe_segment(cargo->segments[i], &d);
        memcpy(bytes + used, &d, sizeof d);
        used += sizeof d;
    }
    if (has_rule) {
        memcpy(bytes + used, cargo->policy.key_rule, sizeof cargo->policy.key_rule);
        used += sizeof cargo->policy.key_rule;
    }
    const uint64_t checksum = tamis__checksum(bytes, used);
    memcpy(bytes + used, &checksum, sizeof checksum);
    return tamis__writer_put(writer, bytes, used + sizeof checksum);
}

static int put_outgrown(void *context, uint64_t cell, uint64_t count)
{
    const struct outgrown o = {.owner = cell + 1, .count = count};
    return tamis__writer_put(context, &o, sizeof o);
}

/* The counters come before the counts of those that have outgrown their bits.  A counter that
 * outgrows its bits in between has both, and whoever reads the stream takes the count. */
static int save_outgrown(const struct tamis__segment *segment, struct tamis__writer *writer)
{
    const struct outgrown last = {0, 0};
    const struct tamis__cells cells = tamis__cells_of(segment);
    const int rc = tamis__cells_each_marked(&cells, put_outgrown, writer);
    return rc < 0 ? rc : tamis__writer_put(writer, &last, sizeof last);
}

/* Writes the fingerprints, and does not pass on damaged ones as sound.  Of a stream in parts the
 * first part looks at all of them. */
static int save_fuse(const struct tamis__segment *segment, struct tamis__writer *writer)
{
    const struct tamis__segment_header *h = segment->header;
    const struct tamis__passage passage = {.bit_order = h->bit_order};
    struct tamis__sum64 sum;
    int rc = 0;
    tamis__sum64_init(&sum);
    for (uint64_t at = 0; rc == 0 && at < h->data_bytes; at += TAMIS__PIECE_BYTES) {
        const uint64_t left = h->data_bytes - at;
        const size_t now = left < TAMIS__PIECE_BYTES ? (size_t)left : TAMIS__PIECE_BYTES;
        if (writer->from == 0)
            tamis__sum64_add(&sum, (const unsigned char *)segment->data + at, now);
        rc = tamis__writer_data(writer, segment, &passage, at, now);
    }
    if (rc < 0 || writer->from > 0 || tamis__sum64_finish(&sum) == h->data_checksum) return rc;
    return tamis__fail(TAMIS_ECORRUPT,
                       "the filter has fingerprints that do not match their checksum; build it "
                       "anew, roll it back, or restore it from a copy");
}

static int save_segment(const struct tamis__segment *segment, struct tamis__writer *writer)
{
    const struct tamis__segment_header *h = segment->header;
    const struct tamis__passage passage = {.bit_order = h->bit_order};
    if (tamis_kind_has(h->kind, TAMIS_KIND_IS_STATIC)) return save_fuse(segment, writer);
    const int rc = tamis__writer_data(writer, segment, &passage, 0, h->data_bytes);
    return rc == 0 && h->counter_bits != 0 ? save_outgrown(segment, writer) : rc;
}

int tamis__portable_save(const struct tamis__cargo *cargo, struct tamis__writer *writer,
                         unsigned char trailer[TAMIS__SUM_BYTES])
{
    memset(trailer, 0, TAMIS__SUM_BYTES);
    tamis__sum_init(&writer->sum);
    writer->summing = !writer->partial;
    int rc = save_head(cargo, writer);
    for (uint32_t i = 0; rc == 0 && i < cargo->count; i++)
        rc = save_segment(cargo->segments[i], writer);
    if (rc == 0 && cargo->index != NULL) rc = tamis__stream_save_exceptions(cargo->index, writer);
    writer->summing = false;
    if (rc < 0) return rc;
    if (!writer->partial) tamis__sum_finish(&writer->sum, trailer);
    return tamis__writer_put(writer, trailer, TAMIS__SUM_BYTES);
}
