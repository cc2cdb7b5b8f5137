/* SPDX-License-Identifier: BSD-2-Clause */
/* lines_test.c: how the command finds bytes and lines, 64 bytes at a look, against the plain ways.
 * */
#include "input/lines.h"

#include <stdlib.h>

#include "fixture.h"
#include "input/scan.h"

#define MOST 200

/* A text of exactly these bytes on the heap, so that AddressSanitizer sees what is read beyond it.
 * */
static char *text_of(uint64_t *random, size_t bytes, unsigned mean_line_bytes, char separator)
{
    char *text = malloc(bytes ? bytes : 1);
    assert_non_null(text);
    random_fill(random, text, bytes);
    for (size_t i = 0; i < bytes; i++)
        if (random_below(random, mean_line_bytes) == 0) text[i] = separator;
    return text;
}

CASE(scan_finds_what_a_loop_finds)
{
    uint64_t random = random_seed();
    unsigned char text[SCAN_BYTES + 7];
    for (unsigned byte = 0; byte < 256; byte++) {
        for (unsigned round = 0; round < 200; round++) {
            const unsigned char *at = text + round % 8;
            uint64_t expected = 0;
            random_fill(&random, text, sizeof text);
            for (unsigned i = 0; i < sizeof text; i++) /* it and what differs from it by a bit */
                if (text[i] < 0x80) text[i] = (unsigned char)(byte ^ (text[i] & 1u << text[i] % 8));
            for (unsigned i = 0; i < SCAN_BYTES; i++)
                expected |= (uint64_t)(at[i] == byte) << i;
            assert_int_equal(scan(at, (uint8_t)byte), expected);
            assert_int_equal(scan_portable(at, (uint8_t)byte), expected);
        }
    }
}

/* All lines by both, the fast one in batches of `most`; the rest of the text must be the same, too.
 * */
static void compare(struct lines lines, size_t most)
{
    struct lines plain = lines;
    struct tamis_key keys[MOST], key;
    size_t count;
    while ((count = lines_take(&lines, keys, most)) > 0) {
        assert_true(count <= most);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(lines_take_portable(&plain, &key, 1), 1);
            assert_ptr_equal(keys[i].data, key.data);
            assert_int_equal(keys[i].bytes, key.bytes);
        }
        assert_ptr_equal(lines.start, plain.start);
        assert_true(lines.start <= lines.scanned && lines.scanned <= lines.end);
    }
    assert_int_equal(lines_take_portable(&plain, &key, 1), 0);
    assert_ptr_equal(lines.start, plain.start);
    assert_ptr_equal(lines.scanned, lines.end);
}

CASE(lines_are_those_that_memchr_finds)
{
    static const unsigned means[] = {1, 2, 10, 70, 100000};
    uint64_t random = random_seed();
    for (unsigned round = 0; round < 20000; round++) {
        const char separator = round % 2 ? '\n' : '\0';
        const size_t bytes = random_below(&random, round % 8 ? 300 : 5000);
        AUTO_FREE char *text = text_of(&random, bytes, means[round % 5], separator);
        const char *first = memchr(text, separator, bytes);
        const size_t clean = first ? (size_t)(first - text) : bytes;
        compare((struct lines){.start = text,
                               .scanned = text + random_below(&random, clean + 1),
                               .end = text + bytes,
                               .separator = separator},
                SCAN_BYTES + random_below(&random, MOST - SCAN_BYTES + 1));
    }
}
