/* SPDX-License-Identifier: BSD-2-Clause */
/* notes_test.c: what a pull notes for the next one, and what it says of a URL. */
#include "pull/notes.h"

#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "pull/url.h"

static const struct notes ALL = {.name = "list of tonight",
                                 .url = "https://a.example/list",
                                 .resource = 0x9c3f0e5a11d4b207,
                                 .etag = "\"one\"",
                                 .bytes = UINT64_MAX,
                                 .digest = "0f343b0931126a20f133d67c2b018a3b",
                                 .items = 1,
                                 .exceptions = 10,
                                 .key = "1234567890ABCDEF"};

static void notes_come_back(void **state)
{
    (void)state;
    char block[NOTES_BYTES], again[NOTES_BYTES];
    struct notes notes;
    assert_true(notes_print(&ALL, block));
    assert_true(notes_parse(block, sizeof block, &notes));
    assert_memory_equal(&notes, &ALL, sizeof notes);
    assert_true(notes_print(&notes, again));
    assert_memory_equal(block, again, sizeof block);
}

/* Broken to see it fail: without the check of the newlines behind the end, and of the length; with
 * a number taken that is 0. */
static void notes_with_any_bit_changed_are_refused_or_others(void **state)
{
    (void)state;
    char block[NOTES_BYTES], printed[NOTES_BYTES];
    struct notes notes;
    assert_true(notes_print(&ALL, block));
    for (size_t i = 0; i < 8 * sizeof block; i++) {
        block[i / 8] = (char)(block[i / 8] ^ 1 << i % 8);
        if (notes_parse(block, sizeof block, &notes)) {
            assert_true(notes_print(&notes, printed));
            assert_memory_equal(block, printed, sizeof block);
            assert_memory_not_equal(&notes, &ALL, sizeof notes);
        } else {
            assert_int_equal(notes.name[0], '\0');
        }
        block[i / 8] = (char)(block[i / 8] ^ 1 << i % 8);
    }
    for (size_t bytes = 0; bytes < sizeof block; bytes++)
        assert_false(notes_parse(block, bytes, &notes));
}

static void notes_with_control_characters_are_not_written(void **state)
{
    (void)state;
    char block[NOTES_BYTES];
    struct notes notes = ALL;
    (void)strcpy(notes.etag, "\"a\nbytes 1\"");
    assert_false(notes_print(&notes, block));
}

static void an_etag_is_strong_or_not(void **state)
{
    (void)state;
    assert_true(notes_etag_is_strong("\"\""));
    assert_true(notes_etag_is_strong("\"abc\""));
    assert_false(notes_etag_is_strong("W/\"abc\""));
    assert_false(notes_etag_is_strong("abc"));
    assert_false(notes_etag_is_strong("\""));
    assert_false(notes_etag_is_strong(""));
    assert_false(notes_etag_is_strong("\"a\", \"b\""));
}

static void assert_shown(const char *url, const char *expected)
{
    char *shown = url_shown(url);
    assert_string_equal(shown, expected);
    free(shown);
}

/* Broken to see it fail: with strchr() in the place of memrchr() for the @, and without the part
 * about passwords with a slash. */
static void a_url_is_shown_without_secrets(void **state)
{
    (void)state;
    assert_shown("https://a.example/list", "https://a.example/list");
    assert_shown("https://tom:secret@a.example/list", "https://a.example/list");
    assert_shown("https://tom:sec@ret@a.example/list", "https://a.example/list");
    assert_shown("https://tom:sec/ret@a.example/list", "https://a.example/list");
    assert_shown("https://a.example:8443/a@b/list", "https://a.example:8443/a@b/list");
    assert_shown("https://[::1]:8443/a@b", "https://[::1]:8443/a@b");
    assert_shown("https://a.example/list?token=secret", "https://a.example/list?...");
    assert_shown("https://a.example/list#part?x", "https://a.example/list");
    assert_shown("list@home", "list@home");
    assert_shown("", "");
}

static void what_is_beside_a_url_is_before_its_query(void **state)
{
    (void)state;
    char *url = url_beside("https://a.example/list?token=secret#x", ".minisig");
    assert_string_equal(url, "https://a.example/list.minisig?token=secret");
    free(url);
    url = url_beside("https://a.example/list", ".minisig");
    assert_string_equal(url, "https://a.example/list.minisig");
    free(url);
}

static void schemes_are_told_from_others(void **state)
{
    (void)state;
    assert_int_equal(url_scheme("HTTPS://a"), URL_HTTPS);
    assert_int_equal(url_scheme("http://a"), URL_HTTP);
    assert_int_equal(url_scheme("file:///a"), URL_FILE);
    assert_int_equal(url_scheme("ftp://a"), URL_OTHER);
    assert_int_equal(url_scheme("https:/a"), URL_OTHER);
    assert_int_equal(url_scheme(""), URL_OTHER);
}

static void assert_file(const char *url, const char *expected)
{
    char *file = url_file(url);
    if (expected == NULL)
        assert_null(file);
    else
        assert_string_equal(file, expected);
    free(file);
}

/* Broken to see it fail: without decode_path(). */
static void the_file_of_a_url_is_that_of_libcurl(void **state)
{
    (void)state;
    assert_file("file:///a/b", "/a/b");
    assert_file("FILE://localhost/a", "/a");
    assert_file("file://127.0.0.1/a?b#c", "/a");
    assert_file("file:///a%20b%2Fc%41", "/a b/cA");
    assert_file("file:///a%", "/a%");
    assert_file("file:///a%4", "/a%4");
    assert_file("file:///a%zz", "/a%zz");
    assert_file("file:///a%00b", NULL);
    assert_file("file://other/a", NULL);
    assert_file("file://localhost", NULL);
    assert_file("file://", NULL);
    assert_file("https:///a", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notes_come_back),
        cmocka_unit_test(notes_with_any_bit_changed_are_refused_or_others),
        cmocka_unit_test(notes_with_control_characters_are_not_written),
        cmocka_unit_test(an_etag_is_strong_or_not),
        cmocka_unit_test(a_url_is_shown_without_secrets),
        cmocka_unit_test(what_is_beside_a_url_is_before_its_query),
        cmocka_unit_test(schemes_are_told_from_others),
        cmocka_unit_test(the_file_of_a_url_is_that_of_libcurl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
