/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * making.h: filters that a thread makes while their clients wait and the server goes on.
 *
 * To make a filter takes several syncs of the disk, and for a large one, or one that comes as a
 * stream, the time to write it.  So a command that wants a filter is run twice:
 *
 *     making_run()      the command finds no filter and asks for one
 *     making_put_off()  the client is blocked; a thread makes the filter in the store
 *     making_run()      the command is run anew, from its beginning, by the server's thread, and
 *     making_claim()    gets the filter; only now its key, the AOF and replicas have anything of it
 *
 * What happens to the key between the two is as if it had happened before the command.  If its slot
 * has moved to another node of a cluster, or the user has lost the permission, the command fails.
 * If the key has got something else, or the client is gone, nobody claims the filter, and it is
 * dropped.  If the server is killed, it is an orphan of the next start, as after any command that
 * was not answered.
 *
 * A command that changes a filter which is there has changed it when the thread is done, whether it
 * is run anew or not: its client may be gone, or its key renamed.  Then replicas and the AOF have
 * the command all the same, with the present names of its keys.
 *
 * They have the commands on one filter in the order in which the threads have done them: none
 * begins to change a filter before all commands that came earlier, and read or change it, are
 * replicated; nor to read one that another is to change.
 *
 * Commands of MULTI, of scripts, of a master and of an AOF have no client that could wait: they
 * make their filters at once, and the server waits.
 */
#pragma once

#include "kept/replicate.h"
#include "value/value.h"

/* How a filter is made. */
struct maker {
    /* Makes a filter of that name in the store, and opens it. */
    int (*make)(void *context, tamis_store *store, const char *name, tamis_filter **filter);
    void *context;
    /* Returns a copy of the context that a thread may use; NULL: only the main thread can make the
     * filter.  RedisModule_Free(), or `forget` if there is one, frees the copy. */
    void *(*keep)(const void *context);
    void (*forget)(void *kept);
    /* Lets go of the values that the copy has pinned; what it has to tell stays. */
    void (*let_go)(void *kept);
    /* The values that the thread reads or changes, which are pinned: the one at index i, or NULL
     * from the last one on.  The function NULL: none. */
    const struct value *(*uses)(const void *kept, size_t i, bool *changes);
    bool holds_still; /* still.h: nobody else may write into these */
    /* Of one that changes a filter which is there: replicate.h.  NULL: nobody need know what is
     * done. */
    replicate_follow *follow;
    /* Of one that calls making_tells_first(): may replicas have the command now?  `waits`: the main
     * thread waits until they may.  NULL: it does not call that. */
    bool (*may_tell)(bool waits);
};

/* What making_put_off() is told instead of the 0 of a filter that is made: the command has no
 * answer yet. */
#define MAKING_IS_PUT_OFF 1

/* Runs a command that may make a filter.  `again`, which calls this, is what the server runs when
 * the filter is there.  `adds`: it will have keys or bits at once, so the thread marks it as
 * written to. */
int making_run(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, RedisModuleCmdFunc *run,
               RedisModuleReplyFunc *again, bool adds);

/* Lets a thread make a filter of that name for a value of that type, if the command that is run has
 * a client that can wait.  Returns whether it does. */
bool making_put_off(enum type type, const char *name, const struct maker *maker);

/* Was a filter asked for when the command that is run was run the first time?  Gives the filter and
 * its name to the value, and *rc what the making of it returned.  TAMIS_EDROPPED: it had a filter
 * changed that the key had then. */
bool making_claim(struct value *value, int *rc);
/* The same for a maker that has changed a filter which was there, and has left none. */
bool making_is_done(int *rc);
/* The same without giving it: is there one?  Returns its kept context, or NULL. */
void *making_context(void);

/* Replicates the command that is run; if a thread has done it, and that is replicated already, does
 * nothing. */
int making_replicate(RedisModuleCtx *ctx);

/* Called by a maker when it is about to do what comes once more if it is done twice, such as to add
 * counters: a child that is born meanwhile would save it, and replicas and the AOF would do it
 * again.  So they get the command now.  The thread waits until the main thread has told them.  From
 * then on it must not fail, and fork() and DUMP wait until it is done.  Returns false if the keys
 * are gone, or the server has become a replica: then nothing is to be changed. */
bool making_tells_first(void);
/* Is the command that is run anew one that has told replicas first?  Then *rc is what came of it,
 * and the answer is all that is left to do. */
bool making_has_told(int *rc);
/* Waits until no thread is about to change the filter that has told replicas first. */
void making_wait_for_told(const struct value *value);

/* The main thread is about to read the filter itself, or to change it.  Waits for what threads
 * change in it, and replicates that.  If the main thread changes it, it waits for those that read
 * it to change another one, too, and those that make filters of it have made nothing: the commands
 * that are run again find that they must make it themselves. */
void making_settle(const struct value *value, bool changes);
/* The same for all that threads change, in whatever filters. */
void making_settle_all(void);
/* The server has become a replica: commands that have not begun to change a filter fail.  Those in
 * work go on, and replicate.h says what comes of that. */
void making_give_up_changes(void);
/* Called when a turn of the event loop ends.  While writes are paused, nothing begins to change a
 * filter. */
void making_go_on(void);
/* Does a maker that is not at its end want nobody to write into the filter? */
bool making_holds_still(const struct value *value);

/* Has a filter the name that no server has made?  One of ours gives way, or is gone by now.  In any
 * thread. */
bool making_is_of_others(const char *name);
/* Is a filter of that name made, or not claimed yet? */
bool making_has(const char *name);
/* Waits until no filter of that name is being made. */
void making_wait(const char *name);
/* If a filter that is made and not claimed has the name, renames it apart.  Returns whether one had
 * it. */
bool making_makes_way(const char *name);
/* The server ends, or loads other data: waits for the threads, replicates what they have changed,
 * lets go of all values, and hands over what nobody has claimed. */
void making_finish(void);
