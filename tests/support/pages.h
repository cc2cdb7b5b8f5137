/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages.h: some tests run a second time with filters that are set to have huge pages
 * (huge_pages.sh), and are large enough for them: from 2 MiB on.
 */
#ifndef TAMIS_SUPPORT_PAGES_H
#define TAMIS_SUPPORT_PAGES_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool pages_are_huge(void)
{
    const char *asked = getenv("TAMIS_TEST_PAGES");
    return asked != NULL && strcmp(asked, "huge") == 0;
}

#endif
