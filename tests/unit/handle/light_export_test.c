/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small filters that are written out, asked or told of, without being open (handle/light.c,
 * tamis_cabinet_export(), tamis_cabinet_ask() and tamis_light_segment()), and the look at the
 * catalog for many names (catalog/peek.c).
 *
 * Broken to see it fail: a capacity that is not summed anew; a time of creation that is not
 * compared; a sheet that was left; one whose mark is stale; exceptions of the record; pages of the
 * catalog that are kept over a commit; a copy of a sheet of which the end, or the length of the
 * file, is not looked at; a light handle whose seal is not compared.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixture.h"
#include "handle/points.h"
#include "hooks.h"
#include "segment/sheet.h"

struct stream {
    size_t bytes;
    unsigned char data[16384];
};

static int take(void *context, const void *data, size_t bytes)
{
    struct stream *stream = context;
    assert_true(stream->bytes + bytes <= sizeof stream->data);
    memcpy(stream->data + stream->bytes, data, bytes);
    stream->bytes += bytes;
    return 0;
}

static struct tamis_sink sink_of(struct stream *stream)
{
    stream->bytes = 0;
    return (struct tamis_sink){.size = sizeof(struct tamis_sink), .write = take, .context = stream};
}

static const char *name_of(unsigned i)
{
    static char name[64];
    (void)snprintf(name, sizeof name, "user/%05u", i);
    return name;
}

static tamis_cabinet *cabinet_of(tamis_store *store)
{
    tamis_cabinet *cabinet = NULL;
    assert_done(tamis_cabinet_open(store, 8, &cabinet));
    return cabinet;
}

static void make(tamis_store *store, unsigned i, uint64_t capacity)
{
    struct tamis_key keys[20];
    unsigned numbers[20];
    for (unsigned k = 0; k < 20; k++) {
        numbers[k] = i * 1000 + k;
        keys[k] = (struct tamis_key){&numbers[k], sizeof numbers[k]};
    }
    const struct tamis_filled filled = {
        .name = name_of(i),
        .spec = SPEC(.capacity = capacity, .fp_rate = 0.01, .flags = TAMIS_FILTER_IN_DRAWER),
        .keys = keys,
        .key_count = 20};
    assert_done(tamis_filter_create_filled(store, &filled, 1));
}

static int light_export(tamis_cabinet *cabinet, const char *name, int64_t created_at,
                        struct stream *stream)
{
    const struct tamis_sink sink = sink_of(stream);
    const int rc = tamis_cabinet_export(cabinet, name, created_at, TAMIS_EXPORT_WITH_KEY, &sink);
    assert_done(rc);
    if (rc == 0) assert_int_equal(stream->bytes, 0);
    return rc;
}

static void export_open(tamis_store *store, const char *name, struct stream *stream)
{
    const struct tamis_sink sink = sink_of(stream);
    AUTO_FILTER *filter = fixture_opened(store, name, TAMIS_READ_ONLY);
    assert_done(tamis_filter_export(filter, "tamis", TAMIS_EXPORT_WITH_KEY, &sink));
}

static void assert_same(tamis_store *store, tamis_cabinet *cabinet, const char *name)
{
    static struct stream light, open;
    assert_int_equal(light_export(cabinet, name, 0, &light), 1);
    export_open(store, name, &open);
    assert_int_equal(light.bytes, open.bytes);
    assert_memory_equal(light.data, open.data, open.bytes);
}

/* ---- The stream ------------------------------------------------------------------------------ */

STORE_CASE(light_exports_are_byte_for_byte_those_of_open_filters)
{
    static const struct tamis_filter_spec specs[] = {
        SPEC_FIELD(.capacity = 100, .flags = TAMIS_FILTER_IN_DRAWER),
        SPEC_FIELD(.capacity = 2000, .fp_rate = 0.01, .flags = TAMIS_FILTER_IN_DRAWER),
        SPEC_FIELD(.capacity = 100, .fp_rate = 0.0001, .seed = 7,
                   .flags = TAMIS_FILTER_IN_DRAWER | TAMIS_FILTER_OWNED),
        SPEC_FIELD(.m_bits = 777, .k = 3, .flags = TAMIS_FILTER_IN_DRAWER),
        SPEC_FIELD(.capacity = 50, .on_full = TAMIS_ON_FULL_REFUSE,
                   .flags = TAMIS_FILTER_IN_DRAWER),
        SPEC_FIELD(.capacity = 50, .on_full = TAMIS_ON_FULL_WARN, .flags = TAMIS_FILTER_IN_DRAWER),
        SPEC_FIELD(.capacity = 50, .kind = TAMIS_KIND_BLOOM, .pages = TAMIS_PAGES_SMALL,
                   .flags = TAMIS_FILTER_IN_DRAWER),
    };
    tamis_cabinet *cabinet = cabinet_of(store);
    for (unsigned i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        assert_done(tamis_filter_create(store, name_of(i), &specs[i], NULL));
        assert_same(store, cabinet, name_of(i));
        AUTO_FILTER *filter = fixture_opened(store, name_of(i), 0);
        for (unsigned k = 0; k < 70; k++)
            (void)!tamis_filter_add(filter, &k, sizeof k);
        if (fixture_stat(filter).segment_count == 1) assert_same(store, cabinet, name_of(i));
    }
    assert_done(tamis_filter_rename(store, name_of(2),
                                    "another name, as long as one that a sheet "
                                    "has no room for can be"));
    assert_same(store, cabinet, "another name, as long as one that a sheet has no room for can be");
    tamis_cabinet_close(cabinet);
}

/* A part, the digest at the head, and what would tell a seed. */
STORE_CASE(light_exports_take_flags_and_parts)
{
    static struct stream light, open;
    tamis_cabinet *cabinet = cabinet_of(store);
    assert_done(tamis_filter_create(
        store, "f", SPEC(.capacity = 100, .seed = 3, .flags = TAMIS_FILTER_IN_DRAWER), NULL));
    AUTO_FILTER *filter = fixture_opened(store, "f", TAMIS_READ_ONLY);
    struct tamis_sink sink = sink_of(&light);
    assert_int_equal(tamis_cabinet_export(cabinet, "f", 0, 0, &sink), TAMIS_EINVAL);
    assert_int_equal(tamis_cabinet_export(cabinet, "f", 0, 64, &sink), TAMIS_EINVAL);
    assert_int_equal(light.bytes, 0);
    const unsigned flags = TAMIS_EXPORT_WITH_KEY | TAMIS_EXPORT_WITH_DIGEST;
    assert_int_equal(tamis_cabinet_export(cabinet, "f", 0, flags, &sink), 1);
    sink = sink_of(&open);
    assert_done(tamis_filter_export(filter, "tamis", flags, &sink));
    assert_int_equal(light.bytes, open.bytes);
    assert_memory_equal(light.data, open.data, open.bytes);
    uint64_t all = 0;
    sink = sink_of(&light);
    sink.from = 100;
    sink.bytes = 300;
    sink.all_bytes = &all;
    assert_int_equal(tamis_cabinet_export(cabinet, "f", 0, TAMIS_EXPORT_WITH_KEY, &sink), 1);
    assert_int_equal(light.bytes, 300);
    assert_int_equal(all, open.bytes - 40);
    assert_memory_equal(light.data, open.data + 140, 300);
    tamis_cabinet_close(cabinet);
}

/* ---- What others do -------------------------------------------------------------------------- */

STORE_CASE(light_exports_are_of_what_is_in_force)
{
    static struct stream stream;
    const unsigned key = 1;
    tamis_cabinet *cabinet = cabinet_of(store);
    AUTO_FILTER *file = fixture_filter(store, "file", 1000);
    assert_int_equal(light_export(cabinet, "file", 0, &stream), 0);
    assert_int_equal(light_export(cabinet, "nowhere", 0, &stream), 0);
    for (unsigned i = 0; i < 4; i++)
        make(store, i, 100);
    AUTO_FILTER *grown = fixture_opened(store, name_of(0), 0);
    const int64_t created_at = tamis_filter_created_at(grown);
    assert_int_equal(light_export(cabinet, name_of(0), created_at, &stream), 1);
    assert_int_equal(light_export(cabinet, name_of(0), created_at + 1, &stream), 0);
    for (unsigned k = 5000; k < 5200; k++)
        assert_done(tamis_filter_add(grown, &k, sizeof k));
    assert_true(fixture_stat(grown).segment_count > 1);
    assert_int_equal(light_export(cabinet, name_of(0), 0, &stream), 0);
    assert_int_equal(
        tamis_filter_except(store, name_of(1), &(struct tamis_key){&key, sizeof key}, 1), 1);
    assert_int_equal(light_export(cabinet, name_of(1), 0, &stream), 0);
    assert_done(tamis_filter_drop(store, name_of(2)));
    assert_int_equal(light_export(cabinet, name_of(2), 0, &stream), 0);
    make(store, 2, 100);
    assert_same(store, cabinet, name_of(2));
    assert_same(store, cabinet, name_of(3));
    tamis_cabinet_close(cabinet);
}

/* Between the look at the catalog and that at the drawer. */
static tamis_store *other_store;

static void grow_meanwhile(unsigned point)
{
    if (point != TAMIS__POINT_LIGHT_LOOKED) return;
    tamis__point_hook = NULL;
    AUTO_FILTER *filter = fixture_opened(other_store, name_of(0), 0);
    for (unsigned k = 5000; k < 5200; k++)
        assert_done(tamis_filter_add(filter, &k, sizeof k));
}

static void drop_meanwhile(unsigned point)
{
    if (point != TAMIS__POINT_LIGHT_LOOKED) return;
    tamis__point_hook = NULL;
    assert_done(tamis_filter_drop(other_store, name_of(1)));
}

STORE_CASE(light_exports_see_what_comes_behind_the_look)
{
    static struct stream stream;
    tamis_cabinet *cabinet = cabinet_of(store);
    other_store = store;
    for (unsigned i = 0; i < 4; i++)
        make(store, i, 100);
    tamis__point_hook = grow_meanwhile;
    assert_int_equal(light_export(cabinet, name_of(0), 0, &stream), 0);
    tamis__point_hook = drop_meanwhile;
    assert_int_equal(light_export(cabinet, name_of(1), 0, &stream), 0);
    tamis_cabinet_close(cabinet);
}

/* Branches of the catalog's tree are kept, as there are so many filters, and others commit. */
STORE_CASE(light_exports_see_what_was_committed_since)
{
    enum { FILTERS = 600 };
    static struct stream stream;
    tamis_cabinet *cabinet = cabinet_of(store);
    for (unsigned i = 0; i < FILTERS; i++)
        make(store, i, 100);
    for (unsigned i = 0; i < FILTERS; i += 37)
        assert_same(store, cabinet, name_of(i));
    for (unsigned turn = 0; turn < 3; turn++) {
        for (unsigned i = turn; i < FILTERS; i += 3)
            assert_done(tamis_filter_drop(store, name_of(i)));
        for (unsigned i = 0; i < FILTERS; i++)
            assert_int_equal(light_export(cabinet, name_of(i), 0, &stream), i % 3 != turn);
        for (unsigned i = turn; i < FILTERS; i += 3) {
            make(store, i, 100);
            assert_same(store, cabinet, name_of(i));
        }
    }
    tamis_cabinet_close(cabinet);
}

/* ---- Questions ------------------------------------------------------------------------------- */

static const struct tamis_filter_spec asked_specs[] = {
    SPEC_FIELD(.capacity = 100, .flags = TAMIS_FILTER_IN_DRAWER),
    SPEC_FIELD(.capacity = 1500, .fp_rate = 0.01, .flags = TAMIS_FILTER_IN_DRAWER),
    SPEC_FIELD(.capacity = 100, .fp_rate = 0.0001, .seed = 7, .flags = TAMIS_FILTER_IN_DRAWER),
    SPEC_FIELD(.m_bits = 777, .k = 3, .flags = TAMIS_FILTER_IN_DRAWER),
    SPEC_FIELD(.capacity = 50, .kind = TAMIS_KIND_BLOOM, .flags = TAMIS_FILTER_IN_DRAWER),
    SPEC_FIELD(.m_bits = 800, .k = 5, .hash_set = "redisbloom", .flags = TAMIS_FILTER_IN_DRAWER),
};
#define ASKED_SPECS (sizeof asked_specs / sizeof asked_specs[0])

/* Seen to fail with the answers of the copy all 1, and without the times of creation compared. */
STORE_CASE(questions_by_name_have_the_answers_of_open_filters)
{
    enum { KEYS = 3000 };
    static unsigned numbers[KEYS];
    static struct tamis_key keys[KEYS];
    static uint8_t open[KEYS], light[KEYS];
    tamis_cabinet *cabinet = cabinet_of(store);
    for (unsigned k = 0; k < KEYS; k++) {
        numbers[k] = k;
        keys[k] = (struct tamis_key){&numbers[k], sizeof numbers[k]};
    }
    for (unsigned i = 0; i < ASKED_SPECS; i++) {
        struct tamis_segment_stat told = {.size = sizeof told};
        assert_done(tamis_filter_create(store, name_of(i), &asked_specs[i], NULL));
        AUTO_FILTER *filter = fixture_opened(store, name_of(i), 0);
        const int64_t created_at = tamis_filter_created_at(filter);
        for (unsigned k = 0; k < 40; k++)
            assert_done(tamis_filter_add(filter, &numbers[7 * k], sizeof numbers[0]));
        assert_done(tamis_filter_contains_batch(filter, keys, KEYS, open));
        assert_int_equal(
            tamis_cabinet_ask(cabinet, name_of(i), created_at, keys, KEYS, light, &told), 1);
        assert_memory_equal(light, open, KEYS);
        const struct tamis_segment_stat expected = fixture_segment_stat(filter, 0);
        assert_memory_equal(&told, &expected, sizeof told);
        assert_int_equal(tamis_cabinet_ask(cabinet, name_of(i), 0, NULL, 0, NULL, NULL), 1);
        assert_int_equal(
            tamis_cabinet_ask(cabinet, name_of(i), created_at + 1, keys, KEYS, light, NULL), 0);
    }
    assert_int_equal(tamis_cabinet_ask(cabinet, "nowhere", 0, keys, 1, light, NULL), 0);
    tamis_cabinet_close(cabinet);
}

/* A filter that has grown, got exceptions or gone, before the look at the catalog or behind it. */
STORE_CASE(questions_by_name_are_of_what_is_in_force)
{
    const unsigned number = 3 * 1000 + 5;
    const struct tamis_key key = {&number, sizeof number};
    uint8_t answer = 9;
    tamis_cabinet *cabinet = cabinet_of(store);
    other_store = store;
    for (unsigned i = 0; i < 4; i++)
        make(store, i, 100);
    tamis__point_hook = grow_meanwhile;
    assert_int_equal(tamis_cabinet_ask(cabinet, name_of(0), 0, &key, 1, &answer, NULL), 0);
    assert_int_equal(tamis_cabinet_ask(cabinet, name_of(0), 0, &key, 1, &answer, NULL), 0);
    tamis__point_hook = drop_meanwhile;
    assert_int_equal(tamis_cabinet_ask(cabinet, name_of(1), 0, &key, 1, &answer, NULL), 0);
    assert_int_equal(tamis_filter_except(store, name_of(2), &key, 1), 1);
    assert_int_equal(tamis_cabinet_ask(cabinet, name_of(2), 0, &key, 1, &answer, NULL), 0);
    assert_int_equal(answer, 9);
    assert_int_equal(tamis_cabinet_ask(cabinet, name_of(3), 0, &key, 1, &answer, NULL), 1);
    assert_int_equal(answer, 1);
    assert_done(tamis_filter_drop(store, name_of(3)));
    make(store, 3, 100);
    AUTO_FILTER *filter = fixture_opened(store, name_of(3), 0);
    const unsigned later = 123456;
    assert_done(tamis_filter_add(filter, &later, sizeof later));
    const struct tamis_key added = {&later, sizeof later};
    assert_int_equal(tamis_cabinet_ask(cabinet, name_of(3), 0, &added, 1, &answer, NULL), 1);
    assert_int_equal(answer, 1);
    tamis_cabinet_close(cabinet);
}

/* ---- Files that are cut ---------------------------------------------------------------------- */

#define LARGE 63u /* sheets of 4 KiB in a drawer */
#define LARGE_KEYS 2000u

static char *drawer;
static off_t cut_at;

static void cut_meanwhile(unsigned point)
{
    if (point != TAMIS__POINT_LIGHT_LOOKED) return;
    tamis__point_hook = NULL;
    if (truncate(drawer, cut_at) != 0) _exit(3);
}

static uint64_t number_of(tamis_store *store, unsigned i)
{
    AUTO_FILTER *filter = fixture_opened(store, name_of(i), TAMIS_READ_ONLY);
    return fixture_segment_stat(filter, 0).number;
}

/* cmocka handles SIGBUS itself. */
static void on_sigbus(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)context;
    if (!tamis_sigbus_mend(info->si_addr)) _exit(99);
}

/* The drawer is mapped, and then cut at many places: in a sheet, behind it, before it, in the last
 * page.  What is written is the whole filter, or nothing. */
static void look_at_cuts(void *path)
{
    static struct stream whole, stream;
    static unsigned char bytes[TAMIS__DRAWER_BYTES];
    struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};
    tamis_store *store = fixture_open(path, 0);
    (void)sigaction(SIGBUS, &action, NULL);
    const unsigned looked[] = {5, LARGE - 1};
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t number = number_of(store, looked[i]), at = tamis__sheet_offset(number);
        drawer = strdup(fixture_segment_path(path, number));
        export_open(store, name_of(looked[i]), &whole);
        const int fd = open(drawer, O_RDWR | O_CLOEXEC);
        for (uint64_t cut = at + 4096 + 64; cut + 64 > at; cut -= 64) {
            if (pread(fd, bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) _exit(2);
            tamis_cabinet *cabinet = cabinet_of(store);
            if (light_export(cabinet, name_of(looked[i]), 0, &stream) != 1) _exit(4);
            cut_at = (off_t)(cut > TAMIS__DRAWER_BYTES ? TAMIS__DRAWER_BYTES : cut);
            tamis__point_hook = cut_meanwhile;
            const int rc = light_export(cabinet, name_of(looked[i]), 0, &stream);
            if (rc == 1 &&
                (stream.bytes != whole.bytes || memcmp(stream.data, whole.data, whole.bytes) != 0))
                _exit(5);
            if (rc == 1 && cut_at < (off_t)TAMIS__DRAWER_BYTES && i == 1) _exit(6);
            tamis_cabinet_close(cabinet);
            if (pwrite(fd, bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) _exit(2);
        }
    }
    _exit(0);
}

STORE_CASE(light_exports_are_whole_or_none_of_a_file_that_is_cut)
{
    for (unsigned i = 0; i < LARGE; i++)
        make(store, i, LARGE_KEYS);
    assert_int_equal(tamis__sheet_offset(number_of(store, LARGE - 1)), TAMIS__DRAWER_BYTES - 4096);
    assert_int_equal(fixture_child(look_at_cuts, path), 0);
}

/* ---- What a light handle tells --------------------------------------------------------------- */

STORE_CASE(light_handles_tell_of_their_segment)
{
    struct tamis_segment_stat told = {.size = sizeof told};
    struct tamis_light light;
    const unsigned key = 77;
    tamis_cabinet *cabinet = cabinet_of(store);
    make(store, 0, 100);
    make(store, 1, 100);
    AUTO_FILTER *filter = fixture_opened(store, name_of(0), 0);
    assert_int_equal(tamis_light_find(cabinet, name_of(0), 0, &light), 1);
    for (unsigned turn = 0; turn < 2; turn++) {
        assert_int_equal(tamis_light_segment(cabinet, &light, &told), 1);
        const struct tamis_segment_stat wanted = fixture_segment_stat(filter, 0);
        assert_memory_equal(&told, &wanted, sizeof told);
        assert_int_equal(told.items, 20 + turn);
        assert_int_equal(tamis_filter_add(filter, &key, sizeof key), turn == 0);
    }
    assert_int_equal(
        tamis_filter_except(store, name_of(0), &(struct tamis_key){&key, sizeof key}, 1), 1);
    assert_int_equal(tamis_light_segment(cabinet, &light, &told), 0);
    assert_int_equal(tamis_light_find(cabinet, name_of(1), 0, &light), 1);
    assert_done(tamis_filter_drop(store, name_of(1)));
    assert_int_equal(tamis_light_segment(cabinet, &light, &told), 0);
    light = (struct tamis_light){0};
    assert_int_equal(tamis_light_segment(cabinet, &light, &told), 0);
    tamis_cabinet_close(cabinet);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
