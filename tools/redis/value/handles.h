/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handles.h: which values have their filter open.
 *
 * An open filter costs a mapping, and a descriptor once keys were added, and a process has only so
 * many of both.  So at most config.max_open values have a handle; another one closes the handle of
 * a value that was not used for a while, and opens it again when a command wants it.
 *
 *     closable    The handle may be closed when another is opened.
 *     staying     It stays open: of a durable filter, whose log would be read back at each
 *                 opening, and which a thread may be using.
 *
 * To close is to release (tamis_filter_release()): nothing goes to the disk, and the catalog is not
 * changed.  What was added is in the file already.  The main thread opens and closes; another
 * thread that frees a value takes it off first (handles_leave()).
 */
#pragma once

#include "value/value.h"

/* The store that handles are opened in. */
void handles_set_store(tamis_store *of);
/* Is this the child of a fork() of the server? */
bool handles_are_of_child(void);
/* Registers handlers of fork(), before the registry does. */
void handles_prepare_for_fork(void);

/* Opens the filter of a value that has one and whose handle is closed, for value_open(). */
int handles_open(struct value *value);
/*
 * Opens the filter of the value if it is closed, and says that it is in use: value->filter is not
 * NULL until another value is opened or entered.  For a value without a filter of the store this
 * does nothing.  In a child of fork() one value at a time is opened beside those that were open.
 *
 * Returns 0; TAMIS_EDROPPED: the store has lost the filter; or another error of opening it.
 */
static inline int value_open(struct value *value)
{
    value->in_use = true;
    value->is_known = false; /* until somebody says that he only reads */
    return value->filter != NULL || !value_is_stored(value) ? 0 : handles_open(value);
}
/* A draft is in the store now.  It counts, and is opened if that is asked for and possible. */
void handles_made(struct value *value, bool opens);
/* Writes the open filter out, whole and with its key.  A child tries that again for a while if
 * other threads of the server change it all the time, or have the catalog. */
int handles_export(const struct value *value, const struct tamis_sink *to);
/* As value_open(), for a thread that has taken the value off (handles_leave()). */
int value_open_alone(struct value *value);

/* The filter of the value has another name now.  The caller has the registry's mutex.  What another
 * thread may be renaming has its name told by handles_name(). */
void handles_rename(struct value *value, const char *name);
void handles_name(const struct value *value, char name[NAME_ROOM]);

/*
 * Opens the filter that was created at that time, one of others or, with `owned_too`, any.  It is
 * looked for under the name first, which may be "", and then among all: a local process may have
 * renamed it.  `name` becomes the one that it has.
 *
 * Returns 0; TAMIS_EDROPPED: the store has no such filter; or another error of opening it.
 */
int handles_open_created(int64_t created_at, bool owned_too, char name[NAME_ROOM], unsigned flags,
                         tamis_filter **filter);

/* A value has got its filter, or another one.  If that is open, it is in use. */
void handles_enter(struct value *value);
/* Takes the value off: from now on nobody else closes its handle, which may be closed already. */
void handles_leave(struct value *value);
/* Between these two no handle is closed, for a command that uses several values at once. */
void handles_hold(void);
void handles_let_go(void);
/* Closes as many as are more than the setting allows. */
void handles_trim(void);
/* Closes those of which `is` says so, and which may be closed. */
void handles_close_those(bool (*is)(void *context, tamis_filter *filter), void *context);

/*
 * What the filters of all values have.  The sums are kept up to date as handles are closed.  Of
 * open ones handles_look() takes in what they have now, 64 of either sort at least, and the next
 * ones at the next call.  So the sums are exact if no more are open.
 */
struct sums {
    uint64_t open;   /* how many are open */
    uint64_t broken; /* how many could not be opened, when that was tried last */
    uint64_t segments, bytes, items, unclean, degraded;
};
void handles_look(void);
struct sums handles_sums(void);
