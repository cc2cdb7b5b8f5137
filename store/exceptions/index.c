/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * index.c: the index of exceptions, keys that must answer "absent" whatever the bits say.  It is a
 * mapped file; a query looks into it when the bits say "present".
 *
 *     data:   head (64)  |  slots, 8 bytes each  |  records
 *     slot:   24 bits of the key's hash, then 40 bits: 1 + place of its record in units of 8 bytes;
 *             0: free
 *     record: u64 generation, u32 bytes, key, zeros up to a multiple of 8; in order of the keys
 *
 * The slots are open addressing with linear probing from the low bits of XXH3-64(key); at least
 * half of them are free.  A key that is no exception, as nearly every key, costs one cache line:
 * eight slots lie in it, and only one key in 16 million is sent on to a record that is not its own.
 *
 * The file may hold anything.  What the head says is compared with the length of the data when the
 * file is mapped, and what a slot and a record say each time that they are followed.  So opening
 * needs no pass over the data.
 */
#include "exceptions/index.h"

#include "hash/digest.h"

#define SLOTS_MIN 8u
#define TAG_SHIFT 40
#define PLACE_MASK (((uint64_t)1 << TAG_SHIFT) - 1)
#define RECORD_FIXED 12u
#define RECORD_BYTES_MIN 16u
#define AT_ONCE 64u /* keys whose cache lines are fetched together */

/* No other file has the exceptions. */

/* An index of up to this many bytes is compared with its checksum at each open.  That takes 20 us,
 * less than a reader would notice. */
#define CHECKED_AT_OPEN ((uint64_t)256 << 10)

/* The parts of the data of an index. */
struct parts {
    const struct tamis__index_head *head;
    const uint64_t *slots;
    const uint8_t *records;
    uint64_t slot_count; /* read once: the page of the head may go (os/guard.h) */
    uint64_t records_bytes;
};

struct record {
    uint64_t generation;
    const uint8_t *key;
    uint32_t bytes;
};

/* Returns no slots and no records if the head says more than there is: a query
 * then finds nothing. */
static struct parts parts_of_index(const struct tamis__segment *index)
{
    const struct tamis__index_head *head = (const void *)index->data;
    const uint64_t left = index->header->data_bytes - sizeof *head;
    struct parts p = {.head = head, .slots = index->data + sizeof *head / 8};
    p.slot_count = __atomic_load_n(&head->slots, __ATOMIC_RELAXED);
    if (p.slot_count > left / 8) p.slot_count = 0;
    p.records = (const uint8_t *)(p.slots + p.slot_count);
    p.records_bytes = p.slot_count > 0 ? left - 8 * p.slot_count : 0;
    return p;
}

static uint64_t record_bytes(uint64_t key_bytes)
{
    return (RECORD_FIXED + key_bytes + 7) / 8 * 8;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static uint64_t slots_for(uint64_t count)
{
    uint64_t slots = SLOTS_MIN;
    while (slots < 2 * count)
        slots *= 2;
    return slots;
}

static uint64_t all_record_bytes(const struct tamis__exceptions *set)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < set->count; i++)
        bytes += record_bytes(set->entries[i].bytes);
    return bytes;
}

uint64_t tamis__index_bytes(const struct tamis__exceptions *set)
{
    return sizeof(struct tamis__index_head) + 8 * slots_for(set->count) + all_record_bytes(set);
}

void tamis__index_encode(const struct tamis__exceptions *set, void *data)
{
    const struct tamis__index_head head = {.count = set->count,
                                           .slots = slots_for(set->count),
                                           .records_bytes = all_record_bytes(set),
                                           .found = tamis__exceptions_count_found(set)};
    uint64_t *slots = (uint64_t *)data + sizeof head / 8;
    uint8_t *record = (uint8_t *)(slots + head.slots);
    uint64_t place = 1;
    memcpy(data, &head, sizeof head);
    memset(slots, 0, head.slots * 8);
    for (size_t i = 0; i < set->count; i++) {
        const struct tamis__exception *entry = &set->entries[i];
        const uint64_t hash = tamis__checksum(entry->key, entry->bytes);
        const uint64_t bytes = record_bytes(entry->bytes);
        uint64_t slot = hash & (head.slots - 1);
        memset(record + bytes - 8, 0, 8);
        memcpy(record, &entry->generation, 8);
        memcpy(record + 8, &entry->bytes, 4);
        if (entry->bytes > 0) memcpy(record + RECORD_FIXED, entry->key, entry->bytes);
        while (slots[slot] != 0)
            slot = (slot + 1) & (head.slots - 1);
        slots[slot] = hash >> TAG_SHIFT << TAG_SHIFT | place;
        place += bytes / 8;
        record += bytes;
    }
}

/* ---- Checking -------------------------------------------------------------------------------- */

static int check_header(const struct tamis__segment_header *h, const char **reason)
{
    *reason = "is no index of exceptions";
    if (h->kind != TAMIS__KIND_EXCEPTIONS) return TAMIS_ECORRUPT;
    *reason = "has fields that an index of exceptions cannot have";
    if (h->m_bits % 64 != 0 || h->data_bytes != h->m_bits / 8 || h->k != 1 || h->words != 0 ||
        h->counter_bits != 0 || h->fingerprint_bits != 0 || h->pieces != 0 || h->bit_order != 0 ||
        h->hash_set != TAMIS__HASH_XXH3 || h->seed != 0)
        return TAMIS_ECORRUPT;
    return 0;
}

static bool head_is_sound(const struct tamis__index_head *head,
                          const struct tamis__segment_header *h)
{
    const uint64_t left = h->data_bytes - sizeof *head;
    if (head->slots < SLOTS_MIN || (head->slots & (head->slots - 1)) != 0) return false;
    if (head->slots > left / 8 || head->records_bytes != left - 8 * head->slots) return false;
    if (head->count > head->slots / 2 || head->count > head->records_bytes / RECORD_BYTES_MIN)
        return false;
    if (head->found > head->count) return false;
    return h->capacity == (head->count ? head->count : 1);
}

bool tamis__index_sum_is_right(const struct tamis__segment *index)
{
    return tamis__checksum(index->data, (size_t)index->header->data_bytes) ==
           index->header->data_checksum;
}

int tamis__index_check(const struct tamis__segment *index, const char **reason)
{
    const struct tamis__segment_header *h = index->header;
    const int rc = check_header(h, reason);
    if (rc < 0) return rc;
    *reason = "has data that contradict its header";
    if (h->data_bytes < sizeof(struct tamis__index_head) + 8 * SLOTS_MIN) return TAMIS_ECORRUPT;
    if (!head_is_sound((const void *)index->data, h)) return TAMIS_ECORRUPT;
    *reason = "has damaged data (their checksum does not match)";
    return h->data_bytes > CHECKED_AT_OPEN || tamis__index_sum_is_right(index) ? 0 : TAMIS_ECORRUPT;
}

/* Reads the record at `offset` of the records, a multiple of 8; false if the record leaves them. */
static bool read_record(const struct parts *p, uint64_t offset, struct record *record)
{
    const uint64_t all = p->records_bytes;
    if (all < RECORD_BYTES_MIN || offset > all - RECORD_BYTES_MIN) return false;
    record->generation = tamis__get64(p->records + offset);
    record->bytes = tamis__get32(p->records + offset + 8);
    record->key = p->records + offset + RECORD_FIXED;
    return record->bytes <= all - offset - RECORD_FIXED;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static bool slot_is_key(const struct parts *p, uint64_t slot, const void *key, size_t bytes)
{
    struct record record;
    const uint64_t place = slot & PLACE_MASK;
    if (place == 0 || !read_record(p, (place - 1) * 8, &record)) return false;
    return record.bytes == bytes && (bytes == 0 || memcmp(record.key, key, bytes) == 0);
}

/* Returns the slot that has the key; slot_count if none has it. */
static uint64_t find_exception_slot(const struct parts *p, uint64_t hash, const void *key,
                                    size_t bytes)
{
    const uint64_t mask = p->slot_count - 1;
    for (uint64_t i = 0; i < p->slot_count; i++) {
        const uint64_t at = (hash + i) & mask, slot = p->slots[at];
        if (slot == 0) break;
        if (slot >> TAG_SHIFT == hash >> TAG_SHIFT && slot_is_key(p, slot, key, bytes)) return at;
    }
    return p->slot_count;
}

static bool has_exception(const struct parts *p, uint64_t hash, const void *key, size_t bytes)
{
    return find_exception_slot(p, hash, key, bytes) < p->slot_count;
}

bool tamis__index_has(const struct tamis__segment *index, const void *key, size_t bytes)
{
    const struct parts p = parts_of_index(index);
    return has_exception(&p, tamis__checksum(key, bytes), key, bytes);
}

size_t tamis__index_strike(const struct tamis__segment *index, const struct tamis_key *keys,
                           size_t count, uint8_t *answers)
{
    const struct parts p = parts_of_index(index);
    const uint64_t mask = p.slot_count > 0 ? p.slot_count - 1 : 0;
    uint64_t hashes[AT_ONCE];
    size_t struck = 0;
    for (size_t first = 0; first < count; first += AT_ONCE) {
        const size_t end = count - first < AT_ONCE ? count : first + AT_ONCE;
        for (size_t i = first; i < end; i++) {
            if (answers[i] == 0) continue;
            const uint64_t hash = tamis__checksum(keys[i].data, keys[i].bytes);
            hashes[i - first] = hash;
            __builtin_prefetch(&p.slots[hash & mask]);
        }
        for (size_t i = first; i < end; i++) {
            if (answers[i] == 0 ||
                !has_exception(&p, hashes[i - first], keys[i].data, keys[i].bytes))
                continue;
            answers[i] = 0;
            struck++;
        }
    }
    return struck;
}

/* ---- Reading it whole ------------------------------------------------------------------------ */

/* Returns what is wrong with the record at *at.  If nothing is wrong, returns NULL and moves
 * *at behind it. */
static const char *next_record(const struct parts *p, uint64_t *at, struct record *record)
{
    static const uint8_t zeros[8];
    if (!read_record(p, *at, record)) return "has an exception that leaves its data";
    if (record->bytes > TAMIS_EXCEPTION_BYTES_MAX)
        return "has an exception that is longer than any can be";
    const uint64_t bytes = record_bytes(record->bytes);
    if (bytes > p->records_bytes - *at) return "has an exception that leaves its data";
    const uint64_t padding = bytes - RECORD_FIXED - record->bytes;
    if (memcmp(record->key + record->bytes, zeros, padding) != 0)
        return "has bytes that are not 0 behind an exception";
    *at += bytes;
    return NULL;
}

uint64_t tamis__index_count(const struct tamis__segment *index)
{
    return parts_of_index(index).head->count;
}

uint64_t tamis__index_found(const struct tamis__segment *index)
{
    return parts_of_index(index).head->found;
}

static int fail_index(const char *reason)
{
    return tamis__fail(TAMIS_ECORRUPT, "the index of exceptions %s", reason);
}

int tamis__index_each(const struct tamis__segment *index, tamis__index_fn *fn, void *context)
{
    const struct parts p = parts_of_index(index);
    uint64_t at = 0;
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < p.head->count; i++) {
        struct record record;
        const char *reason = next_record(&p, &at, &record);
        if (reason != NULL) return fail_index(reason);
        const struct tamis__exception exception = {
            .key = record.key, .generation = record.generation, .bytes = record.bytes};
        rc = fn(context, &exception);
    }
    return rc == 0 && at != p.records_bytes ? fail_index("has bytes behind its last exception")
                                            : rc;
}

static int add_exception(void *context, const struct tamis__exception *exception)
{
    return tamis__exceptions_add(context, exception->key, exception->bytes, exception->generation);
}

int tamis__exceptions_from_index(struct tamis__exceptions *set, const struct tamis__segment *index)
{
    const struct tamis__index_head *head = parts_of_index(index).head;
    int rc = tamis__index_each(index, add_exception, set);
    if (rc == 0) rc = tamis__exceptions_sort(set);
    if (rc < 0) return rc;
    if (set->count != head->count) return fail_index("has exceptions out of order");
    if (tamis__exceptions_count_found(set) != head->found)
        return fail_index("counts other exceptions that builds found than it has");
    return 0;
}

static uint64_t slots_in_use(const struct parts *p)
{
    uint64_t used = 0;
    for (uint64_t i = 0; i < p->slot_count; i++)
        used += p->slots[i] != 0;
    return used;
}

/* Checks that each record is sound, stands after the one before it, and is found by its key. */
static const char *verify_records(const struct parts *p, uint64_t *at)
{
    struct record before = {0}, record;
    uint64_t found = 0;
    for (uint64_t i = 0; i < p->head->count; i++, before = record) {
        uint64_t next = *at;
        const char *reason = next_record(p, &next, &record);
        if (reason != NULL) return reason;
        if (i > 0 &&
            tamis__exceptions_compare(before.key, before.bytes, record.key, record.bytes) >= 0)
            return "has exceptions out of order";
        const uint64_t slot = find_exception_slot(p, tamis__checksum(record.key, record.bytes),
                                                  record.key, record.bytes);
        if (slot == p->slot_count || (p->slots[slot] & PLACE_MASK) != 1 + *at / 8)
            return "has an exception that no query finds";
        found += (record.generation & ~TAMIS__BY_HAND_TOO) != 0;
        *at = next;
    }
    if (found != p->head->found) return "counts other exceptions that builds found than it has";
    return *at == p->records_bytes ? NULL : "has bytes behind its last exception";
}

int tamis__index_verify(const struct tamis__segment *index, uint64_t *offset, const char **reason)
{
    const uint64_t data_offset = index->header->data_offset;
    uint64_t at = 0;
    *offset = data_offset;
    if (tamis__index_check(index, reason) < 0) return 1;
    const struct parts p = parts_of_index(index);
    *reason = "has damaged data (their checksum does not match)";
    if (!tamis__index_sum_is_right(index)) return 1;
    *reason = "has slots in use for another number of keys than it has";
    *offset = data_offset + sizeof *p.head;
    if (slots_in_use(&p) != p.head->count) return 1;
    *reason = verify_records(&p, &at);
    *offset = data_offset + (uint64_t)(p.records - (const uint8_t *)index->data) + at;
    return *reason != NULL;
}

const struct tamis__kind tamis__kind_exceptions = {
    .id = TAMIS__KIND_EXCEPTIONS, .check = check_header, .verify = tamis__index_verify};
