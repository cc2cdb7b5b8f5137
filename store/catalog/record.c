/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record.c: the catalog's values, byte by byte.
 *
 * A cursor walks the buffer; the same list of fields, in one order, serves encoding and decoding,
 * so that the two cannot drift apart.  Flag words are written as 0 and refused otherwise: a later
 * version that adds a meaning sets a bit, and this one leaves the record alone.
 */
#include "catalog/record.h"

#include "catalog/parameters.h"
#include "hash/digest.h"

/* Flag of a filter: TAMIS_FILTER_OWNED. */
#define FILTER_OWNED 1u
/* Flag of a filter: its window counts from the first add of a key. */
#define FILTER_WINDOW_FROM_FIRST 2u
/* Two bits of the flags of a filter: its enum tamis_pages. */
#define FILTER_PAGES 12u
#define FILTER_PAGES_SHIFT 2
/* Flag of a filter: it has a key rule, whose text stands behind the segments, filled up with zeros
 * to a multiple of 8 bytes. */
#define FILTER_KEY_RULE 16u
/* Never a flag of a filter: what the record says elsewhere is newer than this code. */
#define FILTER_NEWER ((uint64_t)1 << 63)
/* The version of a record with a key rule.  A library from before key rules refuses it as newer,
 * before it looks at the size of the record.  (No release has written version 2.) */
#define RECORD_UNRELEASED 2u
#define RECORD_WITH_KEY_RULE 3u
/* Flag of a segment: it is a spare. */
#define SEGMENT_SPARE 1u

static const char newer[] = "was written by a newer version of Tamis; use that version";

struct cursor {
    unsigned char *at;
    bool writing;
};

static void field_bytes(struct cursor *c, size_t offset, void *value, size_t bytes)
{
    if (c->writing)
        memcpy(c->at + offset, value, bytes);
    else
        memcpy(value, c->at + offset, bytes);
}

/* The bytes of a field in memory are its bytes in the record, whatever its type is: all hosts are
 * little-endian (base/bytes.h). */
#define FIELD(offset, bytes, place, name, meaning)                                                 \
    _Static_assert(sizeof(place) == (bytes), #name " has another size");                           \
    field_bytes(c, offset, &(place), bytes);

/* Reads or writes the 176 fixed bytes of a filter's record. */
static void record_fields(struct cursor *c, struct tamis__record *r, uint64_t *flags)
{
    uint32_t version =
        (*flags & FILTER_KEY_RULE) != 0 ? RECORD_WITH_KEY_RULE : TAMIS__RECORD_VERSION;
    TAMIS__RECORD_FIELDS(FIELD)
    c->at += TAMIS__RECORD_FIXED_BYTES;
    if (r->policy.durable > 1) *flags |= FILTER_NEWER;
}

/* Reads or writes the 184 bytes of one segment.  *own_flags: SEGMENT_SPARE or 0. */
static void segment_fields(struct cursor *c, struct tamis__listed_segment *s, uint32_t *own_flags)
{
    TAMIS__ENTRY_FIELDS(FIELD)
    c->at += TAMIS__RECORD_SEGMENT_BYTES;
}

uint64_t tamis__record_checksum(struct tamis__bytes key, const void *value, size_t bytes)
{
    /* The hash of the key is the seed of the hash of the value.  So no buffer is needed, and no
     * byte can move from key to value unseen. */
    return XXH3_64bits_withSeed(value, bytes, tamis__checksum(key.data, key.count));
}

static void close_value(struct tamis__bytes key, void *buffer, size_t bytes)
{
    const uint64_t sum = tamis__record_checksum(key, buffer, bytes);
    memcpy((unsigned char *)buffer + bytes, &sum, sizeof sum);
}

/* Checks a whole value of a known version by its trailer. */
static int check_value(struct tamis__bytes key, struct tamis__bytes value, size_t smallest,
                       uint32_t newest_version, const char **reason)
{
    const unsigned char *bytes = value.data;
    *reason = "is too short";
    if (value.count < smallest) return TAMIS_ECORRUPT;
    *reason = "does not match its checksum";
    if (tamis__record_checksum(key, bytes, value.count - 8) !=
        tamis__get64(bytes + value.count - 8))
        return TAMIS_ECORRUPT;
    *reason = newer;
    const uint32_t version = tamis__get32(bytes);
    return version != 0 && version <= newest_version ? 0 : TAMIS_EVERSION;
}

/* The bytes of a key rule in a record. */
static size_t key_rule_bytes(const char *key_rule)
{
    return (strlen(key_rule) + 7) / 8 * 8;
}

size_t tamis__record_encode(const struct tamis__record *record, struct tamis__bytes key,
                            void *buffer)
{
    struct tamis__record copy; /* the list of fields takes what it could also write to */
    struct cursor c = {.at = buffer, .writing = true};
    uint64_t flags = (record->owned ? FILTER_OWNED : 0) |
                     (record->policy.window_from ? FILTER_WINDOW_FROM_FIRST : 0) |
                     (record->policy.key_rule[0] != '\0' ? FILTER_KEY_RULE : 0) |
                     (uint64_t)record->policy.pages << FILTER_PAGES_SHIFT;
    memcpy(&copy, record,
           offsetof(struct tamis__record, segments) +
               (record->segment_count + record->spare_count) * sizeof record->segments[0]);
    copy.segment_count += copy.spare_count;
    record_fields(&c, &copy, &flags);
    for (uint32_t i = 0; i < copy.segment_count; i++) {
        uint32_t own_flags = i < record->segment_count ? 0 : SEGMENT_SPARE;
        segment_fields(&c, &copy.segments[i], &own_flags);
    }
    const size_t rule_bytes = key_rule_bytes(copy.policy.key_rule);
    field_bytes(&c, 0, copy.policy.key_rule, rule_bytes);
    const size_t bytes = (size_t)(c.at - (unsigned char *)buffer) + rule_bytes;
    close_value(key, buffer, bytes);
    return bytes + 8;
}

/* Other code computes with these fields, also in tamis list, which opens no segment. */
const char *tamis__record_problem(const struct tamis__record *r)
{
    if (r->segment_count == 0 || r->segment_count > TAMIS__SEGMENTS_MAX ||
        r->spare_count > TAMIS__SEGMENTS_MAX - r->segment_count)
        return "has an impossible number of segments";
    const char *problem = tamis__policy_problem(&r->policy);
    if (problem != NULL) return problem;
    if (r->capacity == 0 || r->capacity > TAMIS__SEGMENTS_MAX * TAMIS__CAPACITY_MAX ||
        !(r->fp_rate > 0 && r->fp_rate <= 1))
        return "has an impossible capacity or rate";
    if (r->keep > TAMIS_KEEP_MAX || r->generation > r->last_generation ||
        (r->exceptions == 0 && r->exception_count != 0))
        return "has impossible generations or exceptions";
    for (uint32_t i = 0; i < r->segment_count + r->spare_count; i++) {
        const struct tamis__listed_segment *s = &r->segments[i];
        problem = tamis__slice_problem(&r->policy, s->slice, s->slice_start, s->step);
        if (problem != NULL) return problem;
        if (s->capacity == 0 || s->capacity > TAMIS__CAPACITY_MAX ||
            !(s->fp_rate > 0 && s->fp_rate <= 1) || s->items > TAMIS__CAPACITY_MAX)
            return "has a segment of an impossible capacity, rate or number of items";
        if (i > 0 && s->slice < r->segments[i - 1].slice)
            return "has segments that are not in the order of their slices";
    }
    return NULL;
}

int tamis__record_decode(struct tamis__bytes key, struct tamis__bytes value,
                         struct tamis__record *record, const char **reason)
{
    int rc = check_value(key, value, sizeof(uint64_t) * 3, RECORD_WITH_KEY_RULE, reason);
    if (rc < 0) return rc;
    const uint32_t version = tamis__get32(value.data);
    if (version == RECORD_UNRELEASED) return TAMIS_EVERSION;
    *reason = "is too short";
    if (value.count < TAMIS__RECORD_FIXED_BYTES + 8) return TAMIS_ECORRUPT;
    struct cursor c = {.at = (unsigned char *)(uintptr_t)value.data, .writing = false};
    uint64_t flags = 0;
    record_fields(&c, record, &flags);
    record->owned = (flags & FILTER_OWNED) != 0;
    record->policy.window_from = (flags & FILTER_WINDOW_FROM_FIRST) != 0;
    record->policy.pages = (uint32_t)(flags & FILTER_PAGES) >> FILTER_PAGES_SHIFT;
    const bool has_rule = (flags & FILTER_KEY_RULE) != 0;
    flags &= ~(uint64_t)(FILTER_OWNED | FILTER_WINDOW_FROM_FIRST | FILTER_PAGES | FILTER_KEY_RULE);
    if (record->policy.pages > TAMIS_PAGES_HUGE) flags |= FILTER_NEWER;
    *reason = "has an impossible number of segments";
    const size_t most =
        TAMIS__RECORD_FIXED_BYTES + 8 + (size_t)record->segment_count * TAMIS__RECORD_SEGMENT_BYTES;
    if (record->segment_count == 0 || record->segment_count > TAMIS__SEGMENTS_MAX ||
        value.count < most)
        return TAMIS_ECORRUPT;
    const size_t rule_bytes = value.count - most;
    if (has_rule != (version == RECORD_WITH_KEY_RULE)) return TAMIS_ECORRUPT;
    if (has_rule ? rule_bytes == 0 || rule_bytes > sizeof record->policy.key_rule : rule_bytes != 0)
        return TAMIS_ECORRUPT;
    uint32_t spares = 0;
    bool mixed = false;
    for (uint32_t i = 0; i < record->segment_count; i++) {
        uint32_t own_flags = 0;
        segment_fields(&c, &record->segments[i], &own_flags);
        flags |= own_flags & ~SEGMENT_SPARE;
        mixed |= spares > 0 && own_flags == 0;
        spares += own_flags == SEGMENT_SPARE;
    }
    memset(record->policy.key_rule, 0, sizeof record->policy.key_rule);
    field_bytes(&c, 0, record->policy.key_rule, rule_bytes);
    *reason = newer;
    if (flags != 0) return TAMIS_EVERSION; /* the bytes below may mean something else there */
    *reason = "has spare segments in impossible places";
    if (mixed || spares == record->segment_count) return TAMIS_ECORRUPT;
    record->segment_count -= spares;
    record->spare_count = spares;
    const char *problem = tamis__record_problem(record);
    if (problem == NULL && key_rule_bytes(record->policy.key_rule) != rule_bytes)
        problem = "has a key rule that is no text";
    if (problem == NULL) return 0;
    *reason = problem;
    return TAMIS_ECORRUPT;
}

static void store_fields(struct cursor *c, struct tamis__store_record *r)
{
    uint32_t version = TAMIS__RECORD_VERSION;
    TAMIS__STORE_FIELDS(FIELD)
}

void tamis__store_record_encode(const struct tamis__store_record *record, struct tamis__bytes key,
                                void *buffer)
{
    struct tamis__store_record copy = *record;
    struct cursor c = {.at = buffer, .writing = true};
    store_fields(&c, &copy);
    close_value(key, buffer, TAMIS__STORE_RECORD_BYTES - 8);
}

bool tamis__store_record_is_readable(const struct tamis__store_record *record)
{
    return record->format <= TAMIS__STORE_FORMAT_NEWEST;
}

int tamis__store_record_decode(struct tamis__bytes key, struct tamis__bytes value,
                               struct tamis__store_record *record, const char **reason)
{
    int rc = check_value(key, value, TAMIS__STORE_RECORD_BYTES, TAMIS__RECORD_VERSION, reason);
    if (rc < 0) return rc;
    struct cursor c = {.at = (unsigned char *)(uintptr_t)value.data, .writing = false};
    store_fields(&c, record);
    record->zero = 0;
    record->passed = 0;
    *reason = newer;
    return tamis__store_record_is_readable(record) ? 0 : TAMIS_EVERSION;
}

void tamis__listed_segment_from_header(const struct tamis__segment_header *from,
                                       struct tamis__listed_segment *to)
{
    *to = (struct tamis__listed_segment){
        .number = from->number,
        .fp_rate = tamis__double_from_bits(from->fp_rate),
        .file_bytes = from->file_bytes,
    };
    TAMIS__SHARED_FIELDS(TAMIS__COPY_FIELD)
}

void tamis__record_sum_capacity(struct tamis__record *record)
{
    const uint32_t newest = record->segment_count - 1;
    if (record->policy.on_full != TAMIS_ON_FULL_GROW || newest == 0) return;
    record->capacity = record->segments[newest].capacity;
    for (uint32_t i = 0; i < newest; i++)
        record->capacity += record->segments[i].items;
}

uint64_t tamis__record_bytes(const struct tamis__record *record)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < record->segment_count; i++)
        bytes += record->segments[i].file_bytes;
    return bytes;
}

const char *tamis__record_contradiction(const struct tamis__listed_segment *segment,
                                        const struct tamis__segment_header *header)
{
    struct tamis__listed_segment h;
    tamis__listed_segment_from_header(header, &h);
    const struct tamis__parameter *p =
        tamis__first_difference(tamis__segment_parameters, TAMIS__IN_HEADER, &h, segment);
    return p != NULL ? p->name : NULL;
}

const char *tamis__record_policy_contradiction(const struct tamis__policy *policy,
                                               const struct tamis__segment_header *header)
{
    const struct tamis__policy h = tamis__header_policy(header);
    const struct tamis__parameter *p =
        tamis__first_difference(tamis__policy_parameters, TAMIS__IN_HEADER, &h, policy);
    return p != NULL ? p->name : NULL;
}

bool tamis__store_record_is_newer(const struct tamis__store_record *record, uint64_t number)
{
    return number >= record->next_segment || (record->passed != 0 && number >= record->passed);
}
