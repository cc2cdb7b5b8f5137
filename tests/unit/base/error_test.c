/* SPDX-License-Identifier: BSD-2-Clause */
/* error_test.c: names, messages, quoting, and whose sentence is whose (store/base/error.c). */
#include "fixture.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "spawn.h"

static const struct {
    int code;
    const char *name;
    int number;
} codes[] = {
    /* The numbers are ABI: this list is written by hand and not taken from the header. */
    {TAMIS_EINVAL, "TAMIS_EINVAL", -1},
    {TAMIS_ENOTFOUND, "TAMIS_ENOTFOUND", -2},
    {TAMIS_EEXIST, "TAMIS_EEXIST", -3},
    {TAMIS_EMISMATCH, "TAMIS_EMISMATCH", -4},
    {TAMIS_ENOSTORE, "TAMIS_ENOSTORE", -5},
    {TAMIS_EREADONLY, "TAMIS_EREADONLY", -6},
    {TAMIS_EACCESS, "TAMIS_EACCESS", -7},
    {TAMIS_ENOSPACE, "TAMIS_ENOSPACE", -8},
    {TAMIS_ENOMEM, "TAMIS_ENOMEM", -9},
    {TAMIS_EIO, "TAMIS_EIO", -10},
    {TAMIS_ECORRUPT, "TAMIS_ECORRUPT", -11},
    {TAMIS_EFOREIGN, "TAMIS_EFOREIGN", -12},
    {TAMIS_EVERSION, "TAMIS_EVERSION", -13},
    {TAMIS_EDROPPED, "TAMIS_EDROPPED", -14},
    {TAMIS_EUNSUPPORTED, "TAMIS_EUNSUPPORTED", -15},
    {TAMIS_ELIMIT, "TAMIS_ELIMIT", -16},
    {TAMIS_ESYSTEM, "TAMIS_ESYSTEM", -17},
    {TAMIS_EFULL, "TAMIS_EFULL", -18},
    {TAMIS_EBUSY, "TAMIS_EBUSY", -19},
};
#define CODES (sizeof codes / sizeof codes[0])

CASE(error_every_code_has_its_name_number_and_message)
{
    for (size_t i = 0; i < CODES; i++) {
        assert_int_equal(codes[i].code, codes[i].number);
        assert_string_equal(tamis_error_name(codes[i].code), codes[i].name);
        assert_true(strlen(tamis_error_message(codes[i].code)) > 10);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(tamis_error_message(codes[i].code),
                                    tamis_error_message(codes[j].code));
    }
}

CASE(error_list_here_is_complete)
{
    assert_string_equal(tamis_error_name(-(int)CODES - 1), "TAMIS_?");
}

CASE(error_no_error_and_unknown_numbers_are_told_apart)
{
    assert_string_equal(tamis_error_name(0), "TAMIS_OK");
    assert_string_equal(tamis_error_message(0), "no error");
    assert_string_equal(tamis_error_name(1), "TAMIS_?");
    assert_string_equal(tamis_error_name(INT32_MIN), "TAMIS_?");
    assert_string_equal(tamis_error_message(12345), "not an error code of Tamis");
}

CASE(error_version_is_that_of_the_header)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%d.%d.%d", TAMIS_VERSION_MAJOR, TAMIS_VERSION_MINOR,
                   TAMIS_VERSION_PATCH);
    assert_string_equal(tamis_version(), text);
}

CASE(error_sentence_is_kept_over_success)
{
    char quoted[TAMIS__QUOTED_BYTES];
    assert_int_equal(tamis__fail(TAMIS_EIO, "cannot read %s: %d", tamis__quote(quoted, "x"), 7),
                     TAMIS_EIO);
    assert_string_equal(tamis_last_error(), "cannot read 'x': 7");
    assert_done(tamis_filter_check(NULL, "name", SPEC(.capacity = 10)));
    assert_string_equal(tamis_last_error(), "cannot read 'x': 7");
}

CASE(error_long_sentence_is_cut_and_closed)
{
    char *longer = malloc(5001);
    assert_non_null(longer);
    memset(longer, 'y', 5000);
    longer[5000] = '\0';
    (void)tamis__fail(TAMIS_EIO, "start %s", longer);
    free(longer);
    assert_true(strlen(tamis_last_error()) > 500 && strlen(tamis_last_error()) < 5000);
    assert_memory_equal(tamis_last_error(), "start yyy", 9);
}

/* Seen to fail with the first semicolon of the format in place of the last one. */
CASE(error_details_are_the_parts_of_the_sentence)
{
    struct tamis_error_details details = TAMIS_INIT(struct tamis_error_details);
    (void)tamis__fail(TAMIS_EFULL, "the filter '%s' is full; it was small; make a larger one",
                      "a; b");
    assert_int_equal(tamis_last_error_details(&details), 0);
    assert_string_equal(details.sentence,
                        "the filter 'a; b' is full; it was small; make a larger one");
    assert_string_equal(details.mend, "make a larger one");
    assert_int_equal(details.code, TAMIS_EFULL);
    assert_string_equal(details.what, "");
    assert_ptr_equal(details.reason, details.sentence);
    (void)tamis__fail(TAMIS_EIO, "cannot read %s", "x; y");
    assert_int_equal(tamis_last_error_details(&details), 0);
    assert_string_equal(details.mend, "");
    const struct tamis__fault fault = {
        .what = "a/b", .offset = 70, .system_error = 5, .mend = "do"};
    (void)tamis__fail_of(TAMIS_ECORRUPT, &fault, "a file, %s: is %s (at byte %d)", "a/b", "bad",
                         70);
    assert_int_equal(tamis_last_error_details(&details), 0);
    assert_string_equal(details.what, "a/b");
    assert_string_equal(details.reason, "is bad (at byte 70)");
    assert_string_equal(details.mend, "do");
    assert_int_equal(details.offset, 70);
    assert_int_equal(details.system_error, 5);
    details.size = 0;
    assert_int_equal(tamis_last_error_details(&details), TAMIS_EINVAL);
    assert_int_equal(tamis_last_error_details(NULL), TAMIS_EINVAL);
    assert_string_equal(tamis_last_error(), "a file, a/b: is bad (at byte 70)");
}

CASE(error_details_have_the_errors_of_the_system)
{
    struct tamis_error_details details = TAMIS_INIT(struct tamis_error_details);
    AUTO_FREE char *file = scratch_path("file");
    tamis_store *store;
    fclose(fopen(file, "we"));
    assert_refused(TAMIS_ENOSTORE, "not a directory",
                   tamis_store_open(fixture_join(file, "below"), 0, &store));
    assert_done(tamis_last_error_details(&details));
    assert_int_equal(details.system_error, ENOTDIR);
    assert_string_equal(details.mend, "a part of the path is not a directory");
    assert_non_null(strstr(details.what, "below"));
}

struct thread_case {
    struct spawn_barrier *barrier;
    int number;
    bool began_empty, kept_own;
};

static void *fail_in_thread(void *context)
{
    struct thread_case *c = context;
    char expected[32];
    c->began_empty = *tamis_last_error() == '\0';
    spawn_wait(c->barrier);
    (void)tamis__fail(TAMIS_EIO, "thread %d", c->number);
    spawn_wait(c->barrier); /* both have failed */
    (void)snprintf(expected, sizeof expected, "thread %d", c->number);
    c->kept_own = strcmp(tamis_last_error(), expected) == 0;
    return NULL;
}

/* Seen to fail with `_Thread_local` taken from last_sentence in error.c. */
CASE(error_sentence_is_the_threads_own)
{
    struct spawn_barrier barrier = {.count = 2};
    struct thread_case cases[2] = {{&barrier, 1, false, false}, {&barrier, 2, false, false}};
    pthread_t threads[2];
    (void)tamis__fail(TAMIS_EIO, "of the main thread");
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fail_in_thread, &cases[i]), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 2; i++)
        assert_true(cases[i].began_empty && cases[i].kept_own);
    assert_string_equal(tamis_last_error(), "of the main thread");
}

CASE(error_utf8_lengths_follow_rfc_3629)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"", 0},
        {"a", 1},
        {"\x7F", 1},
        {"\x80", 0},
        {"\xBF", 0},
        {"\xC0\x80", 0}, /* overlong NUL */
        {"\xC1\xBF", 0},
        {"\xC2\x80", 2},
        {"\xC2", 0},
        {"\xC2\x41", 0},
        {"\xDF\xBF", 2},
        {"\xE0\x9F\xBF", 0}, /* overlong */
        {"\xE0\xA0\x80", 3},
        {"\xE2\x82\xAC", 3},
        {"\xE2\x82", 0},
        {"\xED\x9F\xBF", 3},
        {"\xED\xA0\x80", 0}, /* surrogate */
        {"\xEF\xBF\xBF", 3},
        {"\xF0\x8F\xBF\xBF", 0}, /* overlong */
        {"\xF0\x9F\x98\x80", 4},
        {"\xF4\x8F\xBF\xBF", 4},
        {"\xF4\x90\x80\x80", 0}, /* past U+10FFFF */
        {"\xF5\x80\x80\x80", 0},
        {"\xF0\x9F\x98", 0},
        {"\xFF", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(tamis__utf8_length((const unsigned char *)cases[i].text), cases[i].length);
}

/* An own decoder, by the ranges of code points: agreement on every sequence of up to 3 bytes. */
static size_t length_by_code_point(const unsigned char *s)
{
    uint32_t point = s[0];
    size_t length = 1;
    if (s[0] == 0) return 0;
    if (s[0] >= 0xF0) return 0; /* no 4-byte form fits the loop below */
    if (s[0] >= 0xE0) {
        length = 3;
        point = s[0] & 0x0Fu;
    } else if (s[0] >= 0xC0) {
        length = 2;
        point = s[0] & 0x1Fu;
    } else if (s[0] >= 0x80) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        point = point << 6 | (s[i] & 0x3Fu);
    }
    if (length == 2 && point < 0x80) return 0;
    if (length == 3 && (point < 0x800 || (point >= 0xD800 && point <= 0xDFFF))) return 0;
    return length;
}

CASE(error_utf8_lengths_agree_with_a_decoder)
{
    for (uint32_t bytes = 0; bytes < 1u << 24; bytes += bytes < 1u << 22 ? 1 : 3) {
        const unsigned char s[4] = {(unsigned char)(bytes >> 16), (unsigned char)(bytes >> 8),
                                    (unsigned char)bytes, 0};
        if (tamis__utf8_length(s) != length_by_code_point(s))
            fail_msg("%02X %02X %02X: %zu, not %zu", s[0], s[1], s[2], tamis__utf8_length(s),
                     length_by_code_point(s));
    }
}

CASE(error_quote_shows_odd_bytes)
{
    static const struct {
        const char *text, *quoted;
    } cases[] = {
        {"", "''"},
        {"plain name", "'plain name'"},
        {"tab\there", "'tab\\x09here'"},
        {"\x1B[31m", "'\\x1B[31m'"},
        {"del\x7F", "'del\\x7F'"},
        {"\xC3\xA9t\xC3\xA9", "'\xC3\xA9t\xC3\xA9'"},
        {"\xC2\x85", "'\\xC2\\x85'"}, /* a control character of two bytes */
        {"\xFF\xFE", "'\\xFF\\xFE'"},
        {"cut \xE2\x82", "'cut \\xE2\\x82'"},
    };
    char buffer[TAMIS__QUOTED_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(tamis__quote(buffer, cases[i].text), cases[i].quoted);
}

/* Fills of every length and width: a buffer with guard bytes shows an overrun (and ASan would). */
CASE(error_quote_never_leaves_its_buffer)
{
    static const char *const pieces[] = {"a",        "\xFF",         "\x01",
                                         "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    struct {
        char text[TAMIS__QUOTED_BYTES];
        char guard[16];
    } buffer;
    for (size_t lead = 0; lead < 12; lead++)
        for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++) {
            char text[2048] = "";
            memset(text, 'b', lead);
            while (strlen(text) + 5 < sizeof text)
                strcat(text, pieces[p]);
            memset(buffer.guard, '#', sizeof buffer.guard);
            (void)tamis__quote(buffer.text, text);
            assert_memory_equal(buffer.guard, "################", 16);
            const size_t length = strlen(buffer.text);
            assert_true(length < sizeof buffer.text && length > 300);
            assert_string_equal(buffer.text + length - 4, "...'");
            for (const char *s = buffer.text; *s != '\0';) { /* no character is cut in two */
                const size_t step = tamis__utf8_length((const unsigned char *)s);
                assert_true(step > 0);
                s += step;
            }
        }
}

CASE(error_sizes_are_told_for_people)
{
    static const struct {
        double bytes;
        const char *text;
    } cases[] = {
        {0, "0 bytes"},    {1, "1 byte"},           {1023, "1023 bytes"}, {1024, "1.0 KiB"},
        {1536, "1.5 KiB"}, {1073741824, "1.0 GiB"}, {0x1p60, "1.0 EiB"},  {0x1p70, "1024.0 EiB"},
    };
    char buffer[TAMIS__SIZE_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(tamis__size_text(buffer, cases[i].bytes), cases[i].text);
}
