/* SPDX-License-Identifier: BSD-2-Clause */
#include "cases.h"

#include <err.h>

#define CASES_MAX 128u

static struct CMUnitTest cases[CASES_MAX];
static size_t count;
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

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    if (preparation != NULL) preparation();
    return _cmocka_run_group_tests("cases", cases, count, NULL, NULL);
}
