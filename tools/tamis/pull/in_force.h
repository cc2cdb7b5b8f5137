/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * in_force.h: is what a pull noted still what is in force?
 *
 * What was noted belongs to one content of the filter.  After a rollback, a build, an add or a drop
 * another one is in force, and the server's "not changed since" would be about the wrong list.
 */
#pragma once

#include "publish.h"
#include "pull/notes.h"

/* Notes what was published.  false: others have put something else in force by now, or it is
 * damaged. */
bool in_force_note(tamis_store *store, const struct publishing *publishing, struct notes *notes);

/* Has it the content of the notes, and what the options of the call ask for besides (--keep,
 * --except)? */
bool in_force_is(tamis_store *store, const struct publishing *publishing,
                 const struct notes *notes);
