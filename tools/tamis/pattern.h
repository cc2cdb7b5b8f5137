/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pattern.h: which filters a command is about, by their names.
 *
 * A pattern has * (any text), ? (any character) or [...] (one of these), as in the shell.  Names
 * may have these characters too.  So a name fits if it matches, or if it begins with the pattern as
 * it is written; a pattern without them is just the beginning of a name.
 */
#pragma once

#include <stdbool.h>

/* Has the text a character that makes it a pattern? */
bool pattern_is(const char *text);

/* Does the name match? The beginning of a name is no match here. */
bool pattern_matches(const char *pattern, const char *name);

/* Does the name fit? NULL fits every name. */
bool pattern_fits(const char *pattern, const char *name);

/* What every name that fits begins with.  The caller frees it. */
char *pattern_prefix(const char *pattern);
