/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * renames.h: the filters that have not the names of their keys yet.
 *
 * To rename waits for the disk, so the thread of kept.c does it, one filter after the other, and
 * the server goes on.  The value of a filter is in the list here, or the thread is at work for it,
 * or both.  If another filter of ours has the name, the thread renames that one apart, and puts it
 * into the list, too.
 *
 * The caller of each of these holds the registry's mutex.
 */
#pragma once

#include "value/value.h"

/* Has the filter another name than it should?  `name` gets the one of its key. */
bool renames_misnamed(const struct value *value, char name[NAME_ROOM]);
/* Puts a value into the list, or takes it off: its key is gone. */
void renames_put(struct value *value);
void renames_forget(struct value *value);
/* A draft whose key has another name: its filter is renamed once it is made.  renames_take_made()
 * puts those into the list that are; the main thread calls it. */
void renames_put_draft(struct value *value);
void renames_take_made(void);
/* Is it in the list, or is the thread at work for it? */
bool renames_have(const struct value *value);

/* Must the value be waited for?  Not if the catalog is busy.  NULL: any. */
bool renames_are_awaited(const struct value *value);
/* Waits until the thread renames nothing.  Gives the mutex back meanwhile. */
void renames_wait_for_thread(void);

/* Waits until the thread renames nothing, and holds it off until the end of the next call with
 * false: a filter is being made, which nobody must take the name of. */
void renames_hold(bool held);

/* For the thread.  Is there something to do?  Is it being done just now? */
bool renames_are_wanted(void);
bool renames_are_at_work(void);
/* Renames the first filter; gives the mutex back meanwhile.  `find_gone` finds the value of a
 * filter whose key is gone, by its name. */
typedef struct value *find_fn(const char *name);
void renames_work_once(find_fn *find_gone);

/* The thread tries again what the catalog was too busy for. */
void renames_try_again(void);

/* Leaves a value to the main thread: something has its name that the thread cannot rename.
 * renames_have_left() says whether there is one, and renames_take_left() gives back the one that
 * was left first; NULL: there is none. */
void renames_leave(struct value *value);
bool renames_have_left(void);
struct value *renames_take_left(void);
