/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compare.c: estimates what two filters have in common, from their bits.
 *
 * The bits of the union are the OR of both, so its keys are estimated the way those of each filter
 * are.  The number of common keys follows by inclusion and exclusion.  The bits of the AND would
 * not do: many of them are set in both filters by different keys.
 */
#include <assert.h>
#include <math.h>

#include "filter/alike.h"
#include "handle/follow.h"
#include "sizing/sizing.h"

void tamis__tally(const struct tamis__kind *kind, const struct tamis__segment *a,
                  const struct tamis__segment *b, uint64_t ones[3])
{
    const uint64_t all = a->header->data_bytes / 8;
    for (uint64_t first = 0; first < all; first += TAMIS__PIECE_WORDS) {
        const uint64_t count = all - first < TAMIS__PIECE_WORDS ? all - first : TAMIS__PIECE_WORDS;
        tamis__segment_want(a, first * 8, count * 8);
        tamis__segment_want(b, first * 8, count * 8);
        kind->tally(a, b, (struct tamis__words){.first = first, .count = count}, ones);
        tamis__segment_release(a, first * 8, count * 8);
        tamis__segment_release(b, first * 8, count * 8);
    }
}

static int compare_sides(const struct tamis__side *a, const struct tamis__side *b,
                         struct tamis_comparison *out)
{
    assert(a->view != NULL && b->view != NULL); /* pinned */
    const struct tamis__mapped_segment *first = &a->view->segments[0];
    const struct tamis__segment_header *h = first->segment.header;
    uint64_t ones[3] = {0};
    double items[3], variance = 0;
    int rc = tamis__check_alike(a, b);
    if (rc == 0) rc = tamis__check_one_segment(a, "compared");
    if (rc == 0) rc = tamis__check_mergeable(a);
    if (rc < 0) return rc;
    tamis__tally(first->kind, &first->segment, &b->view->segments[0].segment, ones);
    for (int i = 0; i < 3; i++) {
        items[i] = tamis__estimate_items(h->kind, h->m_bits, h->k, ones[i]);
        variance += pow(tamis__estimate_error(h->kind, h->m_bits, h->k, items[i]), 2);
    }
    *out = (struct tamis_comparison){.items_a = items[0],
                                     .items_b = items[1],
                                     .items_union = items[2],
                                     .items_both = fmax(items[0] + items[1] - items[2], 0),
                                     .error = sqrt(variance)};
    if (items[2] > 0) out->jaccard = fmin(out->items_both / items[2], 1);
    return 0;
}

TAMIS_API int tamis_filter_compare(tamis_filter *a, tamis_filter *b,
                                   struct tamis_comparison *comparison)
{
    TAMIS__REFUSE_NULL(a, "a");
    TAMIS__REFUSE_NULL(b, "b");
    struct tamis__side first = {.filter = a}, second = {.filter = b};
    struct tamis_comparison own;
    int rc = tamis__check_struct(comparison, "struct tamis_comparison");
    if (rc == 0) rc = tamis__pin_current(a, &first.view);
    if (rc < 0) return rc;
    rc = tamis__pin_current(b, &second.view);
    if (rc == 0) {
        rc = compare_sides(&first, &second, &own);
        if (rc == 0) rc = tamis__view_check(first.view);
        if (rc == 0) rc = tamis__view_check(second.view);
        tamis__unpin(b, second.view);
    }
    tamis__unpin(a, first.view);
    if (rc == 0) tamis__give_struct(&own, sizeof own, comparison);
    return rc;
}
