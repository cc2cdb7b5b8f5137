/* SPDX-License-Identifier: BSD-2-Clause */
/* making_parts.h: what making.c, making_order.c and making_names.c share. */
#pragma once

#include "kept/making.h"
#include "server/waiting.h"

struct making {
    struct making *next, **link; /* in the list */
    enum {
        WAITS,
        IN_WORK,
        ASKS, /* waits for the main thread: making_tells_first() */
        ADDS, /* replicas have the command, and nobody may see a part of what it does */
        DONE
    } state;
    struct waiting *client;
    struct maker maker;
    struct value *value; /* gets the filter; NULL once it is claimed */
    char name[NAME_ROOM];
    bool adds;
    bool is_refused;    /* its keys were gone when it asked */
    bool is_spoiled;    /* what it has made is worth nothing: making_settle() */
    bool is_replicated; /* that it has changed a filter, or is about to */
    bool has_let_go;    /* of the values that it has pinned */
    /* The command, if it changes a filter that is there; else NULL */
    RedisModuleString **argv;
    int argc;
    int rc;
    char sentence[1024];
};

enum use { USE_NONE, USE_READS, USE_CHANGES };

/* The mutex guards the list, the names in it and what is done. */
void making_lock(void);
void making_unlock(void);
extern struct making *making_first; /* of the list */

/* The caller of all of these has the mutex. */

/* Waits until it is done, or does it. */
void making_wait_for(struct making *m);
/* What it makes is worth nothing, or what it changes is done and replicated, and before that all
 * that it waits for.  The mutex is given back meanwhile; the main thread alone takes any off the
 * list. */
void making_settle_one(struct making *m);
enum use making_use_of(const struct making *m, const struct value *value);
/* Need nobody wait for it any more?  It has come to nothing, or is claimed, or is done and
 * replicated. */
bool making_is_over(const struct making *m);
/* The one before `m`, from `from` on, that it must wait for; NULL: there is none. */
struct making *making_find_obstacle(struct making *from, const struct making *m);
