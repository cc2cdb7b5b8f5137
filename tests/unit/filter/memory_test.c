/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory_test.c: filters without a store: they answer as a filter of a store with the same spec
 * does, bit for bit, and go into a store and back.
 *
 * Broken to see it fail: items that a batch does not count; a step that is always 0; a head without
 * items; a parse that takes a window.
 */
#include <stdlib.h>

#include "fixture.h"
#include "tamis_memory.h"

#define KEYS 3000u

struct text_keys {
    char texts[KEYS][16];
    struct tamis_key keys[KEYS];
};

static struct text_keys *make_keys(const char *word)
{
    struct text_keys *made = calloc(1, sizeof *made);
    for (unsigned i = 0; i < KEYS; i++) {
        made->keys[i].data = made->texts[i];
        made->keys[i].bytes =
            (size_t)snprintf(made->texts[i], sizeof made->texts[i], "%s %u", word, i);
    }
    return made;
}

static struct tamis_memory_filter make(const struct tamis_filter_spec *spec, uint32_t step)
{
    struct tamis_memory_filter filter;
    assert_int_equal(tamis_memory_filter_init(&filter, spec, step), 1);
    filter.data = calloc(1, filter.data_bytes);
    return filter;
}

static const struct tamis_filter_spec specs[] = {
    {.size = sizeof specs[0], .capacity = KEYS, .fp_rate = 0.01, .kind = TAMIS_KIND_BLOCKED},
    {.size = sizeof specs[0], .capacity = KEYS, .fp_rate = 1e-6, .kind = TAMIS_KIND_BLOCKED},
    {.size = sizeof specs[0],
     .capacity = KEYS,
     .fp_rate = 0.001,
     .kind = TAMIS_KIND_BLOOM,
     .on_full = TAMIS_ON_FULL_REFUSE,
     .seed = 7},
    {.size = sizeof specs[0], .capacity = 10, .fp_rate = 0.01, .hash_set = "redisbloom"},
};
#define SPECS (sizeof specs / sizeof specs[0])

CASE(memory_one_by_one_and_in_batches_have_the_same_bits)
{
    struct text_keys *in = make_keys("key"), *out = make_keys("not");
    for (size_t s = 0; s < SPECS; s++) {
        struct tamis_memory_filter one = make(&specs[s], 0), all = make(&specs[s], 0);
        uint8_t answers[KEYS];
        for (unsigned i = 0; i < KEYS; i++)
            (void)tamis_memory_filter_add(&one, in->keys[i].data, in->keys[i].bytes);
        const size_t news = tamis_memory_filter_add_batch(&all, in->keys, KEYS, answers);
        assert_int_equal(one.items, all.items);
        assert_int_equal(all.items, news);
        assert_memory_equal(one.data, all.data, all.data_bytes);
        assert_int_equal(tamis_memory_filter_contains_batch(&all, in->keys, KEYS, answers), KEYS);
        const size_t strangers = tamis_memory_filter_contains_batch(&all, out->keys, KEYS, answers);
        for (unsigned i = 0; i < KEYS; i++)
            assert_int_equal(
                tamis_memory_filter_contains(&all, out->keys[i].data, out->keys[i].bytes),
                answers[i]);
        if (specs[s].capacity == KEYS) assert_true(strangers < KEYS / 30);
        assert_int_equal(tamis_memory_filter_add(&all, in->keys[0].data, in->keys[0].bytes), 0);
        free(one.data);
        free(all.data);
    }
    free(in);
    free(out);
}

CASE(memory_refuses_what_needs_a_store)
{
    struct tamis_memory_filter filter;
    struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 10, .window_items = 100};
    assert_refused(TAMIS_EUNSUPPORTED, "need a store", tamis_memory_filter_init(&filter, &spec, 0));
    spec = (struct tamis_filter_spec){
        .size = sizeof spec, .capacity = 10, .kind = TAMIS_KIND_COUNTING};
    assert_refused(TAMIS_EUNSUPPORTED, "need a store", tamis_memory_filter_init(&filter, &spec, 0));
    filter = make(&specs[0], 0);
    assert_done(tamis_memory_filter_check(&filter));
    filter.data_bytes -= 64;
    assert_refused(TAMIS_ECORRUPT, "in memory", tamis_memory_filter_check(&filter));
    free(filter.data);
}

CASE(memory_grows_by_steps_as_a_store_does)
{
    struct tamis_memory_filter filter;
    struct tamis_sizing sizing = {.size = sizeof sizing};
    for (uint32_t step = 0; step < 3; step++) {
        assert_int_equal(tamis_memory_filter_init(&filter, &specs[0], step), 1);
        assert_int_equal(tamis_filter_plan(&specs[0], step, &sizing), 1);
        assert_int_equal(filter.m_bits, sizing.m_bits);
        assert_int_equal(filter.capacity, sizing.capacity);
        assert_int_equal(filter.step, step);
    }
    assert_int_equal(tamis_memory_filter_init(&filter, &specs[2], 1), 0); /* it refuses */
}

/* ---- Streams --------------------------------------------------------------------------------- */

struct bytes {
    unsigned char *data;
    size_t count, at;
};

static int append(void *context, const void *data, size_t count)
{
    struct bytes *bytes = context;
    bytes->data = realloc(bytes->data, bytes->count + count);
    memcpy(bytes->data + bytes->count, data, count);
    bytes->count += count;
    return 0;
}

static int64_t take(void *context, void *buffer, size_t count)
{
    struct bytes *bytes = context;
    const size_t left = bytes->count - bytes->at, now = left < count ? left : count;
    memcpy(buffer, bytes->data + bytes->at, now);
    bytes->at += now;
    return (int64_t)now;
}

STORE_CASE(memory_goes_into_a_store_and_back)
{
    struct text_keys *in = make_keys("key"), *more = make_keys("more");
    struct tamis_memory_filter filters[2] = {make(&specs[0], 0), make(&specs[0], 1)};
    struct bytes bytes = {.data = NULL}, again = {.data = NULL};
    const struct tamis_sink sink = {.size = sizeof sink, .write = append, .context = &bytes},
                            back = {.size = sizeof sink, .write = append, .context = &again};
    struct tamis_source source = {.size = sizeof source, .read = take, .context = &bytes};
    unsigned char head[TAMIS_MEMORY_HEAD_BYTES(2)];
    uint8_t answers[KEYS];
    AUTO_FILTER *filter = NULL;
    (void)tamis_memory_filter_add_batch(&filters[0], in->keys, KEYS, answers);
    (void)tamis_memory_filter_add_batch(&filters[1], more->keys, 100, answers);
    assert_done(tamis_memory_filters_save(filters, 2, &specs[0], &sink));
    assert_int_equal(tamis_memory_filters_head(filters, 2, &specs[0], head), sizeof head);
    assert_memory_equal(head, bytes.data, sizeof head);
    assert_done(tamis_memory_stream_check(bytes.data, bytes.count));
    source.bytes = bytes.count;
    assert_done(tamis_filter_import(store, "a", "tamis", NULL, &source, &filter));
    assert_int_equal(tamis_filter_contains_batch(filter, in->keys, KEYS, answers), KEYS);
    assert_int_equal(tamis_filter_contains_batch(filter, more->keys, 100, answers), 100);
    assert_int_equal(tamis_filter_items(filter), filters[0].items + filters[1].items);

    struct tamis_memory_filter came[TAMIS_MEMORY_SEGMENTS_MAX];
    struct tamis_filter_spec spec;
    size_t head_bytes = 0;
    assert_done(tamis_filter_export(filter, "tamis", 0, &back));
    assert_int_equal(tamis_memory_filters_parse(again.data, again.count, came, &spec, &head_bytes),
                     2);
    assert_int_equal(head_bytes, sizeof head);
    assert_int_equal(spec.capacity, KEYS);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(came[i].items, filters[i].items);
        assert_int_equal(came[i].m_bits, filters[i].m_bits);
        assert_int_equal(came[i].step, i);
    }
    assert_memory_equal(again.data + head_bytes, filters[0].data, filters[0].data_bytes);
    again.data[head_bytes] ^= 1;
    assert_refused(TAMIS_ECORRUPT, "checksum", tamis_memory_stream_check(again.data, again.count));
    for (int i = 0; i < 2; i++)
        free(filters[i].data);
    free(bytes.data);
    free(again.data);
    free(in);
    free(more);
}

STORE_CASE(memory_does_not_take_the_stream_of_a_window)
{
    const struct tamis_filter_spec window = {
        .size = sizeof window, .capacity = 100, .window_items = 1000};
    struct bytes bytes = {.data = NULL};
    const struct tamis_sink sink = {.size = sizeof sink, .write = append, .context = &bytes};
    struct tamis_memory_filter came[TAMIS_MEMORY_SEGMENTS_MAX];
    struct tamis_filter_spec spec;
    size_t head_bytes;
    AUTO_FILTER *filter = fixture_create(store, "w", &window);
    assert_done(tamis_filter_export(filter, "tamis", 0, &sink));
    assert_refused(TAMIS_EUNSUPPORTED, "only be in a store",
                   tamis_memory_filters_parse(bytes.data, bytes.count, came, &spec, &head_bytes));
    assert_refused(TAMIS_ECORRUPT, "truncated",
                   tamis_memory_filters_parse(bytes.data, 50, came, &spec, &head_bytes));
    free(bytes.data);
}
