/* SPDX-License-Identifier: BSD-2-Clause */
/* shadow.c: keys, and the segments, lists and sets of the model. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

bool wrong(struct model *model, const char *format, ...)
{
    va_list arguments;
    if (*model->complaint != '\0') return false; /* the first one says most */
    va_start(arguments, format);
    (void)vsnprintf(model->complaint, sizeof model->complaint, format, arguments);
    va_end(arguments);
    return false;
}

bool set_has(const uint8_t *set, uint32_t key)
{
    return (set[key / 8] >> (key % 8) & 1) != 0;
}

void set_put(uint8_t *set, uint32_t key)
{
    set[key / 8] = (uint8_t)(set[key / 8] | 1u << (key % 8));
}

/* ---- Segments -------------------------------------------------------------------------------- */

static void *zeros(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);
    if (memory == NULL) abort();
    return memory;
}

struct shadow *shadow_new(const struct tamis_segment_stat *is)
{
    struct shadow *shadow = zeros(1, sizeof *shadow);
    shadow->is = *is;
    shadow->users = 1;
    if (is->kind == TAMIS_KIND_FUSE)
        shadow->keys = zeros(POOL / 8, 1);
    else
        shadow->cells = zeros(is->m_bits, sizeof *shadow->cells);
    return shadow;
}

struct shadow *shadow_copy(const struct shadow *from)
{
    struct shadow *to = shadow_new(&from->is);
    if (from->keys != NULL) memcpy(to->keys, from->keys, POOL / 8);
    if (from->cells != NULL)
        memcpy(to->cells, from->cells, (size_t)from->is.m_bits * sizeof *to->cells);
    to->ones = from->ones;
    to->mixed = from->mixed;
    to->overflowed = from->overflowed;
    return to;
}

void shadow_free(struct shadow *shadow)
{
    if (shadow == NULL || --shadow->users > 0) return;
    free(shadow->cells);
    free(shadow->keys);
    free(shadow);
}

void list_clear(struct list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        shadow_free(list->segments[i]);
    list->count = 0;
}

void list_share(struct list *to, const struct list *from)
{
    *to = *from;
    for (uint32_t i = 0; i < to->count; i++)
        to->segments[i]->users++;
}

void list_copy(struct list *to, const struct list *from)
{
    to->count = from->count;
    for (uint32_t i = 0; i < to->count; i++)
        to->segments[i] = shadow_copy(from->segments[i]);
}

/* A key of positions that is there twice counts once. */
static uint32_t distinct(uint64_t *positions, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool again = false;
        for (uint32_t j = 0; j < kept; j++)
            again |= positions[j] == positions[i];
        if (!again) positions[kept++] = positions[i];
    }
    return kept;
}

static uint32_t positions_of(struct model *model, const struct filter *filter,
                             const struct shadow *shadow, uint32_t key, uint64_t *positions)
{
    const struct executor *executor = model->executor;
    const uint32_t count =
        executor->positions(executor->self, filter->name, &shadow->is, key, positions);
    if (count == 0) (void)wrong(model, "no positions of key %u: %s", key, tamis_last_error());
    for (uint32_t i = 0; i < count; i++)
        if (positions[i] >= shadow->is.m_bits) {
            (void)wrong(model, "a position of key %u past m", key);
            return 0;
        }
    return distinct(positions, count);
}

uint32_t shadow_lacks(struct model *model, const struct filter *filter, const struct shadow *shadow,
                      uint32_t key, uint32_t *least)
{
    uint64_t positions[TAMIS_K_MAX];
    uint32_t lacking = 0, low = UINT32_MAX;
    if (shadow->keys != NULL) return !set_has(shadow->keys, key);
    const uint32_t count = positions_of(model, filter, shadow, key, positions);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t cell = shadow->cells[positions[i]];
        lacking += cell == 0;
        if (cell < low) low = cell;
    }
    if (least != NULL) *least = low;
    return lacking;
}

void shadow_add(struct model *model, const struct filter *filter, struct shadow *shadow,
                uint32_t key, int by)
{
    uint64_t positions[TAMIS_K_MAX];
    const uint32_t count = positions_of(model, filter, shadow, key, positions);
    const bool counts = shadow->is.counter_bits != 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *cell = &shadow->cells[positions[i]];
        const bool was = *cell != 0;
        *cell = counts ? *cell + (uint32_t)by : 1;
        shadow->ones += (uint64_t)(*cell != 0) - (uint64_t)was;
        shadow->overflowed |=
            counts && shadow->is.counter_bits < 32 && *cell >= (1u << shadow->is.counter_bits) - 1;
    }
}

/* ---- Exceptions ------------------------------------------------------------------------------ */

const struct told_exception *exceptions_find(const struct exceptions *e, uint32_t key,
                                             uint64_t generation)
{
    for (uint32_t i = 0; i < e->count; i++)
        if (e->list[i].key == key && e->list[i].generation == generation) return &e->list[i];
    return NULL;
}

void exceptions_put(struct exceptions *e, uint32_t key, uint64_t generation)
{
    if (exceptions_find(e, key, generation) != NULL) return;
    if ((e->count & (e->count - 1)) == 0) {
        void *more = realloc(e->list, (e->count == 0 ? 1 : 2 * e->count) * sizeof *e->list);
        if (more == NULL) abort();
        e->list = more;
    }
    e->list[e->count++] = (struct told_exception){key, generation};
}

bool exceptions_remove(struct exceptions *e, uint32_t key, uint64_t generation)
{
    struct told_exception *found = NULL;
    for (uint32_t i = 0; i < e->count && found == NULL; i++)
        if (e->list[i].key == key && e->list[i].generation == generation) found = &e->list[i];
    if (found == NULL) return false;
    *found = e->list[--e->count];
    return true;
}

void exceptions_copy(struct exceptions *to, const struct exceptions *from)
{
    *to = (struct exceptions){0};
    for (uint32_t i = 0; i < from->count; i++)
        exceptions_put(to, from->list[i].key, from->list[i].generation);
}

uint64_t exceptions_of(const struct filter *filter)
{
    uint64_t count = filter->by_hand.count;
    for (uint32_t i = 0; i < filter->now.found.count; i++)
        count += exceptions_find(&filter->by_hand, filter->now.found.list[i].key, 0) == NULL;
    return count;
}

bool is_exception(const struct filter *filter, uint32_t key)
{
    return exceptions_find(&filter->by_hand, key, 0) != NULL ||
           exceptions_find(&filter->now.found, key, 0) != NULL;
}

/* ---- Generations and filters ----------------------------------------------------------------- */

void generation_clear(struct generation *generation)
{
    list_clear(&generation->list);
    free(generation->found.list);
    *generation = (struct generation){0};
}

void filter_let_go(struct filter *filter)
{
    if (filter == NULL || --filter->users > 0) return;
    generation_clear(&filter->now);
    for (uint32_t i = 0; i < filter->kept_count; i++)
        generation_clear(&filter->kept[i]);
    free(filter->by_hand.list);
    free(filter);
}
