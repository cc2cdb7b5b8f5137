/* SPDX-License-Identifier: BSD-2-Clause */
/* gains.c: see gains.h.  A sorted array is searched; what a look finds anew is put behind it, and
 * sorted in at its end. */
#include "filter/gains.h"

#include "base/array.h"

static int by_place(const void *a, const void *b)
{
    const struct tamis__seen *x = a, *y = b;
    if (x->filter_id != y->filter_id) return x->filter_id < y->filter_id ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

void tamis__gains_begin(struct tamis__gains *gains)
{
    gains->look++;
}

/* Finds what was seen, or remembers it with `items`.  *known: it was there. */
static struct tamis__seen *find_or_add(struct tamis__gains *gains, uint64_t filter_id,
                                       uint64_t number, uint64_t items, bool *known)
{
    const struct tamis__seen key = {
        .filter_id = filter_id, .number = number, .items = items, .look = gains->look};
    struct tamis__seen *seen = NULL;
    if (gains->sorted > 0) seen = bsearch(&key, gains->all, gains->sorted, sizeof key, by_place);
    *known = seen != NULL;
    if (seen == NULL) {
        seen = tamis__array_add(&gains->all, &gains->count, &gains->room, sizeof *seen,
                                "watching the filters");
        if (seen != NULL) *seen = key;
    }
    if (seen != NULL) seen->look = gains->look;
    return seen;
}

int tamis__gains_filter(struct tamis__gains *gains, uint64_t filter_id)
{
    bool known;
    return find_or_add(gains, filter_id, 0, 0, &known) != NULL ? known : TAMIS_ENOMEM;
}

int64_t tamis__gains_segment(struct tamis__gains *gains, const struct tamis__record *record,
                             uint32_t index, const struct tamis__segment_header *header, bool *anew)
{
    bool known;
    const uint64_t items = record->segments[index].items;
    struct tamis__seen *seen =
        find_or_add(gains, record->filter_id, record->segments[index].number, items, &known);
    if (seen == NULL) return TAMIS_ENOMEM;
    *anew = *anew || (!known && (header == NULL || header->list_start != 0));
    if (!known) return *anew ? 0 : (int64_t)items;
    if (header == NULL) return 0;
    const uint64_t before = seen->items;
    seen->items = items;
    return items > before ? (int64_t)(items - before) : 0;
}

void tamis__gains_end(struct tamis__gains *gains, bool looked_at_all)
{
    size_t kept = 0;
    const bool any_new = gains->count > gains->sorted;
    for (size_t i = 0; i < gains->count; i++)
        if (!looked_at_all || gains->all[i].look == gains->look) gains->all[kept++] = gains->all[i];
    gains->count = gains->sorted = kept;
    if (any_new) qsort(gains->all, kept, sizeof *gains->all, by_place);
}

void tamis__gains_free(struct tamis__gains *gains)
{
    free(gains->all);
    *gains = (struct tamis__gains){0};
}
