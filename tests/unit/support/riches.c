/* SPDX-License-Identifier: BSD-2-Clause */
/* riches.c: see riches.h. */
#include "riches.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>

#include "editions.h"
#include "fuses.h"
#include "numbers.h"
#include "txn/draft.h"

#define ASKED 20000u
#define BATCH 1000u

/* ---- Making ---------------------------------------------------------------------------------- */

static void fill(tamis_filter *filter, uint64_t from, uint64_t count)
{
    for (uint64_t key = from; key < from + count; key++)
        if (tamis_filter_add(filter, &key, sizeof key) < 0) break;
}

static void make(tamis_store *store, const char *name, const struct tamis_filter_spec *spec,
                 uint64_t from, uint64_t count)
{
    AUTO_FILTER *filter = fixture_create(store, name, spec);
    fill(filter, from, count);
}

static void make_window(tamis_store *store)
{
    AUTO_FILTER *filter =
        fixture_create(store, "window", SPEC(.window_items = 400, .slices = 4, .fp_rate = 0.001));
    for (uint64_t slice = 0; slice < 8; slice++) {
        fill(filter, slice * 50, 50);
        assert_done(tamis_filter_rotate(filter));
    }
}

static void make_counting(tamis_store *store)
{
    AUTO_FILTER *filter = fixture_create(
        store, "counting", SPEC(.capacity = 500, .fp_rate = 0.001, .kind = TAMIS_KIND_COUNTING));
    for (int i = 0; i < 40; i++)
        fill(filter, 0, 200);
}

static void make_list(tamis_store *store)
{
    struct tamis__exceptions found = {0};
    uint64_t keys[3] = {2001, 2002, 777};
    struct tamis_key hand[2] = {{&keys[0], 8}, {&keys[2], 8}};
    for (uint64_t g = 0; g < 3; g++) {
        tamis__exceptions_clear(&found);
        keys[1] = g * 1000 + 2;
        assert_done(tamis__exceptions_add(&found, &keys[1], 8, 0));
        assert_done(tamis__exceptions_sort(&found));
        assert_done(editions_publish(store, "list", g * 1000, 1000, NULL, g == 2 ? &found : NULL));
    }
    tamis__exceptions_clear(&found);
    assert_int_equal(tamis_filter_except(store, "list", hand, 2), 2);
}

/* Keys that nobody asks for: they fill the second segment of a filter that grows. */
static void pad(tamis_filter *filter, uint64_t count)
{
    fill(filter, UINT64_C(1) << 32, count);
}

/* Three segments, each of which has keys that are asked for.  The rate keeps the files small. */
static void make_grown(tamis_store *store)
{
    AUTO_FILTER *filter = fixture_create(store, "grown", SPEC(.capacity = 100, .fp_rate = 0.5));
    fill(filter, 0, 500);
    pad(filter, 90000);
    fill(filter, 500, 500);
    assert_int_equal(fixture_stat(filter).segment_count, 3);
}

static void make_back(tamis_store *store)
{
    tamis_filter *filter = fixture_create(store, "back", SPEC(.capacity = 100, .fp_rate = 0.5));
    fill(filter, 0, 300);
    pad(filter, 60000);
    assert_int_equal(fixture_stat(filter).segment_count, 2);
    assert_done(tamis_filter_close(filter));
    assert_done(editions_publish(store, "back", 5000, 100, NULL, NULL));
    assert_done(tamis_filter_rollback(store, "back", 0));
    filter = fixture_opened(store, "back", 0);
    pad(filter, 90000);
    fill(filter, 300, 700);
    assert_int_equal(fixture_stat(filter).segment_count, 3);
    assert_done(tamis_filter_close(filter));
}

void riches_publish_fuse(tamis_store *store, const char *name, uint64_t from, uint64_t count)
{
    AUTO_FUSES fuses;
    struct tamis__draft draft = {.staged.file.fd = -1};
    struct tamis__published published;
    fuses_make(&fuses, from, count, 16);
    draft.header = *fuses.segment.header;
    draft.header.store_id = store->store_id;
    draft.header.created_at = tamis__now_ns();
    const uint64_t data_bytes = draft.header.data_bytes, at = draft.header.data_offset;
    assert_done(tamis__draft_stage(store, &draft));
    assert_done(tamis__segment_fill(&store->place, &draft.staged, at, fuses.segment.data,
                                    (size_t)data_bytes));
    assert_done(tamis__segment_sync_staged(&store->place, &draft.staged, &draft.header));
    struct tamis__edition edition = {
        .name = name,
        .drafts = &draft,
        .count = 1,
        .capacity = draft.header.capacity,
        .fp_rate = 0.01,
        .policy = {.on_full = TAMIS_ON_FULL_WARN, .capacity = count + !count, .fp_rate = 0.01}};
    edition.key_digest[0] = (uint8_t)(from + 1);
    assert_done(tamis__publish_edition(store, &edition, &published));
}

void riches_make(char **path)
{
    const struct tamis_filter_spec
        plain = {.size = sizeof plain, .capacity = 1000, .on_full = TAMIS_ON_FULL_WARN},
        foreign = {.size = sizeof foreign, .m_bits = 1000, .hash_set = "php:js,pjw"},
        refusing = {.size = sizeof refusing, .capacity = 100, .on_full = TAMIS_ON_FULL_REFUSE};
    AUTO_STORE *store = fixture_store(path);
    make(store, "plain", &plain, 0, 500);
    make(store, "foreign", &foreign, 0, 100);
    make_grown(store);
    make(store, "refusing", &refusing, 0, 150);
    make_window(store);
    make_counting(store);
    make(store, "first name", &plain, 100, 100);
    assert_done(tamis_filter_rename(store, "first name", "second name"));
    assert_done(tamis_filter_rename(store, "second name", "renamed"));
    make_list(store);
    make_back(store);
    assert_done(editions_publish(store, "again", 0, 100, NULL, NULL));
    assert_done(editions_publish(store, "again", 100, 100, NULL, NULL));
    assert_done(tamis_filter_rollback(store, "again", 1));
    riches_publish_fuse(store, "static", 0, 1000);
    riches_publish_fuse(store, "static", 500, 2000);
    riches_publish_fuse(store, "empty", 0, 0);
    make(store, "dropped", &plain, 0, 10);
    assert_done(tamis_filter_drop(store, "dropped"));
}

/* ---- Looking --------------------------------------------------------------------------------- */

struct portrait {
    char *text;
    size_t bytes;
    FILE *out;
    tamis_store *store;
};

static int draw_generation(void *context, const struct tamis_generation_stat *g)
{
    struct portrait *p = context;
    (void)fprintf(p->out,
                  "  generation %" PRIu64 " in force %u kind %u segments %u items %" PRIu64
                  " bytes %" PRIu64 " rate %g exceptions %" PRIu64 " digest %u\n",
                  g->generation, g->in_force, g->kind, g->segment_count, g->items, g->size_bytes,
                  g->fp_rate, g->exceptions, g->key_digest[0]);
    return 0;
}

static int draw_exception(void *context, const struct tamis_key *key, uint64_t generation)
{
    struct portrait *p = context;
    uint64_t number = 0;
    memcpy(&number, key->data, key->bytes < sizeof number ? key->bytes : sizeof number);
    (void)fprintf(p->out, "  exception %" PRIu64 " of generation %" PRIu64 "\n", number,
                  generation);
    return 0;
}

/* Which of the keys 0 .. ASKED - 1 are in, as a count and a sum; how often, where it counts. */
static int64_t draw_answers(struct portrait *p, tamis_filter *filter, bool counts)
{
    uint64_t numbers[BATCH], many[BATCH], in = 0, sum = 0;
    struct tamis_key keys[BATCH];
    uint8_t answers[BATCH];
    for (uint64_t first = 0; first < ASKED; first += BATCH) {
        numbers_from(first, BATCH, numbers, keys);
        int64_t rc = tamis_filter_contains_batch(filter, keys, BATCH, answers);
        if (rc >= 0 && counts) rc = tamis_filter_count_batch(filter, keys, BATCH, many);
        if (rc < 0) return rc;
        for (uint64_t i = 0; i < BATCH; i++) {
            in += answers[i];
            sum += answers[i] * (first + i + 1) * (counts ? many[i] : 1);
        }
    }
    (void)fprintf(p->out, "  answers %" PRIu64 " sum %" PRIu64 "\n", in, sum);
    return 0;
}

static int draw_filter(void *context, const struct tamis_filter_stat *s)
{
    struct portrait *p = context;
    tamis_filter *filter;
    (void)fprintf(p->out,
                  "%s: kind %u hash set %s k %u seed %" PRIu64 " counters %u m %" PRIu64
                  " capacity %" PRIu64 " rate %g items %" PRIu64 " bytes %" PRIu64
                  " generation %" PRIu64 " segments %u window %" PRId64 " %" PRIu64 " %u full %u "
                  "state %u\n",
                  s->name, s->kind, s->hash_set, s->k, s->seed, s->counter_bits, s->m_bits,
                  s->capacity, s->fp_rate, s->items, s->size_bytes, s->generation, s->segment_count,
                  s->window_ns, s->window_items, s->slices, s->on_full, s->state);
    int rc = tamis_filter_generations(p->store, s->name, draw_generation, p);
    if (rc == 0) rc = tamis_filter_exceptions(p->store, s->name, draw_exception, p);
    if (rc == 0) rc = tamis_filter_open(p->store, s->name, TAMIS_OPEN_READ_ONLY, &filter);
    if (rc < 0) return rc;
    rc = (int)draw_answers(p, filter, s->kind == TAMIS_KIND_COUNTING);
    const int closed = tamis_filter_close(filter);
    return rc < 0 ? rc : closed;
}

int riches_try_portrait(const char *path, char **text)
{
    struct portrait p = {.text = NULL};
    p.out = open_memstream(&p.text, &p.bytes);
    if (p.out == NULL) err(1, "open_memstream");
    int rc = tamis_store_open(path, TAMIS_OPEN_READ_ONLY, &p.store);
    if (rc == 0) {
        rc = tamis_store_list(p.store, NULL, draw_filter, &p);
        tamis_store_close(p.store);
    }
    if (fclose(p.out) != 0) err(1, "portrait");
    *text = p.text;
    return rc;
}

char *riches_portrait(const char *path)
{
    char *text;
    assert_done(riches_try_portrait(path, &text));
    return text;
}

void riches_assert_portrait(const char *path, const char *expected)
{
    AUTO_FREE char *now = riches_portrait(path);
    if (strcmp(now, expected) != 0) fail_msg("it was:\n%s\nand is:\n%s", expected, now);
}
