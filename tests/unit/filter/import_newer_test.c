/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import_newer_test.c: TAMIS_PUBLISH_NEWER publishes what was made after the list in force, and
 * refuses what was made before it (store/filter/import_newer.c).
 *
 * Seen to fail: with times_of() taking signed_at first (an old list that is signed again passes);
 * with imported_made_at not noted (a list that has grown here is newer than tonight's); with
 * only_over not heeded in publish.c (a list that came meanwhile is replaced by an older one); with
 * the first judge() of import_publish.c left out (an old list is read whole).
 */
#include "fixture.h"

#include <unistd.h>

#include "editions.h"
#include "streams.h"
#include "tamis.h"

#define DAY INT64_C(86400000000000)

static void build(tamis_store *store, const char *name, uint64_t first)
{
    const struct tamis_build_spec spec = {.size = sizeof spec, .threads = 1};
    tamis_build *build;
    assert_done(tamis_build_begin(store, name, &spec, &build));
    for (uint64_t i = first; i < first + 50; i++) {
        const struct tamis_key key = {&i, sizeof i};
        assert_done(tamis_build_add(build, &key, 1));
    }
    assert_int_equal(tamis_build_publish(build, NULL), 1);
    tamis_build_close(build);
}

static struct stream export_as(tamis_store *store, const char *name, const char *format)
{
    struct stream stream = stream_of(NULL, 0);
    AUTO_FILTER *filter = fixture_opened(store, name, TAMIS_OPEN_READ_ONLY);
    const struct tamis_sink sink = stream_sink(&stream);
    assert_done(tamis_filter_export(filter, format, 0, &sink));
    return stream;
}

static int publish_as(tamis_store *store, struct stream *stream, const char *format,
                      int64_t signed_at)
{
    const struct tamis_import_spec import = {
        .size = sizeof import, .origin = "there", .signed_at = signed_at};
    const struct tamis_publish_spec spec = {
        .size = sizeof spec, .import = &import, .flags = TAMIS_PUBLISH_NEWER};
    const struct tamis_source source = stream_source(stream);
    stream->at = stream->calls = 0;
    return tamis_filter_publish(store, "list", format, &spec, &source, NULL);
}

static int publish(tamis_store *store, struct stream *stream, int64_t signed_at)
{
    return publish_as(store, stream, "tamis", signed_at);
}

static bool has(tamis_store *store, uint64_t key)
{
    AUTO_FILTER *filter = fixture_opened(store, "list", TAMIS_OPEN_READ_ONLY);
    return tamis_filter_contains(filter, &key, sizeof key) == 1;
}

/* ---- By the head of the stream --------------------------------------------------------------- */

SOUND_CASE(older_list_is_refused_and_a_newer_one_published)
{
    build(store, "source", 0);
    AUTO_STREAM monday = export_as(store, "source", "tamis");
    build(store, "source", 1000);
    AUTO_STREAM tuesday = export_as(store, "source", "tamis");
    assert_int_equal(publish(store, &monday, 0), 1); /* nothing was there */
    assert_int_equal(publish(store, &tuesday, 0), 1);
    assert_int_equal(publish(store, &tuesday, 0), 0); /* in force already */
    monday.most = 4096;
    assert_refused(TAMIS_EMISMATCH, "older than the one in force for 'list'",
                   publish(store, &monday, 0));
    assert_true(has(store, 1000) && !has(store, 0));
    assert_done(tamis_filter_rollback(store, "list", 0));
    assert_int_equal(publish(store, &tuesday, 0), 1); /* it is newer than Monday's again */
}

SOUND_CASE(old_list_is_refused_by_its_head)
{
    AUTO_FILTER *large = fixture_create(store, "large", SPEC(.capacity = 1000000));
    AUTO_STREAM old = export_as(store, "large", "tamis");
    build(store, "list", 0);
    old.most = 4096;
    assert_refused(TAMIS_EMISMATCH, "older", publish(store, &old, 0));
    assert_true(old.at < old.bytes / 10);
}

SOUND_CASE(signing_an_old_list_again_does_not_make_it_newer)
{
    build(store, "source", 0);
    AUTO_STREAM monday = export_as(store, "source", "tamis");
    build(store, "source", 1000);
    AUTO_STREAM tuesday = export_as(store, "source", "tamis");
    assert_int_equal(publish(store, &tuesday, DAY), 1);
    assert_refused(TAMIS_EMISMATCH, "older", publish(store, &monday, 2 * DAY));
}

SOUND_CASE(list_that_has_grown_here_is_as_old_as_its_stream)
{
    AUTO_FILTER *first = fixture_create(store, "first", SPEC(.capacity = 10));
    AUTO_STREAM monday = export_as(store, "first", "tamis");
    AUTO_FILTER *second = fixture_create(store, "second", SPEC(.capacity = 10));
    AUTO_STREAM tuesday = export_as(store, "second", "tamis");
    assert_int_equal(publish(store, &monday, 0), 1);
    AUTO_FILTER *list = fixture_opened(store, "list", 0);
    for (uint64_t i = 0; i < 1000; i++)
        assert_done(tamis_filter_add(list, &i, sizeof i));
    assert_true(fixture_stat(list).segment_count > 1);
    assert_int_equal(publish(store, &tuesday, 0), 1);
}

/* ---- By the signature ------------------------------------------------------------------------ */

SOUND_CASE(exceptions_since_then_are_newer_by_the_signature)
{
    const uint64_t number = 3;
    const struct tamis_key key = {&number, sizeof number};
    build(store, "source", 0);
    AUTO_STREAM plain = export_as(store, "source", "tamis");
    assert_int_equal(tamis_filter_except(store, "source", &key, 1), 1);
    AUTO_STREAM excepting = export_as(store, "source", "tamis");
    assert_int_equal(publish(store, &plain, 0), 1);
    assert_refused(TAMIS_EMISMATCH, "of the same", publish(store, &excepting, 0));
    assert_refused(TAMIS_EMISMATCH, "of the same", publish(store, &excepting, 5 * DAY));
    assert_done(tamis_filter_drop(store, "list"));
    assert_int_equal(publish(store, &plain, DAY), 1);
    assert_refused(TAMIS_EMISMATCH, "of the same", publish(store, &excepting, DAY));
    assert_int_equal(publish(store, &excepting, 2 * DAY), 1);
    assert_true(!has(store, number));
    assert_refused(TAMIS_EMISMATCH, "older", publish(store, &plain, DAY));
    assert_int_equal(publish(store, &excepting, DAY), 0);
}

static int publish_signed(tamis_store *store, struct stream *stream, int64_t signed_at,
                          uint64_t signature)
{
    const struct tamis_import_spec import = {
        .size = sizeof import, .signed_at = signed_at, .signature = signature};
    const struct tamis_publish_spec spec = {
        .size = sizeof spec, .import = &import, .flags = TAMIS_PUBLISH_NEWER};
    const struct tamis_source source = stream_source(stream);
    stream->at = stream->calls = 0;
    return tamis_filter_publish(store, "list", "tamis", &spec, &source, NULL);
}

/* What is in force without a signature, or by another one, only looks like the list that is signed:
 * a digest can be had by two lists.  (Seen to fail without the comparison of signatures in
 * same_content().) */
SOUND_CASE(signed_list_is_in_force_by_its_signature_alone)
{
    build(store, "source", 0);
    AUTO_STREAM list = export_as(store, "source", "tamis");
    assert_int_equal(publish(store, &list, 0), 1);
    assert_int_equal(publish_signed(store, &list, DAY, 7), 1);
    assert_int_equal(publish_signed(store, &list, DAY, 7), 0);
    assert_int_equal(publish_signed(store, &list, DAY, 8), 1);
    assert_int_equal(publish(store, &list, 0), 0); /* who asks for no signature */
}

/* Else the list between the two times would pass.  (Seen to fail where a list with the digest of
 * the one in force may have an earlier signature.) */
SOUND_CASE(time_of_the_signature_never_goes_back)
{
    const uint64_t number = 3;
    const struct tamis_key key = {&number, sizeof number};
    build(store, "source", 0);
    AUTO_STREAM plain = export_as(store, "source", "tamis");
    assert_int_equal(tamis_filter_except(store, "source", &key, 1), 1);
    AUTO_STREAM excepting = export_as(store, "source", "tamis");
    assert_int_equal(publish_signed(store, &plain, DAY, 1), 1);
    assert_int_equal(publish_signed(store, &plain, 3 * DAY, 3), 1); /* signed again */
    assert_refused(TAMIS_EMISMATCH, "older", publish_signed(store, &excepting, 2 * DAY, 2));
    assert_refused(TAMIS_EMISMATCH, "older", publish_signed(store, &plain, DAY, 1));
    assert_refused(TAMIS_EMISMATCH, "older", publish_signed(store, &excepting, 2 * DAY, 2));
}

SOUND_CASE(format_without_a_time_goes_by_the_signature)
{
    AUTO_FILTER *filter = fixture_create(
        store, "source",
        SPEC(.capacity = 10, .kind = TAMIS_KIND_BLOOM, .hash_set = "guava", .m_bits = 640, .k = 5));
    AUTO_STREAM before = export_as(store, "source", "guava");
    assert_int_equal(tamis_filter_add(filter, "key", 3), 1);
    AUTO_STREAM after = export_as(store, "source", "guava");
    assert_refused(TAMIS_EINVAL, "does not say when", publish_as(store, &before, "guava", 0));
    assert_int_equal(publish_as(store, &before, "guava", DAY), 1);
    assert_refused(TAMIS_EMISMATCH, "of the same", publish_as(store, &after, "guava", DAY));
    assert_int_equal(publish_as(store, &after, "guava", 2 * DAY), 1);
    assert_refused(TAMIS_EMISMATCH, "older", publish_as(store, &before, "guava", DAY));
    assert_done(tamis_filter_drop(store, "list"));
    build(store, "list", 0); /* now: after any day of 1970 */
    assert_refused(TAMIS_EMISMATCH, "older", publish_as(store, &after, "guava", 2 * DAY));
}

/* ---- What comes meanwhile -------------------------------------------------------------------- */

struct meanwhile {
    struct tamis_source source;
    struct stream *other; /* NULL: it is there */
    tamis_store *store;
};

/* Publishes a newer list when the last byte of this one was read. */
static int64_t read_meanwhile(void *context, void *buffer, size_t bytes)
{
    struct meanwhile *meanwhile = context;
    const int64_t got = meanwhile->source.read(meanwhile->source.context, buffer, bytes);
    if (got == 0 && meanwhile->other != NULL) {
        assert_int_equal(publish(meanwhile->store, meanwhile->other, 0), 1);
        meanwhile->other = NULL;
    }
    return got;
}

SOUND_CASE(list_that_came_meanwhile_is_compared_too)
{
    build(store, "source", 0);
    AUTO_STREAM monday = export_as(store, "source", "tamis");
    build(store, "source", 1000);
    AUTO_STREAM tuesday = export_as(store, "source", "tamis");
    struct meanwhile meanwhile = {stream_source(&monday), &tuesday, store};
    const struct tamis_source source = {
        .size = sizeof source, .read = read_meanwhile, .context = &meanwhile};
    const struct tamis_publish_spec spec = {.size = sizeof spec, .flags = TAMIS_PUBLISH_NEWER};
    assert_refused(TAMIS_EMISMATCH, "older",
                   tamis_filter_publish(store, "list", "tamis", &spec, &source, NULL));
    assert_true(has(store, 1000));
}

static struct tamis__over in_force(tamis_store *store)
{
    AUTO_FILTER *filter = fixture_opened(store, "list", TAMIS_OPEN_READ_ONLY);
    const struct tamis_filter_stat stat = fixture_stat(filter);
    return (struct tamis__over){stat.generation, stat.created_at};
}

static int put_over(tamis_store *store, uint64_t first, struct tamis__over over)
{
    return editions_publish_over(store, "list", first, 10, over);
}

/* Between the comparison and the commit: what was compared with must still be in force.  A filter
 * that was dropped and made anew meanwhile is another one, also if it has as many generations. */
SOUND_CASE(edition_comes_over_what_was_compared_alone)
{
    const struct tamis__over nothing = {.generation = 0};
    assert_int_equal(put_over(store, 0, (struct tamis__over){.generation = 1}), TAMIS__MOVED);
    assert_int_equal(tamis_filter_exists(store, "list"), 0);
    assert_int_equal(put_over(store, 0, nothing), 0);
    const struct tamis__over first = in_force(store);
    assert_int_equal(put_over(store, 10, nothing), TAMIS__MOVED);
    assert_int_equal(put_over(store, 10, first), 0);
    assert_int_equal(put_over(store, 20, first), TAMIS__MOVED);
    assert_done(tamis_filter_drop(store, "list"));
    assert_int_equal(put_over(store, 0, nothing), 0);
    assert_int_equal(in_force(store).generation, first.generation);
    assert_int_equal(put_over(store, 20, first), TAMIS__MOVED);
}
