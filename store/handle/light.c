/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * light.c: asks small filters that are not open (docs/decisions/0028-light-handles.md).
 *
 * A light handle says which sheet it is (segment/sheet.h) and what it looked like when somebody
 * knew that it is the whole filter:
 *
 *     light.sheet   bits 0 .. 48 the number, 49 .. 58 the tail: the place of the last word of the
 *                   data that was not 0, and 1; 0: all were
 *     light.seal    hash of the sheet's constants, with its epoch as the seed
 *
 * A question is answered only if the sheet has the same constants and the same epoch, and no
 * segment goes on after it: what a handle looks at, too (follow.h).  All that is used of the sheet
 * but its bits is a copy of the constants that has passed this.
 */
#include <string.h>

#include "base/arguments.h"
#include "base/key.h"
#include "handle/light.h"
#include "handle/points.h"
#include "handle/view.h"
#include "segment/mark.h"
#include "txn/spares.h"

#define NUMBER_BITS 49
#define NUMBER_MASK (((uint64_t)1 << NUMBER_BITS) - 1)
#define CONSTANT_BYTES offsetof(struct tamis__sheet, checksum)

_Static_assert((TAMIS__SHEET_BYTES_MAX - sizeof(struct tamis__sheet)) / 8 < (1u << 10),
               "a tail has ten bits");

/* ---- The cabinet ----------------------------------------------------------------------------- */

TAMIS_API int tamis_cabinet_open(tamis_store *store, uint32_t most, tamis_cabinet **cabinet)
{
    TAMIS__REFUSE_NULL(store, "store");
    TAMIS__REFUSE_NULL(cabinet, "cabinet");
    *cabinet = NULL;
    if (most == 0 || most > TAMIS__CABINET_MOST)
        return tamis__fail(TAMIS_EINVAL, "a cabinet of %u drawers; it can have 1 to %u", most,
                           TAMIS__CABINET_MOST);
    struct tamis_cabinet *made = calloc(1, sizeof *made);
    if (made == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory for a cabinet");
    const int rc = tamis__cabinet_init(&made->drawers, &store->place, most);
    if (rc < 0) {
        free(made);
        return rc;
    }
    made->store = tamis__store_reference(store);
    *cabinet = made;
    return 0;
}

TAMIS_API void tamis_cabinet_close(tamis_cabinet *cabinet)
{
    if (cabinet == NULL) return;
    tamis__cabinet_clear(&cabinet->drawers);
    tamis__peek_close(cabinet->look);
    tamis_store_close(cabinet->store);
    free(cabinet->piece);
    free(cabinet);
}

TAMIS_API void tamis_cabinet_forget(tamis_cabinet *cabinet, uint64_t number)
{
    if (cabinet != NULL && tamis__is_sheet(number))
        tamis__cabinet_forget(&cabinet->drawers, number);
}

TAMIS_API int64_t tamis_cabinet_tidy(tamis_cabinet *cabinet, uint32_t looks, int unused)
{
    TAMIS__REFUSE_NULL(cabinet, "cabinet");
    tamis__cabinet_tidy(&cabinet->drawers, looks, unused != 0);
    return cabinet->drawers.count;
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* The constants of a sheet, as somebody read them. */
struct constants {
    uint64_t words[CONSTANT_BYTES / 8];
};

/* ORDER relaxed: what is read is checked by its hash, or is bits. */
static void copy_words(uint64_t *to, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / 8; i++)
        to[i] = __atomic_load_n((const uint64_t *)from + i, __ATOMIC_RELAXED);
}

static uint64_t seal_of(const void *constants, uint64_t epoch)
{
    return tamis__checksum_from(epoch, constants, CONSTANT_BYTES);
}

static uint64_t tail_of(const uint64_t *data, uint64_t words)
{
    while (words > 0 && data[words - 1] == 0)
        words--;
    return words;
}

/* Can it be asked one key after the other, without a handle? */
static bool can_be_asked(const struct tamis__segment_header *header)
{
    const char *reason;
    const struct tamis__kind *kind = tamis__kind_by_id(header->kind);
    const struct tamis__hash_set *set = tamis__hash_set_by_id(header->hash_set);
    return kind != NULL && kind->check(header, &reason) == 0 && kind->by_digest != NULL &&
           kind->by_digest(header) != NULL && set != NULL &&
           (set->digest != NULL || set->pair != NULL);
}

/* Makes the light handle of a sheet of which somebody knows that, at this epoch, it was the whole
 * filter.  Returns 1, or 0 if it is damaged, or of a sort that only an open filter can ask. */
static int make_light(const struct tamis__sheet *sheet, uint64_t number, uint64_t epoch,
                      struct tamis_light *light)
{
    uint64_t copy[TAMIS__SHEET_BYTES_MAX / 8];
    struct tamis__segment_header header; /* constant part */
    struct tamis__refusal refusal;
    copy_words(copy, sheet, tamis__class_bytes(tamis__sheet_class(number)));
    if (tamis__sheet_check(copy, number, &refusal) < 0) return 0;
    tamis__sheet_decode_geometry(copy, &header);
    if (!can_be_asked(&header)) return 0;
    light->seal = seal_of(copy, epoch);
    light->sheet = number | tail_of(copy + header.data_offset / 8, header.data_bytes / 8)
                                << NUMBER_BITS;
    return 1;
}

static bool is_sheet_alone(const struct tamis__view *view)
{
    return view->is_short && view->policy.slices == 0 && !view->policy.durable &&
           tamis__is_sheet(view->segments[0].segment.number);
}

TAMIS_API int tamis_light_of(tamis_filter *filter, struct tamis_light *light)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    TAMIS__REFUSE_NULL(light, "light");
    *light = (struct tamis_light){0};
    struct tamis__view *view = tamis__enter(&filter->view);
    if (view == NULL) return TAMIS_ENOMEM;
    const struct tamis__segment *only = &view->segments[0].segment;
    int rc = 0;
    if (is_sheet_alone(view) && !tamis__mark_is_stale(only->live)) {
        /* The epoch at which the view was known to be right: if the sheet has a later one by now,
         * the light handle gives no answers.  ORDER relaxed: a word by itself. */
        const uint64_t epoch = __atomic_load_n(&view->epoch, __ATOMIC_RELAXED);
        rc = make_light(tamis__sheet_of(only), only->number, epoch, light);
    }
    tamis__leave(filter, view);
    return rc;
}

static bool is_record_of_sheet(const struct tamis__record *record, int64_t created_at)
{
    return (created_at == 0 || record->created_at == created_at) && record->segment_count == 1 &&
           record->exceptions == 0 && record->policy.slices == 0 && !record->policy.durable &&
           tamis__is_sheet(record->segments[0].number);
}

/* Makes the light handle of the only segment of a record.  The caller has the catalog's lock, so
 * nobody is about to put another list in force: epoch and record are of one moment. */
static int find_sheet(struct tamis_cabinet *cabinet, const struct tamis__record *record,
                      struct tamis_light *light)
{
    struct tamis__segment_header header; /* constant part */
    const struct tamis__listed_segment *entry = &record->segments[0];
    const struct tamis__slot *slot = tamis__cabinet_find(&cabinet->drawers, entry->number);
    if (slot == NULL) return 0;
    const struct tamis__sheet *sheet = tamis__slot_sheet(slot, entry->number);
    /* ORDER acquire: as tamis__segment_epoch(). */
    const uint64_t epoch = __atomic_load_n(&sheet->live.epoch, __ATOMIC_ACQUIRE);
    if (tamis__mark_is_stale(&sheet->live) || make_light(sheet, entry->number, epoch, light) == 0)
        return 0;
    tamis__sheet_decode_constant(sheet, &header);
    return header.store_id == cabinet->store->store_id && header.filter_id == record->filter_id &&
           tamis__record_contradiction(entry, &header) == NULL;
}

TAMIS_API int tamis_light_find(tamis_cabinet *cabinet, const char *name, int64_t created_at,
                               struct tamis_light *light)
{
    TAMIS__REFUSE_NULL(cabinet, "cabinet");
    TAMIS__REFUSE_NULL(light, "light");
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    *light = (struct tamis_light){0};
    int rc = tamis__check_name(name);
    if (rc < 0) return rc;
    rc = tamis__catalog_try_begin(&cabinet->store->catalog, TAMIS__LOCK_SHARED, false, &txn);
    if (rc <= 0) return rc;
    rc = tamis__store_get(cabinet->store, txn, name, &record);
    if (rc == 0 && is_record_of_sheet(&record, created_at))
        rc = find_sheet(cabinet, &record, light);
    tamis__catalog_end(txn);
    if (rc != 1) *light = (struct tamis_light){0};
    return rc == TAMIS_ENOTFOUND ? 0 : rc;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/*
 * Is the sheet what the light handle says, and all of its filter?  Copies its constants.
 *
 * The word of the exceptions need not be looked at: the filter had none at that epoch, and who
 * gives it some raises the epoch before.  Only growth leaves the epoch as it is.
 */
static bool is_as_it_was(const struct tamis__sheet *sheet, const struct tamis_light *light,
                         struct constants *copy)
{
    const struct tamis__segment segment = {.live = (struct tamis__live *)(uintptr_t)&sheet->live};
    copy_words(copy->words, sheet, sizeof copy->words);
    const uint64_t epoch = tamis__segment_epoch(&segment);
    if (tamis__segment_is_left(&segment)) return false;
    return seal_of(copy->words, epoch) == light->seal;
}

/* Before a key is said to be absent: if the drawer was cut within the page of the sheet, its last
 * page is gone, and the look at it faults. */
static bool has_end(const struct tamis__slot *slot)
{
    const uint64_t *end = (const uint64_t *)(const void *)(slot->map + TAMIS__DRAWER_BYTES);
    (void)__atomic_load_n(end - 1, __ATOMIC_RELAXED);
    return tamis__slot_is_whole(slot);
}

/* After the last look: has the sheet still its magic, and a bit where it had one?  It is in one
 * page, so a page that could not be had has no magic, either.  See tamis__segment_is_whole(). */
static bool is_whole(const struct tamis__sheet *sheet, const uint64_t *data, uint64_t tail)
{
    tamis__guard_fence();
    const uint64_t *magic = (const uint64_t *)(const void *)sheet->magic;
    /* ORDER relaxed: behind the fence. */
    if (__atomic_load_n(magic, __ATOMIC_RELAXED) != TAMIS__MAGIC_WORD) return false;
    return tail == 0 || __atomic_load_n(&data[tail - 1], __ATOMIC_RELAXED) != 0;
}

/* Asks the bits of a sheet whose constants were checked. */
static void ask_bits(const struct tamis__segment *segment, const struct tamis_key *keys,
                     size_t count, uint8_t *answers)
{
    const struct tamis__segment_header *header = segment->header;
    const struct tamis__by_digest *calls = tamis__kind_by_id(header->kind)->by_digest(header);
    const struct tamis__digester by = tamis__header_digester(header);
    for (size_t i = 0; i < count; i++)
        answers[i] =
            (uint8_t)calls->contains(segment, tamis__digest_by(&by, keys[i].data, keys[i].bytes));
}

#define LINE_BYTES 64u

/* Where the bits are is told by the constants, and the processor waits for memory for either.  In a
 * small sheet there are so few lines of bits that all are fetched meanwhile. */
static void fetch_bits(const struct tamis__sheet *sheet, uint64_t number)
{
    if (tamis__sheet_class(number) != 0) return;
    for (size_t at = sizeof *sheet; at < TAMIS__SHEET_BYTES_MIN; at += LINE_BYTES)
        __builtin_prefetch((const char *)sheet + at);
}

/* Returns 1 if there are answers, and 0 if there are none. */
static int ask_sheet(const struct tamis__slot *slot, const struct tamis_light *light,
                     const struct tamis_key *keys, size_t count, uint8_t *answers)
{
    struct tamis__segment_header header; /* constant part */
    struct constants copy;
    const uint64_t number = light->sheet & NUMBER_MASK;
    const struct tamis__sheet *sheet = tamis__slot_sheet(slot, number);
    fetch_bits(sheet, number);
    if (!is_as_it_was(sheet, light, &copy)) return 0;
    tamis__sheet_decode_geometry(copy.words, &header);
    const char *data = (const char *)sheet + header.data_offset;
    const struct tamis__segment segment = {.header = &header, .data = (uint64_t *)(uintptr_t)data};
    TAMIS__POINT(TAMIS__POINT_LIGHT_LOOKED);
    ask_bits(&segment, keys, count, answers);
    if (count > 0 && memchr(answers, 0, count) != NULL && !has_end(slot)) return 0;
    return is_whole(sheet, segment.data, light->sheet >> NUMBER_BITS);
}

TAMIS_API int tamis_light_ask(tamis_cabinet *cabinet, const struct tamis_light *light,
                              const struct tamis_key *keys, size_t count, uint8_t *answers)
{
    TAMIS__REFUSE_NULL(cabinet, "cabinet");
    TAMIS__REFUSE_NULL(light, "light");
    if (count > 0) TAMIS__REFUSE_NULL(answers, "answers");
    int rc = tamis__check_keys(keys, count);
    const uint64_t number = light->sheet & NUMBER_MASK;
    if (rc < 0 || !tamis__is_sheet(number)) return rc < 0 ? rc : 0;
    const struct tamis__slot *slot = tamis__cabinet_find(&cabinet->drawers, number);
    if (slot == NULL) return 0;
    rc = ask_sheet(slot, light, keys, count, answers);
    if (!tamis__slot_is_whole(slot)) /* it may be sound again when it is mapped anew */
        tamis__cabinet_forget(&cabinet->drawers, number);
    return rc;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

/* Makes a segment of the words.  Returns false if they are no sheet of that number, or one that
 * must be recovered or has been left. */
static bool take_copy(uint64_t number, struct tamis__sheet_copy *copy)
{
    struct tamis__sheet *sheet = (void *)copy->words;
    struct tamis__refusal refusal;
    if (tamis__sheet_check(sheet, number, &refusal) < 0) return false;
    tamis__sheet_decode_constant(sheet, &copy->header);
    copy->segment = (struct tamis__segment){.header = &copy->header,
                                            .magic = copy->words,
                                            .live = &sheet->live,
                                            .stripes = (void *)&sheet->items,
                                            .stripe_count = 1,
                                            .data = copy->words + copy->header.data_offset / 8,
                                            .number = number};
    return !tamis__mark_is_stale(&sheet->live) && !tamis__segment_is_left(&copy->segment);
}

/*
 * Was the copy of a whole sheet?  If the drawer was cut before, its last page is gone; within that
 * page the rest reads as zeros, so a sheet there has the length of the file looked at.
 */
static bool was_whole(const struct tamis_cabinet *cabinet, const struct tamis__slot *slot,
                      uint64_t number)
{
    if (!has_end(slot)) return false;
    return !tamis__cabinet_is_last(number) || tamis__cabinet_is_long(&cabinet->drawers, number);
}

/* Copies the sheet, if the drawer can be had. */
static bool copy_sheet(struct tamis_cabinet *cabinet, uint64_t number,
                       struct tamis__sheet_copy *copy)
{
    const struct tamis__slot *slot = tamis__cabinet_find(&cabinet->drawers, number);
    if (slot == NULL) return false;
    const char *sheet = (const char *)tamis__slot_sheet(slot, number);
    const size_t before = sizeof(struct tamis__sheet);
    copy_words(copy->words, sheet, before);
    tamis__fence_acquire(); /* the bits are of the moment of the live words, or of a later one */
    copy_words(copy->words + before / 8, sheet + before,
               tamis__class_bytes(tamis__sheet_class(number)) - before);
    const bool whole = was_whole(cabinet, slot, number);
    if (!tamis__slot_is_whole(slot)) tamis__cabinet_forget(&cabinet->drawers, number);
    return whole && take_copy(number, copy);
}

int tamis__light_copy_named(struct tamis_cabinet *cabinet, const char *name, int64_t created_at,
                            struct tamis__record *record, struct tamis__sheet_copy *copy)
{
    const struct tamis__catalog *catalog = &cabinet->store->catalog;
    if (tamis__catalog_look_up(catalog, &cabinet->look, name, record) != 0 ||
        !is_record_of_sheet(record, created_at))
        return 0;
    TAMIS__POINT(TAMIS__POINT_LIGHT_LOOKED);
    const struct tamis__listed_segment *entry = &record->segments[0];
    return copy_sheet(cabinet, entry->number, copy) &&
           copy->header.store_id == cabinet->store->store_id &&
           copy->header.filter_id == record->filter_id &&
           tamis__record_contradiction(entry, &copy->header) == NULL;
}

int tamis__light_copy(struct tamis_cabinet *cabinet, const struct tamis_light *light,
                      struct tamis__sheet_copy *copy)
{
    const uint64_t number = light->sheet & NUMBER_MASK;
    if (!tamis__is_sheet(number) || !copy_sheet(cabinet, number, copy)) return 0;
    const uint64_t tail = light->sheet >> NUMBER_BITS;
    return seal_of(copy->words, copy->segment.live->epoch) == light->seal &&
           (tail == 0 || copy->segment.data[tail - 1] != 0);
}

int tamis__light_ask_copy(const struct tamis__sheet_copy *copy, const struct tamis_key *keys,
                          size_t count, uint8_t *answers)
{
    if (!can_be_asked(&copy->header)) return 0;
    ask_bits(&copy->segment, keys, count, answers);
    return 1;
}
