/* SPDX-License-Identifier: BSD-2-Clause */
/* pull.h: the stream of a filter, as a dump has it: in pieces, and an empty one behind the last. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/redis_api.h"
#include "tamis.h"
#include "value/drafts.h"

/* The stream of a filter in a drawer has no more bytes. */
#define PULL_SMALL_BYTES 8192u

struct pull {
    RedisModuleIO *rdb;
    bool durable;       /* the filter is durable */
    int64_t created_at; /* when the filter was created; 0: it is created now */
    char *piece;        /* that is being read */
    size_t at, bytes;
    bool ended;
    struct ahead *ahead; /* pieces that were read ahead */
    uint64_t all_bytes;  /* of the stream, where all of it was read ahead; else 0 */
};

/* Reads over all of it. */
int pull_skip(struct pull *pull);
/*
 * Reads the whole stream of a client's RESTORE before anything is made of it: a head claims what it
 * likes, and no file may be larger than what has come.  TAMIS_ENOMEM: it is larger than
 * tamis.max-bytes.  (The pieces of a dump are read one by one, as the import takes them.)
 */
int pull_all(struct pull *pull);
/* Reads the whole stream, if it is that of a filter which goes into a drawer.  Else it has no data,
 * and what was read is read again by pull_import(). */
int pull_small(struct pull *pull, struct draft_stream *stream);
/* The same of a client's RESTORE: as pull_all(), which has read all of it in any case. */
int pull_all_small(struct pull *pull, struct draft_stream *stream);
/* Makes and opens a filter of a whole stream of ours, if it goes into a drawer; *rc tells what came
 * of it.  Returns false if it does not.  In any thread. */
bool pull_import_small(tamis_store *store, const struct tamis_filled *filled, tamis_filter **filter,
                       int *rc);
/* Makes a filter of the stream; the `make` of a maker whose context is the pull. */
int pull_import(void *context, tamis_store *store, const char *name, tamis_filter **filter);
void pull_clear(struct pull *pull);
