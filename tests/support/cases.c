/* SPDX-License-Identifier: BSD-2-Clause */
#include "cases.h"

#include <err.h>

#define CASES_MAX 128u
#define STATUS_SKIPPED 77

static struct CMUnitTest cases[CASES_MAX];
static size_t count, skipped;
static void (*preparation)(void);

void cases_add(const struct CMUnitTest *test)
{
    if (count == CASES_MAX) errx(1, "more than %u cases; raise CASES_MAX", CASES_MAX);
    cases[count++] = *test;
}

void cases_prepare_with(void (*prepare)(void))
{
    preparation = prepare;
}

void cases_skip(const char *why)
{
    skipped++;
    print_message("[ SKIPPED ] %s\n", why);
    skip();
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    if (preparation != NULL) preparation();
    const int failed = _cmocka_run_group_tests("cases", cases, count, NULL, NULL);
    return failed == 0 && skipped == count ? STATUS_SKIPPED : failed;
}
