/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make.h: filters that begin in the store: those that memory cannot have, and large ones.
 *
 * If a client can wait, a thread makes the filter first, and the key gets it then.  In MULTI, in
 * scripts, for a master and for a load the key gets its value at once, and a thread makes the
 * filter as the first job of its line: whoever opens it waits for that (stored_open()).
 */
#pragma once

#include "value/task.h"

/* What makes a filter of the store, in a thread or in the main thread. */
struct making {
    struct task task; /* first: it is one */
    struct id id;
    tamis_filter *filter; /* made, and not taken yet */
    /* Makes it under that name. */
    int (*make)(struct making *making, tamis_store *store, const char *name);
    void (*forget)(void *context); /* frees what the context has; may be NULL */
    void *context;                 /* freed with the making */
    bool may_be_late;    /* nothing is wrong with what is asked for, and any thread may forget it */
    struct stored *late; /* the value has this already, and a thread is to make its filter */
};

/*
 * Makes the filter, in a thread if the client can wait.  The command that calls this is run anew
 * then: it takes the making by making_of().  Returns NULL: the client waits, or there is no store
 * and the error is replied.
 */
struct making *making_begin(RedisModuleCtx *ctx, RedisModuleReplyFunc *again,
                            RedisModuleString *key, struct making *making);
struct making *making_of(RedisModuleCtx *ctx);
/* A new one, all of it zero but these. */
struct making *making_new(int (*make)(struct making *, tamis_store *, const char *), void *context,
                          void (*forget)(void *context));
/* Makes a value of what was made, and puts it into the key, which is empty; logs TAMIS.BIND, and
 * ends the making.  Returns NULL if it was not made, and replies; or if there is no making. */
struct value *making_take(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                          struct making *making, const char *failure);
/* Ends a making that is not taken. */
void making_end(RedisModuleCtx *ctx, struct making *making);

/* A stream of format tamis in memory, which grows. */
struct stream {
    char *data;
    size_t bytes, room;
    bool durable;
    bool is_head; /* it is a head alone: of that format, or RedisBloom's, of an exact filter */
    bool exact;
};
int stream_append(void *stream, const void *data, size_t bytes);
/* What makes a filter of a stream, which is its context, and frees it. */
struct making *making_of_stream(const struct stream *stream);

/* Gives the value a filter that a thread makes: where there is no client.  Returns 0, or an error:
 * there is no store. */
int make_late(struct value *value, int db, const char *key, size_t key_bytes,
              struct making *making);
