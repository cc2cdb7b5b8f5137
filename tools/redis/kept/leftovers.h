/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leftovers.h: the filters that the store had when the server began.
 *
 * A dump or an AOF is loaded beside them.  Values take filters off this list while that goes on;
 * rejoin.h tells what becomes of the others.  Those keep their names until then: a process of this
 * machine that opens one meanwhile, to add to it, has the right one, and if the server is killed,
 * the next start finds all as it was.  What is loaded under such a name is in memory
 * (draft_hold()), or has a name apart (NAME_LOADING).
 */
#pragma once

#include "kept/moves.h"
#include "value/value.h"

struct leftover {
    struct leftover *next, **link; /* the list, sorted by names as they were */
    struct node by_name, by_time;
    char *was; /* its name at the start */
    char *name;
    char *to;        /* moves.h: the name that it was to get; NULL: the one that it had */
    char *perhaps;   /* the same, if what was loaded has the last commands; NULL: none */
    bool is_behind;  /* the same: it may lack items that the AOF has */
    bool is_of_load; /* the same: it was made by a load that was not finished */
    enum gone gone;  /* the same: is its key gone? */
    int64_t created_at;
    int64_t heir;       /* created_at of the first filter that was loaded under its name; 0: none */
    int64_t origin;     /* when its first segment was made; 0: not looked at yet */
    int64_t used_since; /* unwanted.c: another process was first found to use it; 0: none was */
    struct known known;
    uint64_t capacity;
    double fp_rate;
    uint32_t kind;
    bool owned, durable, exact, has_rule;
    bool refuses;  /* when it is full */
    bool unwanted; /* an orphan that unwanted.c drops */
    bool put_off;  /* it could not yet; the other ones that it drops come first in the list */
};

/* Lists the store's filters.  Called when the store has been opened. */
void leftovers_read(void);
/* A dump or an AOF is loaded. */
void leftovers_loading(void);
/* Are keys still loaded, or to be loaded? */
bool leftovers_are_open(void);
/* All keys are loaded.  Returns false if the list was closed before. */
bool leftovers_close(void);

/* Gives the value the leftover that was created at that time.  Returns whether there is one.  It is
 * not opened: the first use of the value does that, and tells what is wrong with it. */
bool leftovers_take(int64_t created_at, struct value *value);
/* The same for a filter of others that the store has now, which is opened. */
bool leftovers_take_others(int64_t created_at, struct value *value);
/* The same for a leftover of ours that has the name, and whose first segment was made at that time.
 */
bool leftovers_take_counts(const char *name, int64_t origin, struct value *value);
/* Are keys still loaded, and has a leftover of ours the name? */
bool leftovers_keep_name(const char *name);
/* If an orphan has the name, renames it apart.  Returns whether one had it. */
bool leftovers_make_way(const char *name);
/* A filter was loaded under the name of a leftover, created at that time.  Its key may be renamed
 * while all is loaded; the server may have been killed before it had renamed the filter. */
void leftovers_set_heir(const char *name, int64_t created_at);
/* The same of a filter that got the name later: that counts for a leftover of a load only. */
void leftovers_set_renamed(const char *name, int64_t created_at);
/* When the first segment was made; -1: the filter cannot be opened. */
int64_t leftovers_origin(struct leftover *l);
/* Takes the leftovers off the list for which is_done() returns true. */
void leftovers_take_off(bool (*is_done)(void *context, struct leftover *), void *context);
/* The first of the list; NULL: it is empty. */
struct leftover *leftovers_first(void);
/* Takes one off the list; moves one to its end. */
void leftovers_forget_one(struct leftover *l);
void leftovers_put_last(struct leftover *l);

/* Calls fn for each orphan, a filter of ours without a key.  Before the list is closed there are
 * none. */
typedef void orphan_fn(void *context, const char *name, const char *was);
void orphans_each(orphan_fn *fn, void *context);
uint64_t orphans_count(void);
/* The log says that the filter is an orphan, unless it has said so of a hundred others. */
void leftovers_tell_orphan(RedisModuleCtx *ctx, struct leftover *l);
/* Takes a filter off the list, by its name: it is a key's again. */
void leftovers_forget(const char *name);
/* Takes an orphan off the list, by its name, while it is opened for a key or dropped, perhaps by a
 * thread: nobody else renames, attaches or drops it meanwhile.  NULL: no orphan has the name.  The
 * main thread calls these. */
struct leftover *orphan_take(const char *name);
/* Is one taken that had the name? */
bool orphan_is_taken(const char *name);
/* It is an orphan again, and has that name. */
void orphan_put_back(struct leftover *l, const char *name);
/* It is none any more. */
void orphan_free(struct leftover *l);
