/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stored.h: what a value has whose filter is in the store: the filter's handle, which is open or
 * closed; the queue of what threads do for it; and the name that its key wants it to have.
 *
 *     handles   At most tamis.max-open are open.  Another one closes a handle that was not used for
 *               a while: by tamis_filter_release(), which brings nothing to the disk and changes
 *               no catalog.  The main thread opens and closes; a pinned handle stays.
 *     by id     A table has all that have a value, so that a drop finds whether an id is wanted.
 *     gone      stored_let_go() may run in any thread.  It takes the stored out of the table and
 *               puts it on a list, and does nothing else.  stored_reap(), in the main thread,
 *               closes the handle, and says which filters of ours are gone.
 */
#pragma once

#include "value/value.h"
#include "value/work.h"

/* What the library told when the filter was opened, or closed, last. */
struct known {
    uint64_t capacity, items, size_bytes, data_bytes;
    double rate;
    uint32_t on_full, segments, state;
};

#define NO_DUMP UINT64_MAX /* refers to the filter */

struct stored {
    struct id id;
    tamis_filter *filter;        /* NULL: closed, or there is none (broken) */
    size_t place;                /* in the list of open ones */
    struct stored *next, **link; /* all in the table; the link is NULL outside of it */
    struct stored *next_gone;    /* values that went, and are not reaped */
    struct stored *same;         /* in the table, of one hash */
    struct value *value;         /* NULL: it is gone; in the table: it is on its way */
    struct line line;            /* what threads do for it, in order */
    unsigned pins;               /* main thread: as many use the handle, so it stays */
    bool attached;               /* of others: it stays in the store when its key goes */
    bool durable, in_use, is_broken, wants_label;
    bool unnamed; /* a filter of others had the name of its key */
    bool is_lost; /* atomic: a thread could not make it */
    bool found;   /* the store had it, and a load repeats its commands */
    uint32_t kind;
    int db;
    char *key; /* key_bytes of them: as the key is called */
    size_t key_bytes;
    uint64_t dump;     /* that was begun last when the value went */
    uint64_t store_id; /* broken: the store that the dump was made beside */
    struct known known;
};

/* One for a filter that is on its way: the table has its id, so that nobody drops what is there. */
struct stored *stored_begin(const struct id *id);
/* The value gets it as its home.  `filter` is open, or NULL: closed. */
void stored_settle(struct stored *stored, struct value *value, tamis_filter *filter);
/* Both at once. */
struct stored *stored_new(struct value *value, const struct id *id, tamis_filter *filter);
/* Reads kind, durable, and so on, from the filter, which is open.  TAMIS_EINVAL: a key cannot have
 * such a filter. */
int stored_describe(struct stored *stored);

/* Has the open filter bits alone, no window, exceptions, log, secret or key rule?  Another process
 * may change that. */
bool stored_is_plain(const struct stored *stored);
/* Opens the handle, once the filter is made, and says that it is in use.  Returns 0 or an error.  A
 * filter that could not be made is broken from then on. */
int stored_open(struct stored *stored);
/* Marks all segments of a filter as written to, so that who writes into them does not wait for
 * that.  Any thread. */
void stored_mark(tamis_filter *filter);
/* Closes handles, if more are open than the setting allows. */
void stored_trim(void);

/* The value is gone.  Any thread. */
void stored_let_go(struct stored *stored);
/* Its key is gone, and a thread is about to free the value. */
void stored_outdate(struct stored *stored);
/* All values are about to go: Valkey loads data while a thread frees those of before. */
void stored_outdate_all(void);
/* Ends those that are gone, and calls is_gone with the ids of filters of ours, and the number of
 * the dump that was begun last when the value went.  Main thread. */
void stored_reap(void (*is_gone)(const struct id *id, uint64_t dump));
/* How many dumps were begun; `begins`: another one is. */
uint64_t stored_dumps(bool begins);
/* The one of the id, or NULL.  Main thread. */
struct stored *stored_find(const struct id *id);
/* Has a value the id, or will it have it?  Any thread. */
bool stored_has(const struct id *id);
/* The first of all, and the next one; NULL: there is none.  Main thread, which frees none
 * meanwhile. */
struct stored *stored_first(void);
struct stored *stored_next(const struct stored *stored);

/* How many filters are open. */
uint64_t stored_open_count(void);
uint64_t stored_size_bytes(const struct stored *stored);
/* The newest of what is known; reads no file that is not open. */
struct known stored_known(const struct stored *stored);

static inline bool stored_counts(const struct stored *stored)
{
    return tamis_kind_has(stored->kind, TAMIS_KIND_COUNTS) != 0;
}
static inline bool stored_is_static(const struct stored *stored)
{
    return tamis_kind_has(stored->kind, TAMIS_KIND_IS_STATIC) != 0;
}
