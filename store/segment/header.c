/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * header.c: makes and checks segment headers.
 *
 * A header is checked in the order of what can be trusted: first the magic, then version and flags
 * (so that a newer file is called newer and not damaged), then the checksum, then that the fields
 * agree with each other and with the layout.  After that no field can lead outside the file.
 */
#include "segment/header.h"

#include <stdarg.h>

#include "hash/digester.h"

int tamis__refuse(struct tamis__refusal *refusal, int code, uint64_t offset, const char *format,
                  ...)
{
    va_list arguments;
    refusal->offset = offset;
    va_start(arguments, format);
    (void)vsnprintf(refusal->reason, sizeof refusal->reason, format, arguments);
    va_end(arguments);
    return code;
}

#define FIELD(field) offsetof(struct tamis__segment_header, field)

static uint64_t constant_checksum(const struct tamis__segment_header *header)
{
    return tamis__checksum(header, FIELD(checksum));
}

void tamis__header_seal(struct tamis__segment_header *header)
{
    header->checksum = constant_checksum(header);
}

void tamis__header_copy(struct tamis__segment_header *to, const struct tamis__segment_header *from)
{
    const bool one_page = tamis__header_is_one_page(from);
    memcpy(to, from, one_page ? TAMIS__ONE_PAGE_HEADER_BYTES : sizeof *from);
    if (one_page)
        memcpy((char *)to + TAMIS__ONE_PAGE_END, (const char *)from + TAMIS__ONE_PAGE_END, 8);
}

void tamis__header_set_layout(struct tamis__segment_header *header,
                              const struct tamis__layout *layout)
{
    const bool one_page = layout->data_offset == TAMIS__ONE_PAGE_HEADER_BYTES;
    if (one_page) {
        header->incompat_flags |= TAMIS__INCOMPAT_ONE_PAGE;
        memcpy((char *)header + TAMIS__ONE_PAGE_END, TAMIS__SEGMENT_MAGIC, 8);
    }
    header->header_bytes = one_page ? TAMIS__ONE_PAGE_HEADER_BYTES : TAMIS__HEADER_BYTES;
    header->stripes = tamis__header_stripes(header);
    header->data_offset = layout->data_offset;
    header->data_bytes = layout->data_bytes;
    header->file_bytes = layout->file_bytes;
}

static uint64_t attachment_checksum(const struct tamis__attachment *attachment)
{
    return tamis__checksum(attachment, offsetof(struct tamis__attachment, checksum));
}

void tamis__attachment_set(struct tamis__attachment *attachment, const void *data, size_t bytes)
{
    *attachment = (struct tamis__attachment){.bytes = (uint32_t)bytes};
    memcpy(attachment->data, data, bytes);
    attachment->checksum = attachment_checksum(attachment);
}

bool tamis__attachment_is_whole(const struct tamis__attachment *attachment)
{
    static const struct tamis__attachment none;
    if (memcmp(attachment, &none, sizeof none) == 0) return true;
    return attachment->bytes <= TAMIS__ATTACHMENT_BYTES &&
           attachment->signer_bytes <= TAMIS__ATTACHMENT_BYTES - attachment->bytes &&
           attachment->checksum == attachment_checksum(attachment);
}

/* How many bytes of the text are in `room`, without a part of a character of UTF-8 at the end. */
static size_t text_that_fits(const char *text, size_t room)
{
    size_t bytes = strlen(text);
    if (bytes <= room) return bytes;
    for (bytes = room; bytes > 0 && ((uint8_t)text[bytes] & 0xc0) == 0x80;)
        bytes--;
    return bytes;
}

void tamis__attachment_sign(struct tamis__attachment *attachment, const char *by,
                            const char *comment)
{
    uint8_t *at = attachment->data + attachment->bytes;
    const size_t room = TAMIS__ATTACHMENT_BYTES - attachment->bytes;
    const size_t by_bytes = text_that_fits(by, TAMIS_SIGNED_BY_BYTES - 1);
    if (room < by_bytes + 1) return;
    const size_t left = room - by_bytes - 1, most = TAMIS_SIGNED_COMMENT_BYTES - 1;
    const size_t comment_bytes = text_that_fits(comment, left < most ? left : most);
    memcpy(at, by, by_bytes); /* the NUL is there */
    memcpy(at + by_bytes + 1, comment, comment_bytes);
    attachment->signer_bytes = (uint32_t)(by_bytes + 1 + comment_bytes);
    attachment->checksum = attachment_checksum(attachment);
}

void tamis__attachment_signer(const struct tamis__attachment *attachment,
                              char by[TAMIS_SIGNED_BY_BYTES],
                              char comment[TAMIS_SIGNED_COMMENT_BYTES])
{
    const struct tamis__attachment own = *attachment; /* others may change the file */
    by[0] = comment[0] = '\0';
    if (own.signer_bytes == 0 || !tamis__attachment_is_whole(&own)) return;
    const char *at = (const char *)own.data + own.bytes;
    const char *nul = memchr(at, '\0', own.signer_bytes);
    if (nul == NULL) return;
    const size_t by_bytes = (size_t)(nul - at), comment_bytes = own.signer_bytes - by_bytes - 1;
    if (by_bytes >= TAMIS_SIGNED_BY_BYTES || comment_bytes >= TAMIS_SIGNED_COMMENT_BYTES) return;
    memcpy(by, at, by_bytes + 1);
    memcpy(comment, nul + 1, comment_bytes);
    comment[comment_bytes] = '\0';
}

uint64_t tamis__header_file_bytes(const struct tamis__segment_header *h)
{
    if (h->counter_bits == 0) return h->file_bytes;
    const uint32_t most = tamis__overflow_levels_max(h->m_bits);
    return h->file_bytes +
           tamis__overflow_bytes(h->m_bits, tamis__overflow_levels_of(&h->live, most));
}

uint64_t tamis__header_file_bytes_max(const struct tamis__segment_header *h)
{
    if (h->counter_bits == 0) return h->file_bytes;
    return h->file_bytes + tamis__overflow_bytes(h->m_bits, tamis__overflow_levels_max(h->m_bits));
}

static int check_header_counters(const struct tamis__segment_header *h, struct tamis__refusal *why)
{
    if (h->counter_bits == 0) return 0;
    if (!tamis__counter_bits_are_valid(h->counter_bits))
        return tamis__refuse(why, TAMIS_EVERSION, FIELD(counter_bits), "has counters of %u bit%s",
                             h->counter_bits, tamis__plural(h->counter_bits));
    if (h->m_bits > TAMIS__COUNTERS_MAX)
        return tamis__refuse(why, TAMIS_ECORRUPT, FIELD(m_bits),
                             "has an impossible m of %llu counters", (unsigned long long)h->m_bits);
    if (h->live.overflow_levels > tamis__overflow_levels_max(h->m_bits))
        return tamis__refuse(why, TAMIS_ECORRUPT, FIELD(live.overflow_levels),
                             "has %llu level%s of overflow, which nothing could fill",
                             (unsigned long long)h->live.overflow_levels,
                             tamis__plural(h->live.overflow_levels));
    return 0;
}

/* A file may be longer than its levels need: its maker may have died before the new level
 * was in force. */
static int check_size(const struct tamis__segment_header *h, uint64_t file_bytes,
                      struct tamis__refusal *why)
{
    const uint64_t least = tamis__header_file_bytes(h), most = tamis__header_file_bytes_max(h);
    if (file_bytes >= least && file_bytes <= most) return 0;
    return tamis__refuse(why, TAMIS_ECORRUPT, file_bytes < least ? file_bytes : most,
                         "is %s: %llu byte%s where its header says %llu",
                         file_bytes < least ? "truncated" : "too long",
                         (unsigned long long)file_bytes, tamis__plural(file_bytes),
                         (unsigned long long)(file_bytes < least ? least : most));
}

/* The bytes of the key rule from `at` on, and how many are together there.  In a file of one page
 * the stripes have no room for all of it; the rest is where removers have no locks. */
static const char *key_rule_part(const struct tamis__segment_header *header, size_t at,
                                 size_t *bytes)
{
    const size_t part = sizeof header->items[0].key_rule;
    const size_t in_stripes = part * tamis__header_stripes(header);
    const size_t left = TAMIS__KEY_RULE_TEXT_BYTES - at;
    if (at >= in_stripes) {
        *bytes = left;
        return (const char *)&header->block_locks[TAMIS__ONE_PAGE_BLOCK_LOCKS] + at - in_stripes;
    }
    *bytes = left < part ? left : part;
    return header->items[at / part].key_rule;
}
_Static_assert(TAMIS__ONE_PAGE_STRIPES * sizeof((struct tamis__stripe){0}.key_rule) +
                       (TAMIS__BLOCK_LOCKS - TAMIS__ONE_PAGE_BLOCK_LOCKS) * sizeof(uint64_t) >=
                   TAMIS__KEY_RULE_TEXT_BYTES,
               "a key rule fits a header of one page");

/* Puts the parts of the key rule together. */
static void key_rule_of(const struct tamis__segment_header *header,
                        char text[TAMIS__KEY_RULE_TEXT_BYTES])
{
    for (size_t at = 0, bytes; at < TAMIS__KEY_RULE_TEXT_BYTES; at += bytes) {
        const char *part = key_rule_part(header, at, &bytes);
        memcpy(text + at, part, bytes);
    }
}

/* Never 0 for a rule. */
static uint32_t key_rule_sum(const char *text)
{
    return text[0] != '\0' ? (uint32_t)tamis__checksum(text, strlen(text)) | 1u : 0;
}

void tamis__header_set_key_rule(struct tamis__segment_header *header, const char *key_rule)
{
    const size_t bytes = strlen(key_rule);
    header->key_rule_sum = key_rule_sum(key_rule);
    if (bytes > 0) header->incompat_flags |= TAMIS__INCOMPAT_KEY_RULE;
    for (size_t at = 0, part; at < bytes; at += part) {
        char *to = (char *)(uintptr_t)key_rule_part(header, at, &part);
        memcpy(to, key_rule + at, bytes - at < part ? bytes - at : part);
    }
}

static int check_key_rule(const struct tamis__segment_header *h, struct tamis__refusal *why)
{
    char text[TAMIS__KEY_RULE_TEXT_BYTES] = "";
    if ((h->incompat_flags & TAMIS__INCOMPAT_KEY_RULE) == 0) return 0;
    key_rule_of(h, text);
    if (tamis__key_rule_is_text(text) && text[0] != '\0' && key_rule_sum(text) == h->key_rule_sum)
        return 0;
    return tamis__refuse(why, TAMIS_ECORRUPT, FIELD(key_rule_sum),
                         "has a damaged key rule (its checksum does not match)");
}

struct tamis__policy tamis__header_policy(const struct tamis__segment_header *header)
{
    struct tamis__policy policy = {.on_full = header->on_full,
                                   .slices = header->slices,
                                   .window_ns = header->window_ns,
                                   .window_items = header->window_items,
                                   .capacity = header->filter_capacity,
                                   .fp_rate = tamis__double_from_bits(header->filter_rate),
                                   .durable = header->durable,
                                   .window_from = header->window_from};
    if ((header->incompat_flags & TAMIS__INCOMPAT_KEY_RULE) != 0)
        key_rule_of(header, policy.key_rule);
    return policy;
}

/* Is this a window that tamis_filter_create() would make? */
static bool is_window(const struct tamis__policy *p)
{
    if (p->window_ns == 0 && p->window_items == 0) return p->slices == 0;
    if (p->window_ns != 0 && p->window_items != 0) return false;
    if (p->slices == 0 || p->slices > TAMIS_SLICES_MAX) return false;
    if (p->window_items != 0) return p->window_items <= TAMIS__CAPACITY_MAX;
    return p->window_ns / p->slices >= TAMIS_SLICE_NS_MIN && p->window_ns <= TAMIS_WINDOW_NS_MAX;
}

const char *tamis__policy_problem(const struct tamis__policy *policy)
{
    if (policy->on_full > TAMIS_ON_FULL_WARN) return "has an unknown policy for when it is full";
    if (policy->capacity == 0 || policy->capacity > TAMIS__CAPACITY_MAX ||
        !(policy->fp_rate > 0 && policy->fp_rate <= 1))
        return "is of a filter made for an impossible capacity or rate";
    if (policy->durable > 1) return "is durable in a way that this library does not know";
    if (!tamis__key_rule_is_text(policy->key_rule)) return "has a key rule that is no text";
    if (policy->window_from > 1) return "has a window that this library does not know";
    if (policy->window_from != 0 && policy->slices == 0) return "has no window for its window-from";
    return is_window(policy) ? NULL : "has an impossible window";
}

const char *tamis__slice_problem(const struct tamis__policy *policy, uint64_t slice,
                                 int64_t slice_start, uint32_t step)
{
    if (step > TAMIS__STEP_MAX) return "has an impossible step of growth";
    if (policy->slices == 0)
        return slice == 0 && slice_start == 0 ? NULL : "has a slice of a window that there is not";
    /* A slice ends one slice's length after its start, and is forgotten one window later. */
    const int64_t last = INT64_MAX - policy->window_ns - policy->window_ns / policy->slices;
    if (slice > TAMIS__SLICE_MAX || slice_start < 0 || slice_start > last)
        return "has an impossible slice";
    return NULL;
}

static int check_policy(const struct tamis__segment_header *h, struct tamis__refusal *why)
{
    const struct tamis__policy policy = tamis__header_policy(h);
    const char *problem = tamis__policy_problem(&policy);
    if (problem != NULL)
        return tamis__refuse(why, TAMIS_ECORRUPT, FIELD(filter_capacity), "%s", problem);
    problem = tamis__slice_problem(&policy, h->slice, h->slice_start, h->step);
    if (problem != NULL) return tamis__refuse(why, TAMIS_ECORRUPT, FIELD(slice), "%s", problem);
    return 0;
}

/* Where are the data?  The kind knows how many bytes the m bits take. */
static int check_layout(const struct tamis__segment_header *h, struct tamis__refusal *why)
{
    const bool one_page = tamis__header_is_one_page(h);
    const uint64_t header_bytes = one_page ? TAMIS__ONE_PAGE_HEADER_BYTES : TAMIS__HEADER_BYTES;
    if (h->header_bytes != header_bytes || h->stripes != tamis__header_stripes(h))
        return tamis__refuse(why, TAMIS_ECORRUPT, FIELD(header_bytes),
                             "has a header of another shape");
    const bool placed =
        one_page ? h->data_offset == header_bytes && h->file_bytes == TAMIS__HEADER_BYTES &&
                       h->data_bytes <= TAMIS__ONE_PAGE_DATA_MAX
                 : h->data_offset >= header_bytes && h->data_offset % TAMIS__FILE_UNIT == 0 &&
                       h->file_bytes <= INT64_MAX && h->data_offset <= h->file_bytes &&
                       h->data_bytes <= h->file_bytes - h->data_offset;
    if (placed && h->data_bytes != 0 && h->data_bytes % 8 == 0) return 0;
    return tamis__refuse(why, TAMIS_ECORRUPT, FIELD(data_offset), "has an impossible layout");
}

static const uint64_t *end_word(const struct tamis__segment_header *header)
{
    return (const uint64_t *)(const void *)((const char *)header + TAMIS__ONE_PAGE_END);
}

static int check_end(const struct tamis__segment_header *h, struct tamis__refusal *why)
{
    if (!tamis__header_is_one_page(h) || *end_word(h) == TAMIS__MAGIC_WORD) return 0;
    return tamis__refuse(why, TAMIS_ECORRUPT, TAMIS__ONE_PAGE_END,
                         "is truncated or overwritten: its last word is gone");
}

/* Checks the fields that must follow from each other. */
static int check_fields(const struct tamis__segment_header *h, uint64_t file_bytes,
                        struct tamis__refusal *why)
{
    int rc = check_layout(h, why);
    if (rc < 0) return rc;
    if (h->m_bits == 0 || h->m_bits > TAMIS__M_BITS_MAX)
        return tamis__refuse(why, TAMIS_ECORRUPT, FIELD(m_bits), "has an impossible m of %llu bits",
                             (unsigned long long)h->m_bits);
    if (h->k == 0 || h->k > TAMIS_K_MAX)
        return tamis__refuse(why, TAMIS_ECORRUPT, FIELD(k), "has an impossible k of %u", h->k);
    if (h->bit_order != TAMIS__BITS_LSB_FIRST && h->bit_order != TAMIS__BITS_MSB_FIRST)
        return tamis__refuse(why, TAMIS_EVERSION, FIELD(bit_order), "has an unknown bit order");
    const double fp_rate = tamis__double_from_bits(h->fp_rate);
    if (h->capacity == 0 || h->capacity > TAMIS__CAPACITY_MAX || !(fp_rate > 0 && fp_rate <= 1))
        return tamis__refuse(why, TAMIS_ECORRUPT, FIELD(capacity),
                             "has an impossible capacity or rate");
    rc = check_header_counters(h, why);
    if (rc == 0) rc = check_key_rule(h, why);
    if (rc == 0) rc = check_size(h, file_bytes, why);
    if (rc == 0) rc = check_end(h, why);
    return rc < 0 ? rc : check_policy(h, why);
}

/* A flag that says something of one kind is unknown of the others. */
static uint32_t known_flags(uint32_t kind)
{
    return TAMIS__INCOMPAT_KEY_RULE | (TAMIS__FORMAT_KNOWN >= 2 ? TAMIS__INCOMPAT_ONE_PAGE : 0) |
           (tamis_kind_has(kind, TAMIS_KIND_IS_STATIC) ? TAMIS__INCOMPAT_PACKED : 0);
}

int tamis__header_check(const void *buffer, size_t bytes, uint64_t file_bytes,
                        struct tamis__refusal *refusal)
{
    struct tamis__segment_header h;
    if (bytes < sizeof h.magic || memcmp(buffer, TAMIS__SEGMENT_MAGIC, sizeof h.magic) != 0)
        return tamis__refuse(refusal, TAMIS_EFOREIGN, 0,
                             "is not a segment of Tamis (wrong first bytes)");
    if (bytes < sizeof h)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, bytes, "is truncated inside its header");
    memcpy(&h, buffer, sizeof h);
    if (h.format_version > TAMIS__FORMAT_VERSION)
        return tamis__refuse(
            refusal, TAMIS_EVERSION, FIELD(format_version),
            "has format version %u, this library reads up to %u; use a newer Tamis",
            h.format_version, TAMIS__FORMAT_VERSION);
    const uint32_t unknown = h.incompat_flags & ~known_flags(h.kind);
    if (unknown != 0)
        return tamis__refuse(
            refusal, TAMIS_EVERSION, FIELD(incompat_flags),
            "uses features (flags %#x) that this library does not have; use a newer Tamis",
            unknown);
    if (h.checksum != constant_checksum(&h) || h.format_version == 0)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, FIELD(checksum),
                             "has a damaged header (its checksum does not match)");
    return check_fields(&h, file_bytes, refusal);
}

struct tamis__digester tamis__header_digester(const struct tamis__segment_header *header)
{
    if (header->hash_set == TAMIS__HASH_XXH3)
        return (struct tamis__digester){.other = NULL, .seed = header->seed};
    if (header->hash_set == TAMIS__HASH_SIP)
        return (struct tamis__digester){.other = tamis__digest_sip, .secret = header->parameters};
    return (struct tamis__digester){.other = tamis__hash_set_by_id(header->hash_set)->pair,
                                    .secret = NULL};
}

struct tamis__hashing tamis__header_hashing(const struct tamis__segment_header *header)
{
    return (struct tamis__hashing){.set = tamis__hash_set_by_id(header->hash_set),
                                   .parameters = header->parameters,
                                   .seed = header->seed,
                                   .m_bits = header->m_bits,
                                   .k = header->k};
}

void tamis__header_set_items(struct tamis__segment_header *header, uint64_t items)
{
    const uint32_t stripes = tamis__header_stripes(header);
    for (uint64_t i = 0; i < stripes; i++) {
        header->items[i].items = items / stripes + (i < items % stripes);
        header->items[i].quota = header->items[i].items;
    }
    header->live.granted = items;
}

uint64_t tamis__stripes_sum(const uint64_t *stripes, uint32_t count, bool counting)
{
    uint64_t above = 0, below = 0;
    for (size_t i = 0; i < count; i++) {
        /* A counter with a greater value is damaged.  It counts as this value, so that no sum
         * overflows. */
        const uint64_t most = TAMIS__CAPACITY_MAX / count;
        const bool negative = counting && stripes[i] >> 63 != 0;
        const uint64_t size = negative ? 0 - stripes[i] : stripes[i];
        *(negative ? &below : &above) += size < most ? size : most;
    }
    return above > below ? above - below : 0;
}

uint64_t tamis__header_items(const struct tamis__segment_header *header)
{
    uint64_t items[TAMIS__STRIPES];
    const uint32_t stripes = tamis__header_stripes(header);
    for (uint32_t i = 0; i < stripes; i++)
        /* ORDER relaxed: adders count meanwhile, and the sum is of about now. */
        items[i] = __atomic_load_n(&header->items[i].items, __ATOMIC_RELAXED);
    return tamis__stripes_sum(items, stripes, header->counter_bits != 0);
}

void tamis__label_write(struct tamis__name_label *label, uint64_t sequence, const char *name)
{
    const size_t bytes = strlen(name);
    memset(label, 0, sizeof *label);
    label->sequence = sequence;
    label->bytes = (uint32_t)bytes;
    memcpy(label->name, name, bytes);
    label->checksum = tamis__checksum(label, offsetof(struct tamis__name_label, checksum));
}

static int label_is_whole(const struct tamis__name_label *label)
{
    return label->sequence != 0 && label->bytes > 0 && label->bytes <= TAMIS_NAME_MAX &&
           label->name[label->bytes] == '\0' &&
           label->checksum == tamis__checksum(label, offsetof(struct tamis__name_label, checksum));
}

const struct tamis__name_label *tamis__label_current(const struct tamis__segment_header *header)
{
    const struct tamis__name_label *best = NULL;
    for (size_t i = 0; i < 2; i++) {
        const struct tamis__name_label *label = &header->labels[i];
        if (label_is_whole(label) && (best == NULL || label->sequence > best->sequence))
            best = label;
    }
    return best;
}
