/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify_data.c: compares the data of one segment with its header and its counters.
 *
 * Static data have a checksum, and a segment that is sealed has a table of them (segment/sums.h).
 * Bits that others set meanwhile have none.  But each key that was told NEW has set a bit of its
 * own.  So this must hold:
 *
 *     Items that are read before the bits are at most the number of bits. If positions are uniform,
 *     they are hardly more than the bits tell. Items that are read later are no fewer than the
 *     catalog knew.
 *
 * A single add counts its key before it sets the bits (segment/room.h).  So some items may be ahead
 * of their bits: one for each adder that stands between the two steps, and one for each that died
 * there.  TAMIS__ITEMS_AHEAD allows for them, for each handle that ever wrote.  What they can
 * explain is no proof: it is said to look odd, and counts as no problem.
 *
 * Too many bits prove nothing: a merge, and an adder that dies, set some and count them later, or
 * never. verify_spread.c checks how the bits are spread.
 */
#include "check/notes.h"
#include "check/verify_spread.h"
#include "exceptions/set.h"
#include "segment/sums.h"
#include "sizing/sizing.h"

#define BLANK_TRIES 8
#define PADDING "has bits set past its m; the data is damaged, restore it from a copy"

/* Asks the kind, and takes over what it says. */
static int check_by_kind(const struct tamis__mapped_segment *s, struct tamis__damage *damage)
{
    const char *text = NULL;
    return s->kind->verify(&s->segment, &damage->offset, &text)
               ? tamis__say_damage(damage, "%s", text)
               : 0;
}

/* ---- Static data ----------------------------------------------------------------------------- */

static int check_static(const struct tamis__mapped_segment *s, uint64_t recorded_items,
                        struct tamis__damage *damage)
{
    const uint64_t items = tamis__segment_items(&s->segment);
    damage->offset = offsetof(struct tamis__segment_header, items);
    damage->of_count = items < recorded_items;
    if (items != recorded_items)
        return tamis__say_damage(damage,
                                 "has %" PRIu64 " items in its header, and %" PRIu64
                                 " in the catalog, though "
                                 "a static filter never changes; restore both from one copy",
                                 items, recorded_items);
    return check_by_kind(s, damage);
}

/* ---- Bits ------------------------------------------------------------------------------------ */

/* Bits past m are zero, as no position reaches them.  A byte there that is not zero is damage. */
static bool has_padding(const struct tamis__segment *segment, struct tamis__damage *damage)
{
    const struct tamis__segment_header *h = segment->header;
    const uint64_t last = (h->m_bits - 1) / 64;
    damage->offset = h->data_offset + last * 8;
    /* ORDER relaxed: nothing else is inferred from a bit. */
    return tamis__bits_past(__atomic_load_n(&segment->data[last], __ATOMIC_RELAXED), h->m_bits,
                            h->bit_order);
}

/* Returns the most items that a segment with that many bits set can have.  It allows for twice as
 * many, as two merges may have counted one key at the same time.  A key that was NEW has set a bit
 * of its own.  But a merge raises the count to what the bits tell, which may be more than they
 * are. */
static double most_items(const struct tamis__segment_header *h, uint64_t ones, bool is_merged)
{
    const struct tamis__hash_set *set = tamis__hash_set_by_id(h->hash_set);
    if (!is_merged && (set == NULL || !set->any_kind))
        return (double)ones; /* keys may have bits in common */
    const double items = tamis__estimate_items(h->kind, h->m_bits, h->k, ones);
    const double error = tamis__estimate_error(h->kind, h->m_bits, h->k, items);
    const double most = 2 * items + 20 * error + 100;
    return most < (double)ones || is_merged ? most : (double)ones;
}

/* Did the count begin with a number from another system, or with an estimate?  Then it is no better
 * than that. */
static bool is_others_count(const struct tamis__segment_header *h)
{
    return (h->flags & TAMIS_SEGMENT_ITEMS_ESTIMATED) != 0 ||
           !tamis__is_zero(h->kept, sizeof h->kept);
}

/* Says that a segment has items, and no bit set, or no counter above 0. */
static int say_blank(const struct tamis__segment *segment, uint64_t items, const char *what,
                     struct tamis__damage *damage)
{
    return tamis__is_only_odd(segment, (double)items)
               ? tamis__say_odd(damage, items, 0)
               : tamis__say_damage(damage,
                                   "has counted items but not one %s; the data is lost, restore it "
                                   "from a copy",
                                   what);
}

static int check_counted(const struct tamis__mapped_segment *s, uint64_t items,
                         struct tamis__ones *ones, struct tamis__damage *damage)
{
    const struct tamis__segment_header *h = s->segment.header;
    damage->offset = h->data_offset;
    if (items > TAMIS__ITEMS_AHEAD && ones->all == 0)
        return say_blank(&s->segment, items, "bit set", damage);
    const int rc = tamis__check_spread(s, ones, items, !is_others_count(h), damage);
    if (rc != 0) return rc;
    damage->offset = offsetof(struct tamis__segment_header, items);
    const double most = most_items(h, ones->all, ones->mixed != 0);
    if ((double)items <= most + TAMIS__ITEMS_AHEAD || is_others_count(h)) return 0;
    if (tamis__is_only_odd(&s->segment, (double)items - most))
        return tamis__say_odd(damage, items, most);
    return tamis__say_damage(
        damage,
        "has counted %" PRIu64 " items, but %" PRIu64 " bits set, which tell of %.0f at "
        "most; bits were lost or the counters are damaged, restore it from a copy",
        items, ones->all, most);
}

static int check_bits(const struct tamis__mapped_segment *s, const struct tamis__meter *meter,
                      struct tamis__damage *damage)
{
    struct tamis__ones ones = {.meter = meter};
    const uint64_t items = tamis__segment_items(&s->segment); /* before the bits */
    if (has_padding(&s->segment, damage)) return tamis__say_damage(damage, PADDING);
    /* ORDER: the counts are read before any of the bits that are read below. */
    tamis__fence();
    int rc = tamis__ones_count(s, &ones);
    if (rc == 0) rc = check_counted(s, items, &ones, damage);
    tamis__ones_clear(&ones);
    return rc;
}

/* Checks how the bits are spread, without comparing them with the count. */
static int check_spread_alone(const struct tamis__mapped_segment *s,
                              const struct tamis__meter *meter, struct tamis__damage *damage)
{
    struct tamis__ones ones = {.meter = meter};
    if (!tamis__spread_is_even(s->segment.header)) return 0;
    const uint64_t items = tamis__segment_items(&s->segment);
    int rc = tamis__ones_count(s, &ones);
    if (rc == 0) rc = tamis__check_spread(s, &ones, 0, false, damage);
    tamis__ones_clear(&ones);
    if (rc != 1 || s->segment.header->counter_bits == 0 ||
        tamis__segment_items(&s->segment) >= items)
        return rc;
    damage->is_odd = true; /* pages that were read late lack what was removed meanwhile */
    return tamis__say_damage(damage, "looks odd: its parts differ in counters above 0, but keys "
                                     "were removed while it was read; verify it again");
}

/* ---- Counters -------------------------------------------------------------------------------- */

/* Returns the items of a segment that has no counter above 0, or 0.  Keys may be removed during the
 * check, so this must be seen again and again.  The counters and the items of a copy that was made
 * beside writers are of different moments: all keys may have come or gone in between. */
static uint64_t items_of_blank(const struct tamis__segment *segment)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < BLANK_TRIES; i++) {
        const uint64_t items = tamis__segment_items(segment);
        /* ORDER acquire: as in tamis__ones_count(). */
        if (items <= TAMIS__ITEMS_AHEAD || !tamis__segment_is_blank(segment) ||
            __atomic_load_n(&segment->live->mixed, __ATOMIC_ACQUIRE) != 0)
            return 0;
        if (items < least) least = items;
        tamis__wait_a_little(100);
    }
    return least;
}

static int verify_counters(const struct tamis__mapped_segment *s, const struct tamis__meter *meter,
                           struct tamis__damage *damage)
{
    damage->offset = s->segment.header->data_offset;
    const uint64_t items = items_of_blank(&s->segment);
    if (items > 0) return say_blank(&s->segment, items, "counter above 0", damage);
    const int rc = check_by_kind(s, damage);
    return rc != 0 ? rc : check_spread_alone(s, meter, damage);
}

/* ---- Any ------------------------------------------------------------------------------------- */

/* The count only ever rises, so it is not below what the catalog knew. */
static int check_recorded(const struct tamis__mapped_segment *s, uint64_t recorded_items,
                          struct tamis__damage *damage)
{
    const uint64_t items = tamis__segment_items(&s->segment);
    if (items >= recorded_items) return 0;
    damage->of_count = true;
    damage->offset = offsetof(struct tamis__segment_header, items);
    /* Adders take their addition back where a key was not new after all.  The catalog may have been
     * told before that. */
    damage->is_odd = recorded_items - items <= TAMIS__ITEMS_AHEAD;
    if (damage->is_odd)
        return tamis__say_damage(
            damage,
            "looks odd: it has counted %" PRIu64 " items, and the catalog knew of %" PRIu64
            "; adders that were at work then may be the reason; 'tamis repair' sets the catalog "
            "right",
            items, recorded_items);
    return tamis__say_damage(
        damage,
        "has counted %" PRIu64 " items, and the catalog knew of %" PRIu64 ": keys added "
        "in between are lost, in a power cut or because the file is an older copy; add "
        "them again, 'tamis repair' sets the catalog right",
        items, recorded_items);
}

/*
 * The machine may have gone down under the segment, and logs may have brought all keys back.  Then
 * items and bits are of different moments, so items are not compared.  What a recovery repairs is
 * not reported before it has run.
 */
static int check_without_items(const struct tamis__mapped_segment *s,
                               const struct tamis__meter *meter, struct tamis__damage *damage)
{
    const struct tamis__segment_header *h = s->segment.header;
    if (h->counter_bits == 0 && has_padding(&s->segment, damage))
        return tamis__say_damage(damage, PADDING);
    if (tamis__mark_is_stale(s->segment.live)) return 0;
    if (h->counter_bits != 0 && check_by_kind(s, damage) != 0) return 1;
    return tamis__mark_unclean_since(&s->segment) != 0 ? 0 : check_spread_alone(s, meter, damage);
}

static int tell_read(const void *meter, uint64_t bytes)
{
    return tamis__meter_tell(meter, bytes);
}

int tamis__check_data(const struct tamis__mapped_segment *s, uint64_t recorded_items,
                      const struct tamis__meter *meter, struct tamis__damage *damage)
{
    const struct tamis__segment_header *h = s->segment.header;
    struct tamis__sums_verdict sums;
    const int summed = tamis__sums_check(&s->segment, tell_read, meter, &sums);
    if (summed < 0) return summed;
    damage->offset = sums.offset;
    if (sums.state == TAMIS__SUMS_BROKEN) return tamis__say_damage(damage, "%s", sums.reason);
    /* Its bytes are those that it was sealed with; no bit need be counted. */
    if (sums.state == TAMIS__SUMS_HOLD)
        return tamis__mark_unclean_since(&s->segment) != 0 || h->durable != 0 ||
                       h->counter_bits != 0
                   ? 0
                   : check_recorded(s, recorded_items, damage);
    if (h->kind == TAMIS__KIND_EXCEPTIONS) return check_by_kind(s, damage);
    if (h->fingerprint_bits != 0) return check_static(s, recorded_items, damage);
    if (tamis__mark_unclean_since(&s->segment) != 0 || h->durable != 0)
        return check_without_items(s, meter, damage);
    if (h->counter_bits != 0) return verify_counters(s, meter, damage);
    const int rc = check_bits(s, meter, damage);
    return rc != 0 ? rc : check_recorded(s, recorded_items, damage);
}
