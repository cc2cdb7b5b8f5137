/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpu_test.c: what is chosen for the batch loops (store/base/cpu.h).  The loops themselves are run
 * with each depth and both ways to fetch by the tests of the kinds.
 */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/cpu.h"

#define OWN 64u
#define LARGE ((uint64_t)1 << 30)
#define SMALL ((uint64_t)1 << 20)

#ifdef __x86_64__
#define IS_X86_64 true
#else /* an emulator shows the file of the machine below it */
#define IS_X86_64 false
#endif

/* Does the kernel say of its first processor that it is a Zen 4?  This asks another witness than
 * cpu.c does. */
static bool kernel_says_zen_4(void)
{
    char line[8192];
    bool amd = false, family = false, wide = false;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL && line[0] != '\n') {
        amd |= strncmp(line, "vendor_id", 9) == 0 && strstr(line, "AuthenticAMD") != NULL;
        family |= strncmp(line, "cpu family", 10) == 0 && strstr(line, ": 25\n") != NULL;
        wide |= strncmp(line, "flags", 5) == 0 && strstr(line, " avx512f ") != NULL &&
                strstr(line, " avx512bw ") != NULL && strstr(line, " avx512dq ") != NULL &&
                strstr(line, " avx512vl ") != NULL;
    }
    if (file != NULL) (void)fclose(file);
    return amd && family && wide;
}

static void check_pace(struct tamis__pace pace, unsigned depth, bool far)
{
    assert_int_equal(pace.depth, depth);
    assert_int_equal(pace.far, far);
}

/* The vendor, the family and the instructions decide. */
CASE(cpu_pace_of_large_data_goes_by_the_processor)
{
    const bool zen_4 = IS_X86_64 && kernel_says_zen_4();
    check_pace(tamis__cpu_pace(TAMIS__LOOP_BLOCKED, OWN, LARGE, false), zen_4 ? 32 : OWN, zen_4);
    check_pace(tamis__cpu_pace(TAMIS__LOOP_COUNTING, OWN, LARGE, false), zen_4 ? 32 : OWN, zen_4);
    check_pace(tamis__cpu_pace(TAMIS__LOOP_FUSE, OWN, LARGE, false), OWN, zen_4);
    check_pace(tamis__cpu_pace(TAMIS__LOOP_BLOOM, OWN, LARGE, false), OWN, zen_4);
}

/* Where one entry of a table is for 2 MiB, more translations are under way at once.  Seen to fail
 * without the row's depths of huge pages; with these for all pages the case above fails. */
CASE(cpu_pace_in_huge_pages_has_more_keys_ahead_on_a_zen_4)
{
    const bool zen_4 = IS_X86_64 && kernel_says_zen_4();
    check_pace(tamis__cpu_pace(TAMIS__LOOP_BLOCKED, 32, LARGE, true), zen_4 ? 64 : 32, zen_4);
    check_pace(tamis__cpu_pace(TAMIS__LOOP_COUNTING, OWN, LARGE, true), zen_4 ? 32 : OWN, zen_4);
    check_pace(tamis__cpu_pace(TAMIS__LOOP_FUSE, OWN, LARGE, true), OWN, zen_4);
    check_pace(tamis__cpu_pace(TAMIS__LOOP_BLOCKED, OWN, SMALL, true), OWN, false);
}

/* In the caches nothing is to be gained. */
CASE(cpu_pace_of_small_data_is_the_variants_own_everywhere)
{
    for (enum tamis__loop loop = 0; loop < TAMIS__LOOP_COUNT; loop++) {
        check_pace(tamis__cpu_pace(loop, OWN, 0, false), OWN, false);
        check_pace(tamis__cpu_pace(loop, OWN, SMALL, false), OWN, false);
    }
}

/* What the loops have room for: lanes.h and bloom.c keep as many keys or lines as this. */
CASE(cpu_pace_fits_the_loops)
{
    for (enum tamis__loop loop = 0; loop < TAMIS__LOOP_COUNT; loop++) {
        const unsigned depth = tamis__cpu_pace(loop, OWN, LARGE, false).depth;
        assert_in_range(depth, 1, TAMIS__DEPTH_MAX);
        assert_int_equal(depth % TAMIS__DEPTH_STEP, 0);
    }
}

/* As the tests of the loops and `tamis-bench --tune` need it, on each processor. */
CASE(cpu_pace_that_is_forced_is_taken_until_it_is_given_back)
{
    for (enum tamis__loop loop = 0; loop < TAMIS__LOOP_COUNT; loop++) {
        const struct tamis__pace chosen = tamis__cpu_pace(loop, OWN, LARGE, false);
        tamis__cpu_force_depth(96);
        tamis__cpu_force_fetch(chosen.far ? TAMIS__FETCH_NEAR : TAMIS__FETCH_FAR);
        check_pace(tamis__cpu_pace(loop, OWN, LARGE, false), 96, !chosen.far);
        check_pace(tamis__cpu_pace(loop, OWN, SMALL, false), 96, !chosen.far);
        tamis__cpu_force_depth(0);
        check_pace(tamis__cpu_pace(loop, OWN, LARGE, false), chosen.depth, !chosen.far);
        tamis__cpu_force_fetch(TAMIS__FETCH_CHOSEN);
        check_pace(tamis__cpu_pace(loop, OWN, LARGE, false), chosen.depth, chosen.far);
    }
}
