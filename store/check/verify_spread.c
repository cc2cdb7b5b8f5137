/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify_spread.c: finds lost bits by counting those that are left.
 *
 * If positions are uniform, the bits of a segment are spread evenly over its pages.  A damaged page
 * stands out: it reads as zeros, or as a page of another file.  There are two checks.  Each has a
 * bound that chance does not pass (docs/sizing.md, "Is that chance?"):
 *
 *     whole      the segment must have at least as many bits set as the items that it counted
 *                would have set
 *     stretches  a stretch is a page of 4 KiB (for counters of 16 bits 8 KiB, for 32 bits 16 KiB);
 *                each is compared with the median of all, which is right while fewer than half of
 *                them are damaged
 *
 * Beside adders the stretches are read at different times.  Bits only appear, so a stretch that has
 * too few is read again: by then it must have as many as the others had when they were read before.
 * Counters go down too, but only if as many keys are removed in that time as the bound is wide.
 *
 * Two cases are not checked: hash sets that are not uniform, and pages of different moments
 * (segment/header.h, `mixed`).
 */
#include "check/verify_spread.h"

#include <math.h>

#include "check/notes.h"
#include "hash/hash_set.h"
#include "segment/mark.h"
#include "sizing/sizing.h"

/* The number of places of a stretch, if possible those of a page.  A stretch of fewer than 8 blocks
 * would show nothing. */
static uint32_t places_of_stretch(const struct tamis__segment_header *h)
{
    return h->counter_bits == 0 ? 32768 : h->counter_bits == 4 ? 8192 : 4096;
}
#define MD5_K_MAX 10u /* beyond it, position 10 of "a" is position 0 of "a1" */

bool tamis__spread_is_even(const struct tamis__segment_header *h)
{
    const struct tamis__hash_set *set = tamis__hash_set_by_id(h->hash_set);
    if (set == NULL) return false;
    return set->any_kind || (h->hash_set == TAMIS__HASH_MD5 && h->k <= MD5_K_MAX);
}

/* ---- Counting -------------------------------------------------------------------------------- */

static uint64_t words_of_stretch(const struct tamis__segment_header *h)
{
    return (uint64_t)places_of_stretch(h) / 64 * (h->counter_bits ? h->counter_bits : 1);
}

static struct tamis__words words_at(const struct tamis__segment_header *h, uint64_t stretch)
{
    const uint64_t each = words_of_stretch(h), all = h->data_bytes / 8, first = stretch * each;
    return (struct tamis__words){first, all - first < each ? all - first : each};
}

static uint32_t count_one(const struct tamis__mapped_segment *s, uint64_t stretch)
{
    uint64_t ones[3] = {0, 0, 0};
    s->kind->tally(&s->segment, &s->segment, words_at(s->segment.header, stretch), ones);
    return (uint32_t)ones[0];
}

/* Counts the stretches from `first` on, to the end of one piece of the data. */
static uint64_t count_piece(const struct tamis__mapped_segment *s, struct tamis__ones *ones,
                            uint64_t first)
{
    const struct tamis__segment_header *h = s->segment.header;
    const uint64_t a_piece = TAMIS__WANT_WORDS / words_of_stretch(h) + 1;
    const uint64_t end = ones->count - first < a_piece ? ones->count : first + a_piece;
    const struct tamis__words last = words_at(h, end - 1);
    const uint64_t from = words_at(h, first).first, words = last.first + last.count - from;
    tamis__segment_want(&s->segment, from * 8, words * 8);
    for (uint64_t i = first; i < end; i++) {
        ones->of[i] = (uint16_t)count_one(s, i);
        ones->all += ones->of[i];
    }
    tamis__segment_release(&s->segment, from * 8, words * 8);
    return end;
}

int tamis__ones_count(const struct tamis__mapped_segment *s, struct tamis__ones *ones)
{
    const struct tamis__segment_header *h = s->segment.header;
    const uint64_t each = words_of_stretch(h), words = h->data_bytes / 8;
    ones->count = words / each + (words % each != 0);
    ones->of = calloc(ones->count, sizeof *ones->of);
    if (ones->of == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory checking the store");
    /* ORDER acquire: a merge raises the word before it sets a bit. */
    ones->mixed = __atomic_load_n(&s->segment.live->mixed, __ATOMIC_ACQUIRE);
    ones->all = 0;
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < ones->count;) {
        i = count_piece(s, ones, i);
        rc = tamis__meter_tell(ones->meter, i * each * 8);
    }
    return rc;
}

void tamis__ones_clear(struct tamis__ones *ones)
{
    free(ones->of);
    ones->of = NULL;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Says by how much the bits are fewer than `items` keys have set; 0: chance can explain it. */
static double too_few(const struct tamis__segment_header *h, double items, uint64_t all)
{
    const struct tamis__spread spread = tamis__spread_of_items(h->kind, h->m_bits, h->k, items);
    const double off = spread.mean - (double)all;
    return off > tamis__spread_bound(&spread) ? off : 0;
}

/* Items of merges and imports begin with an estimate, and two merges may have counted one key at
 * the same time. */
#define UNSURE_ITEMS 4096.0

bool tamis__is_only_odd(const struct tamis__segment *segment, double items)
{
    /* ORDER relaxed: handles that begin now do not explain what was found before. */
    const uint64_t handles =
        tamis__mark_writers(__atomic_load_n(&segment->live->mark, __ATOMIC_RELAXED));
    return items <= TAMIS__ITEMS_AHEAD * ((double)handles + 1);
}

int tamis__say_odd(struct tamis__damage *damage, uint64_t items, double told)
{
    damage->is_odd = true;
    return tamis__say_damage(damage,
                             "looks odd: it has counted %" PRIu64
                             " items, and its bits tell of %.0f; adders that were killed, or are "
                             "stopped, may be the reason, or lost bits; ask it for its keys to see",
                             items, told);
}

static int check_whole(const struct tamis__segment *segment, uint64_t items,
                       const struct tamis__ones *ones, struct tamis__damage *damage)
{
    const struct tamis__segment_header *h = segment->header;
    /* A merge that has begun since had not counted anything yet. */
    const double ahead = ones->mixed != 0 ? UNSURE_ITEMS : TAMIS__ITEMS_AHEAD;
    const double counted = (double)items > ahead ? (double)items - ahead : 0;
    if (too_few(h, counted, ones->all) == 0) return 0;
    const double left = tamis__estimate_items(h->kind, h->m_bits, h->k, ones->all);
    if (tamis__is_only_odd(segment, (double)items - left))
        return tamis__say_odd(damage, items, left);
    return tamis__say_damage(damage,
                             "has counted %" PRIu64
                             " items, but its bits tell of %.0f: bits were lost, and "
                             "keys answer absent, or the counters "
                             "are damaged; make it anew from its keys, or restore it from a copy",
                             items, left);
}

/* ---- Stretches ------------------------------------------------------------------------------- */

/* The median of the full stretches.  Of an even number it takes the greater of the two in the
 * middle: of two stretches, the lesser is the one that lost bits. */
static int median_of(const struct tamis__ones *ones, uint64_t full, uint32_t places, double *usual)
{
    uint64_t below = 0, *histogram = calloc((size_t)places + 1, sizeof *histogram);
    uint32_t median = 0;
    if (histogram == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory checking the store");
    for (uint64_t i = 0; i < full; i++)
        histogram[ones->of[i]]++;
    for (; median < places; median++) {
        below += histogram[median];
        if (below > full / 2) break;
    }
    free(histogram);
    *usual = (double)median;
    return 0;
}

struct stretches {
    const struct tamis__mapped_segment *s;
    struct tamis__ones *ones;
    uint32_t places; /* of each stretch but the last */
    uint64_t places_of_last;
    double usual; /* ones of a full stretch */
};

static uint64_t places_of(const struct stretches *in, uint64_t stretch)
{
    return stretch + 1 < in->ones->count ? in->places : in->places_of_last;
}

/* The bits that a stretch should have. *spread says how far it may be off; the median itself is off
 * by chance too. */
static double expected(const struct stretches *in, uint64_t stretch, struct tamis__spread *spread)
{
    const struct tamis__segment_header *h = in->s->segment.header;
    *spread = tamis__spread_of_share(h->kind, h->k, places_of(in, stretch), in->usual / in->places);
    spread->deviation *= sqrt(1 + 2.0 / (double)in->ones->count);
    return spread->mean;
}

/* The stretches with too few bits, or with too many: how many, the first, and the missing keys. */
struct outliers {
    uint64_t count, first;
    double missing; /* share of the keys */
};

/* A key answers absent if one of its k bits is lost.  All bits of a key of a blocked filter are in
 * one stretch. */
static double missing_share(const struct stretches *in, double lost_share, double of_all)
{
    const struct tamis__segment_header *h = in->s->segment.header;
    if (tamis_kind_has(h->kind, TAMIS_KIND_IS_PLAIN))
        return lost_share * of_all; /* summed up: see below */
    return (1 - pow(1 - lost_share, h->k)) * of_all;
}

static struct outliers find_low(const struct stretches *in)
{
    const struct tamis__segment_header *h = in->s->segment.header;
    struct outliers low = {.count = 0};
    for (uint64_t i = 0; i < in->ones->count; i++) {
        struct tamis__spread spread;
        const double mean = expected(in, i, &spread), bound = tamis__spread_bound(&spread);
        if (mean - in->ones->of[i] <= bound) continue;
        const double now = count_one(in->s, i);
        if (mean - now <= bound) continue; /* adders have added since */
        if (low.count++ == 0) low.first = i;
        low.missing +=
            missing_share(in, (mean - now) / mean, (double)places_of(in, i) / (double)h->m_bits);
    }
    if (tamis_kind_has(h->kind, TAMIS_KIND_IS_PLAIN)) low.missing = 1 - pow(1 - low.missing, h->k);
    return low;
}

/* The most bits that a key sets in one stretch; those of a key of kind bloom lie anywhere. */
static double bits_of_key(const struct tamis__segment_header *h)
{
    return tamis_kind_has(h->kind, TAMIS_KIND_IS_PLAIN) ? 1 : (double)h->k;
}

/* Compares with the mean if that is more than the median: with a few keys the median may be 0. */
static struct outliers find_high(const struct stretches *in)
{
    struct outliers high = {.count = 0};
    for (uint64_t i = 0; i < in->ones->count; i++) {
        struct tamis__spread spread;
        const double mean = expected(in, i, &spread);
        /* With few blocks, chance leads further up than down; with few keys, in steps of a key. */
        spread.unit = fmax(3 * spread.unit, bits_of_key(in->s->segment.header));
        if (in->ones->of[i] - mean <= tamis__spread_bound(&spread)) continue;
        if (high.count++ == 0) high.first = i;
    }
    return high;
}

static uint64_t offset_of(const struct tamis__segment_header *h, uint64_t stretch)
{
    return h->data_offset + words_at(h, stretch).first * 8;
}

static int say_low(const struct stretches *in, const struct outliers *low, uint64_t items,
                   struct tamis__damage *damage)
{
    const struct tamis__segment_header *h = in->s->segment.header;
    const double by_median = tamis__estimate_items(
        h->kind, h->m_bits, h->k, (uint64_t)(in->usual / in->places * (double)h->m_bits));
    const double all = fmax((double)items, by_median);
    return tamis__say_damage(
        damage,
        "has lost bits: of its %" PRIu64 " parts of %" PRIu64 " KiB, %" PRIu64
        " (the first here) ha%s far fewer set than the others; about %.0f of %.0f keys "
        "answer absent; make it anew from its keys, or restore it from a copy",
        in->ones->count, words_of_stretch(h) / 128, low->count, low->count == 1 ? "s" : "ve",
        low->missing * all, all);
}

static int say_high(const struct stretches *in, const struct outliers *high,
                    struct tamis__damage *damage)
{
    const struct tamis__segment_header *h = in->s->segment.header;
    return tamis__say_damage(
        damage,
        "has far more bits set in %" PRIu64 " of its %" PRIu64 " parts of %" PRIu64
        " KiB (the first here) than in the others: they are damaged, or the others have "
        "lost bits, and keys answer absent; restore it from a copy",
        high->count, in->ones->count, words_of_stretch(h) / 128);
}

/* Was a merge under way since the bits were counted, or has a merge never ended? */
static bool is_mixed(const struct tamis__segment *segment, const struct tamis__ones *ones)
{
    /* ORDER acquire: as when the bits were counted. */
    return (uint32_t)ones->mixed != 0 ||
           __atomic_load_n(&segment->live->mixed, __ATOMIC_ACQUIRE) != ones->mixed;
}

static void raise_to_mean(struct stretches *in, const struct tamis__ones *ones)
{
    const double m = (double)in->s->segment.header->m_bits;
    in->usual = fmax(in->usual, (double)ones->all / m * in->places);
}

/* Compares the stretches that stand out with the median of now too: beside adders the others come
 * up to them. */
static int check_high(struct stretches *in, uint64_t full, struct outliers *high)
{
    struct tamis__ones again = {.meter = NULL}; /* it was told once */
    raise_to_mean(in, in->ones);
    if (find_high(in).count == 0) return 0;
    int rc = tamis__ones_count(in->s, &again);
    if (rc == 0) rc = median_of(&again, full, in->places, &in->usual);
    if (rc == 0) {
        raise_to_mean(in, &again);
        *high = find_high(in);
    }
    tamis__ones_clear(&again);
    return rc;
}

static int check_stretches(const struct tamis__mapped_segment *s, struct tamis__ones *ones,
                           uint64_t items, struct tamis__damage *damage)
{
    const struct tamis__segment_header *h = s->segment.header;
    const uint32_t places = places_of_stretch(h);
    const uint64_t rest = h->m_bits % places, full = ones->count - (rest != 0);
    struct stretches in = {
        .s = s, .ones = ones, .places = places, .places_of_last = rest ? rest : places};
    if (full < 2) return 0;
    int rc = median_of(ones, full, in.places, &in.usual);
    if (rc < 0) return rc;
    const struct outliers low = find_low(&in);
    struct outliers high = {.count = 0};
    if (low.count == 0) rc = check_high(&in, full, &high);
    if (rc < 0) return rc;
    if (low.count + high.count == 0 || is_mixed(&s->segment, ones)) return 0;
    damage->offset = offset_of(h, low.count > 0 ? low.first : high.first);
    return low.count > 0 ? say_low(&in, &low, items, damage) : say_high(&in, &high, damage);
}

int tamis__check_spread(const struct tamis__mapped_segment *s, struct tamis__ones *ones,
                        uint64_t items, bool exact, struct tamis__damage *damage)
{
    const struct tamis__segment_header *h = s->segment.header;
    /* After an unclean stop, keys that were lost and added again were counted twice. */
    if (!tamis__spread_is_even(h) || tamis__mark_is_stale(s->segment.live) ||
        is_mixed(&s->segment, ones))
        return 0;
    const int rc = check_stretches(s, ones, items, damage);
    if (rc != 0 || !exact) return rc;
    damage->offset = offsetof(struct tamis__segment_header, items);
    return check_whole(&s->segment, items, ones, damage);
}
