/* SPDX-License-Identifier: BSD-2-Clause */
/* shadow.c: keys, and the segments, lists and sets of the model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

bool set_has(const struct set *set, uint32_t key)
{
    return (set->bits[key / 8] >> (key % 8) & 1) != 0;
}

static bool set_flip(struct set *set, uint32_t key, bool there)
{
    if (set_has(set, key) == there) return false;
    set->bits[key / 8] = (uint8_t)(set->bits[key / 8] ^ 1u << (key % 8));
    set->count += there ? 1u : UINT32_MAX;
    return true;
}

bool set_put(struct set *set, uint32_t key)
{
    return set_flip(set, key, true);
}

bool set_remove(struct set *set, uint32_t key)
{
    return set_flip(set, key, false);
}

void set_add(struct set *to, const struct set *from)
{
    for (uint32_t key = 0; key < POOL && from->count > 0; key++)
        if (set_has(from, key)) (void)set_put(to, key);
}

void set_add_keys(struct set *to, const struct op_keys *keys)
{
    for (uint32_t i = 0; i < keys->count; i++)
        (void)set_put(to, key_at(keys, i));
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
        shadow->keys = zeros(1, sizeof *shadow->keys);
    else
        shadow->cells = zeros(is->m_bits, sizeof *shadow->cells);
    return shadow;
}

struct shadow *shadow_copy(const struct shadow *from)
{
    struct shadow *to = shadow_new(&from->is);
    if (from->keys != NULL) *to->keys = *from->keys;
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

static uint32_t positions_of(struct step *s, const struct shadow *shadow, uint32_t key,
                             uint64_t *positions)
{
    const struct executor *executor = s->model->executor;
    const uint32_t count =
        executor->positions(executor->self, s->filter->name, &shadow->is, key, positions);
    if (count == 0) (void)wrong(s->model, "no positions of key %u: %s", key, tamis_last_error());
    for (uint32_t i = 0; i < count; i++)
        if (positions[i] >= shadow->is.m_bits)
            return (uint32_t)wrong(s->model, "a position of key %u past m", key);
    return distinct(positions, count);
}

uint32_t shadow_lacks(struct step *s, const struct shadow *shadow, uint32_t key, uint32_t *least)
{
    uint64_t positions[TAMIS_K_MAX];
    uint32_t lacking = 0, low = UINT32_MAX;
    if (shadow->keys != NULL) return !set_has(shadow->keys, key);
    const uint32_t count = positions_of(s, shadow, key, positions);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t cell = shadow->cells[positions[i]];
        lacking += cell == 0;
        if (cell < low) low = cell;
    }
    if (least != NULL) *least = low;
    return lacking;
}

bool shadow_add(struct step *s, struct shadow *shadow, uint32_t key, int by)
{
    uint64_t positions[TAMIS_K_MAX];
    const uint32_t count = positions_of(s, shadow, key, positions), width = shadow->is.counter_bits;
    bool lacked = false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *cell = &shadow->cells[positions[i]];
        const bool was = *cell != 0;
        *cell = width != 0 ? *cell + (uint32_t)by : 1;
        shadow->ones += (uint64_t)(*cell != 0) - (uint64_t)was;
        shadow->overflowed |= width != 0 && width < 32 && *cell >= (1u << width) - 1;
        lacked |= !was;
    }
    return lacked;
}

uint32_t cell_of(const uint8_t *data, const struct tamis_segment_stat *s, uint64_t at)
{
    const uint32_t width = s->counter_bits != 0 ? s->counter_bits : 1;
    const uint64_t bit = s->bit_order != 0 ? at ^ 7 : at;
    uint32_t value = 0;
    for (uint32_t i = 0; i < width; i++)
        value |= (uint32_t)(data[(bit * width + i) / 8] >> ((bit * width + i) % 8) & 1) << i;
    return value;
}

double estimate(const struct tamis_segment_stat *s, uint64_t ones)
{
    const double m = (double)s->m_bits, set = ones < s->m_bits ? (double)ones : m - 1;
    const double unset = log(1 - set / m);
    if (s->kind == TAMIS_KIND_BLOOM) return fmax(-m / s->k * unset, 0);
    const double z = s->words, q = s->k / z;
    return fmax(unset / log(1 - z / 8 * (1 - pow(63.0 / 64, q)) * 512 / m), 0);
}

struct shadow *newest_of(const struct filter *filter)
{
    return filter->now.list.segments[filter->now.list.count - 1];
}

struct shadow *first_of(const struct filter *filter)
{
    return filter->now.list.segments[0];
}

bool counts(const struct filter *filter)
{
    return newest_of(filter)->is.counter_bits != 0;
}

/* ---- Filters and streams ----------------------------------------------------------------------
 */

uint64_t exceptions_of(const struct filter *filter)
{
    uint64_t count = 0;
    for (size_t i = 0; i < POOL / 8; i++)
        count += (unsigned)__builtin_popcount(filter->by_hand.bits[i] | filter->now.found.bits[i]);
    return count;
}

bool is_exception(const struct filter *filter, uint32_t key)
{
    return set_has(&filter->by_hand, key) || set_has(&filter->now.found, key);
}

void generation_clear(struct generation *generation)
{
    list_clear(&generation->list);
    memset(generation, 0, sizeof *generation);
}

void filter_let_go(struct filter *filter)
{
    if (filter == NULL || --filter->users > 0) return;
    generation_clear(&filter->now);
    for (uint32_t i = 0; i < filter->kept_count; i++)
        generation_clear(&filter->kept[i]);
    free(filter);
}
