/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handles.h: which values have their filter open.
 *
 * An open filter costs a mapping, and a descriptor once keys were added, and a process has only so
 * many of both.  So at most config.max_open values have a handle; another one closes the handle of
 * a value that was not used for a while, and opens it again when a command wants it.
 *
 *     in the ring    The handle may be closed when another is opened.
 *     outside        It stays open: of a durable filter, whose log would be read back at each
 *                    opening, and which a thread may be using.
 *
 * To close is to release (tamis_filter_release()): nothing goes to the disk, and the catalog is not
 * changed.  What was added is in the file already.  The main thread opens and closes; another
 * thread that frees a value takes it out of the ring first.
 */
#pragma once

#include "value/value.h"

/* The store that handles are opened in. */
void handles_set_store(tamis_store *of);
/* Registers handlers of fork(), before the registry does. */
void handles_prepare_for_fork(void);

/*
 * Opens the filter of the value if it is closed, and says that it is in use: value->filter is not
 * NULL until another value is opened or entered.  A draft (drafts.h) comes into the store.  For a
 * value without a filter of the store this does nothing.  In a child of fork() one value at a time
 * is opened beside those that were open.
 *
 * Returns 0; TAMIS_EDROPPED: the store has lost the filter; or another error of opening it.
 */
int value_open(struct value *value);
/* Opens the filter of a draft that is in the store now, if that is possible; or enters it, if it is
 * open. */
void handles_open_made(struct value *value);
/* As value_open(), for a thread that has taken the value off (handles_leave()). */
int value_open_alone(struct value *value);

/* The filter of the value has another name now.  The caller has the registry's mutex. */
void handles_rename(struct value *value, const char *name);

/* A value has got its filter, which is open, or another one; the value is in use. */
void handles_enter(struct value *value);
/* Takes the value off: from now on nobody else closes its handle, which may be closed already. */
void handles_leave(struct value *value);
/* Between these two no handle is closed, for a command that uses several values at once. */
void handles_hold(void);
void handles_let_go(void);
/* Closes as many as are more than the setting allows. */
void handles_trim(void);
/* How many are open. */
uint64_t handles_open(void);
