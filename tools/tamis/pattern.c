/* SPDX-License-Identifier: BSD-2-Clause */
/* pattern.c: see pattern.h. */
#include "pattern.h"

#include <fnmatch.h>
#include <locale.h>
#include <string.h>

#include "memory.h"

#define SPECIAL "*?[\\"

bool pattern_is(const char *text)
{
    return strpbrk(text, SPECIAL) != NULL;
}

/* A character is one of UTF-8, as names are, whatever the user's locale is. */
bool pattern_matches(const char *pattern, const char *name)
{
    static locale_t utf8;
    if (utf8 == NULL) utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    const locale_t before = utf8 != NULL ? uselocale(utf8) : (locale_t)0;
    const bool is_match = fnmatch(pattern, name, 0) == 0;
    if (before != NULL) (void)uselocale(before);
    return is_match;
}

bool pattern_fits(const char *pattern, const char *name)
{
    if (pattern == NULL || strncmp(pattern, name, strlen(pattern)) == 0) return true;
    return pattern_is(pattern) && pattern_matches(pattern, name);
}

char *pattern_prefix(const char *pattern)
{
    return cli_copy(pattern != NULL ? pattern : "",
                    pattern != NULL ? strcspn(pattern, SPECIAL) : 0);
}
