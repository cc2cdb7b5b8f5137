/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * moves.h: what the thread of kept.c has still to do to filters, in a file that outlives the
 * server.
 *
 * The thread drops and renames filters some time after the command.  If the server is killed
 * meanwhile, a filter has its old name at the next start, and must not be taken for the one of the
 * key that has that name by then (rejoin.h).  So each such move is noted before its command ends,
 * in a file of the store's directory that is mapped (docs/decisions/0039).  A killed process loses
 * nothing of it; a power cut may lose all of it, and then filters are known by their names and
 * bits.
 *
 * To note a move takes some nanoseconds and no call of the system, but where the file grows.
 * Nothing is noted before all is loaded (moves_begin()), nor without the file, nor if it is
 * full.
 */
#pragma once

#include "value/value.h"

/* ---- The moves of this run --------------------------------------------------------------------
 * All may be called in any thread, without the registry's mutex or with it, but where they say
 * otherwise. */

/* The filter that was created at that time has lost its key.  Returns whether that is noted: then
 * moves_end() must follow, when it has no key's name any more, or has got a key again. */
bool moves_note_gone(int64_t created_at);
void moves_end(void);
/* The filter of the value is to get the name of its key, which the caller keeps as it is.  If
 * another name was noted before, this one is what counts.  moves_forget() must follow when it has
 * the name, or has lost its key; further calls do nothing. */
void moves_note_name(struct value *value);
void moves_forget(struct value *value);
/* Has moves_note_name() been called, and moves_forget() not yet? */
bool moves_has_name_of(const struct value *value);
/* A thread is to add items to the filter, which the AOF has before it.  Returns whether moves_end()
 * must follow, when they are in. */
bool moves_note_adds(const struct value *value);
/* The value has got a key and its filter: if anything is under way, that is noted, as the filter or
 * its name may have been another key's. */
void moves_note_key(const struct value *value);

/* A database is emptied, or all (-1).  In the main thread, as are those below. */
void moves_note_flush(int db);
/* Databases change places.  Called before moves_note_name() is for their values. */
void moves_note_swap(int a, int b);
/* What moves_note_flush() has noted is over, and all values are released; with `async` another
 * thread releases them, and moves_watch_flushes(), which is called now and then, sees the end of
 * that. */
void moves_flush_ends(bool async);
void moves_watch_flushes(RedisModuleCtx *ctx);

/* A turn of the event loop ends: the AOF is written next.  And it is over: the AOF has been
 * written, and has the commands of all that is noted.  A server that does not tell of its turns
 * confirms nothing, and what is noted is of little use. */
void moves_before_sleep(void);
void moves_after_sleep(void);

/* ---- The file ------------------------------------------------------------------------------- */

/* Opens the file, or makes it, and reads the moves of the run before.  Called when the store has
 * been opened. */
void moves_open(void);
/* All is loaded: from now on moves are noted. */
void moves_begin(void);
/* A dump or an AOF is loaded, beside filters of which the newest was created at that time. */
void moves_note_load(int64_t newest);
/* The keys have their filters again: what was read is not needed any more. */
void moves_are_dealt_with(void);
/* The server ends. */
void moves_close(void);

/* ---- What the run before had under way --------------------------------------------------------
 */

enum gone {
    STAYS,   /* it has a key, or nothing is known of it */
    BY_HEIR, /* it may have a key: not by its name, which another filter was to get (rejoin.h) */
    FLUSHED, /* its database was emptied when it was there already */
    GONE,    /* its key is gone */
};
struct moved {
    enum gone gone;
    const char *to;      /* the name that it was to get; NULL: the one that it has */
    bool is_behind;      /* it may lack items that the AOF has */
    bool is_of_load;     /* it was made by a load of the same, in the middle of which the server was
                            killed; or by another server at that time */
    const char *perhaps; /* one that it was to get if the AOF has the last commands; NULL: none */
};
/* Of the filter that was created at that time, and that the store has under that name.  What it
 * points to stays until moves_let_go(). */
struct moved moves_of(int64_t created_at, const char *name);
/* The caller has asked about all filters. */
void moves_let_go(void);
