/* SPDX-License-Identifier: BSD-2-Clause */
/* counters.c: see counters.h. */
#include "counters.h"
#include "handle/view.h"

#include <err.h>
#include <stdlib.h>

static void look_inside(struct counters *c)
{
    c->segment = &c->filter->view->segments[0].segment;
    c->kind = c->filter->view->segments[0].kind;
    c->cells = tamis__cells_of(c->segment);
}

void counters_make(struct counters *c, uint64_t capacity, double fp_rate, uint32_t counter_bits)
{
    c->store = fixture_store(&c->path);
    assert_done(tamis_filter_create(c->store, "c",
                                    SPEC(.capacity = capacity, .fp_rate = fp_rate,
                                         .kind = TAMIS_KIND_COUNTING, .counter_bits = counter_bits),
                                    &c->filter));
    look_inside(c);
    c->model = calloc(c->segment->header->m_bits, sizeof *c->model);
    if (c->model == NULL) err(1, "calloc");
}

void counters_free(struct counters *c)
{
    assert_done(tamis_filter_close(c->filter));
    tamis_store_close(c->store);
    scratch_remove(c->path);
    free(c->path);
    free(c->model);
}

void counters_reopen(struct counters *c)
{
    assert_done(tamis_filter_close(c->filter));
    assert_done(tamis_filter_open(c->store, "c", 0, &c->filter));
    look_inside(c);
}

unsigned counters_cells(const struct counters *c, const void *key, size_t key_bytes,
                        uint64_t *cells)
{
    uint64_t positions[TAMIS_K_MAX];
    const struct tamis__segment_header *h = c->segment->header;
    unsigned count = 0;
    c->kind->positions(h, key, key_bytes, positions);
    for (uint32_t i = 0; i < h->k; i++) {
        bool twice = false;
        for (unsigned j = 0; j < count; j++)
            twice |= cells[j] == positions[i];
        assert_true(positions[i] < h->m_bits);
        if (!twice) cells[count++] = positions[i];
    }
    return count;
}

uint64_t counters_model_count(const struct counters *c, const void *key, size_t key_bytes)
{
    uint64_t cells[TAMIS_K_MAX], least = UINT64_MAX;
    const unsigned count = counters_cells(c, key, key_bytes, cells);
    for (unsigned i = 0; i < count; i++)
        if (c->model[cells[i]] < least) least = c->model[cells[i]];
    return least;
}

int counters_model_add(struct counters *c, const void *key, size_t key_bytes)
{
    uint64_t cells[TAMIS_K_MAX];
    const int is_new = counters_model_count(c, key, key_bytes) == 0;
    const unsigned count = counters_cells(c, key, key_bytes, cells);
    for (unsigned i = 0; i < count; i++)
        c->model[cells[i]]++;
    return is_new;
}

int counters_model_remove(struct counters *c, const void *key, size_t key_bytes)
{
    uint64_t cells[TAMIS_K_MAX];
    if (counters_model_count(c, key, key_bytes) == 0) return 0;
    const unsigned count = counters_cells(c, key, key_bytes, cells);
    for (unsigned i = 0; i < count; i++)
        c->model[cells[i]]--;
    return 1;
}

void counters_set(struct counters *c, uint64_t cell, uint64_t number)
{
    uint64_t *word = tamis__cell_word(&c->cells, cell);
    const unsigned shift = tamis__cell_shift(&c->cells, cell);
    assert_true(number < c->cells.most);
    *word = (*word & ~(c->cells.most << shift)) | number << shift;
    c->model[cell] = number;
}

void counters_check(const struct counters *c)
{
    const struct tamis__segment_header *h = c->segment->header;
    uint64_t above = 0, ones;
    double rate;
    for (uint64_t cell = 0; cell < h->m_bits; cell++) {
        if (tamis__cell_get(&c->cells, cell) != c->model[cell])
            fail_msg("cell %llu is %llu, and not %llu", (unsigned long long)cell,
                     (unsigned long long)tamis__cell_get(&c->cells, cell),
                     (unsigned long long)c->model[cell]);
        above += c->model[cell] > 0;
    }
    c->kind->measure(c->segment, &ones, &rate);
    assert_int_equal(ones, above);
    assert_int_equal(fixture_problems(c->path), 0);
    assert_int_equal(fixture_size(fixture_segment_path(c->path, h->number)),
                     tamis__header_file_bytes(h));
}
