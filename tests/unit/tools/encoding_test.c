/* SPDX-License-Identifier: BSD-2-Clause */
/* What the first bytes of a text say (tools/tamis/input/encoding.h). */
#include "input/encoding.h"

#include <stdlib.h>

#include "fixture.h"

#define OF(text) (int)encoding_of(text, sizeof(text) - 1)

static void encoding_of_marks_is_told(void **state)
{
    (void)state;
    assert_int_equal(OF("\xef\xbb\xbf"
                        "ads.example\n"),
                     ENCODING_MARK);
    assert_int_equal(OF("\xef\xbb\xbf"), ENCODING_MARK);
    assert_int_equal(OF("\xff\xfe"
                        "a\0d\0s\0\n\0"),
                     ENCODING_UTF16);
    assert_int_equal(OF("\xff\xfe\x30\x04\x0d\0\x0a\0"), ENCODING_UTF16);
    assert_int_equal(OF("\xfe\xff\0a\0d\0s\0\n"), ENCODING_UTF16);
    assert_int_equal(OF("\xff\xfe\0\0a\0\0\0"), ENCODING_UTF32);
    assert_int_equal(OF("\0\0\xfe\xff\0\0\0a"), ENCODING_UTF32);
}

static void encoding_without_mark_is_told_by_its_zeroes(void **state)
{
    (void)state;
    assert_int_equal(OF("a\0d\0s\0\n"), ENCODING_UTF16);
    assert_int_equal(OF("\0a\0d\0s\0\n"), ENCODING_UTF16);
}

static void encoding_of_other_bytes_is_bytes(void **state)
{
    (void)state;
    assert_int_equal(OF(""), ENCODING_BYTES);
    assert_int_equal(OF("a\n"), ENCODING_BYTES);
    assert_int_equal(OF("\xff\xfe\n"), ENCODING_BYTES);
    assert_int_equal(OF("\xff\xfe"
                        "abc\n"),
                     ENCODING_BYTES);
    assert_int_equal(OF("a\0b\n"), ENCODING_BYTES);
    assert_int_equal(OF("a\0bc\0d\n"), ENCODING_BYTES);
    assert_int_equal(OF("\xef\xbb\n"), ENCODING_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoding_of_marks_is_told),
        cmocka_unit_test(encoding_without_mark_is_told_by_its_zeroes),
        cmocka_unit_test(encoding_of_other_bytes_is_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
