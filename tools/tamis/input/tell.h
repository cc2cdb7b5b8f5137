/* SPDX-License-Identifier: BSD-2-Clause */
/* tell.h: what is said of the format of an input, and of what was not taken from it. */
#pragma once

#include <stdbool.h>

#include "input/guess.h"

/* Says what a list is read as, and why, if it is not to be quiet.  false, with *error set: nobody
 * can tell how it is meant.
 */
bool format_tell_guess(const struct guess *guess, const char *name, bool quiet, char **error);

/* Says how many keys an input had, and what of it gave none.  Nothing where there is nothing to
 * say.
 */
void format_tell_counts(const struct taking *taking, const char *name);
