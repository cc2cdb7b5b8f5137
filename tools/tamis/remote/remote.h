/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * remote.h: a store that is a Redis server or cluster with the module (docs/cluster.md), as the
 * commands see it.
 *
 * The files of remote/ are the client: shard.c has the rule from keys to shards, node.c a
 * connection, cluster.c which node has which slot, requests.c requests and their answers with all
 * that can go wrong in between, list.c which filters there are, filter.c a filter by its name,
 * batch.c its keys, parents.c names and their parents, and the rest each a command about filters.
 * No file outside includes another header of them than this one, but for redis_connection.c, which
 * has wire.h.
 *
 * Every call that fails has told why on standard error and returns NULL or a value below 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "part.h"
#include "tamis.h"

struct invocation;
struct remote;
struct remote_filter;

/* What `create` makes. */
struct remote_spec {
    struct tamis_filter_spec spec; /* of the whole filter */
    const char *like;              /* another filter that it is like, in place of the spec */
    uint32_t shards;               /* 0: as many as keep each of them below 128 MiB */
    bool if_missing;               /* the same filter may be there */
};

/* What is known of all shards together (docs/cluster.md). */
struct remote_shards {
    uint32_t shards;
    uint64_t capacity;
    double fp_rate;
    uint32_t kind;
    uint64_t seed;
    char key_rule[TAMIS_KEY_RULE_MAX + 1]; /* "": bytes */
};

/* Is told where a key goes in one of the segments; returns 0 to go on. */
typedef int remote_explain_fn(void *context, const struct tamis_key *key, uint32_t segment,
                              uint32_t segments, const struct tamis_explanation *explanation);

/* Is told of a shard that was made anew, or would be: its key, and the node that has it. */
typedef void remote_repair_fn(void *context, const char *key, const char *node);

PART struct remote *remote_open(const struct invocation *call, const char *url);
PART void remote_close(struct remote *remote);

PART struct remote_filter *remote_filter_open(struct remote *remote, const char *name);
PART void remote_filter_close(struct remote_filter *filter);
PART uint32_t remote_filter_shards(const struct remote_filter *filter); /* 0: it is one key */
/* As tamis_filter_add_batch() and tamis_filter_contains_batch(); all answers are there. */
PART int64_t remote_add(struct remote_filter *filter, const struct tamis_key *keys, size_t count,
                        uint8_t *answers);
PART int64_t remote_contains(struct remote_filter *filter, const struct tamis_key *keys,
                             size_t count, uint8_t *answers);
/* As remote_contains(), by tamis_filter_contains_name().  The shards of a filter that have
 * exceptions cannot be asked that; below 0 after a message. */
PART int64_t remote_contains_names(struct remote_filter *filter, const struct tamis_key *names,
                                   size_t count, uint8_t *answers);
/* As tamis_filter_remove_batch().  Keys whose answer was lost are not asked again: they are
 * TAMIS_ANSWER_REFUSED, and in doubt. */
PART int64_t remote_remove(struct remote_filter *filter, const struct tamis_key *keys, size_t count,
                           uint8_t *answers);
PART int64_t remote_count(struct remote_filter *filter, const struct tamis_key *keys, size_t count,
                          uint64_t *counts);
/* Below 0 after a message: filters of its kind have no such command ("TAMIS.COUNT" or
 * "TAMIS.REMOVE"). */
PART int remote_can(struct remote_filter *filter, const char *command);
PART int remote_explain(struct remote_filter *filter, const struct tamis_key *keys, size_t count,
                        remote_explain_fn *each, void *context);
/* Keys so far that may have been new before their answer was lost, and were seen when they were
 * asked again.  They were answered as new, or, after --no-retry-new, as seen. */
PART uint64_t remote_doubts(const struct remote_filter *filter);
PART int remote_stat(struct remote_filter *filter, struct tamis_filter_stat *stat);
/* The same with its segments, which the caller frees, of a filter that is one key.  fill: their
 * set bits are counted. */
PART int remote_segments(struct remote_filter *filter, bool fill, struct tamis_filter_stat *stat,
                         struct tamis_segment_stat **segments);
PART int remote_rotate(struct remote_filter *filter);
/* Makes the shards anew, empty, whose keys are gone; dry: says which.  Their number. */
PART int remote_repair(struct remote_filter *filter, bool dry, remote_repair_fn *each,
                       void *context);
/* All shards go back to the generation, or by one (0).  *before and *after: what is in force. */
PART int remote_rollback(struct remote_filter *filter, uint64_t generation, uint64_t *before,
                         uint64_t *after);
PART int remote_sync(struct remote_filter *filter); /* it is on the disk of its nodes */

/* Writes what `tamis export` writes of a shard (0 of a filter without shards).  *all_bytes is
 * there before the sink is first called. */
PART int remote_export(struct remote_filter *filter, uint32_t shard, const char *format,
                       bool with_key, const struct tamis_sink *sink, uint64_t *all_bytes);
/* Tells the shards of a filter that has some; below 0 where one of them is gone. */
PART int remote_tell_shards(struct remote_filter *filter, struct remote_shards *shards);
/* Makes a filter of one key that is like an open filter of a local store. */
PART int remote_import(struct remote *remote, const char *name, tamis_filter *filter, bool durable);
/* Makes a sharded filter from streams: begin, each shard, end.  replace: it may be there, with
 * as many shards; each of them is replaced in one step. */
PART struct remote_filter *remote_import_begin(struct remote *remote, const char *name,
                                               const struct remote_shards *shards, bool replace);
PART int remote_import_shard(struct remote_filter *filter, uint32_t shard,
                             const struct tamis_source *source, bool durable);
PART int remote_import_end(struct remote_filter *filter);

PART int remote_create(struct remote *remote, const char *name, const struct remote_spec *spec);
/* *stat is what it was, if it was whole; else stat->size is 0. */
PART int remote_drop(struct remote *remote, const char *name, struct tamis_filter_stat *stat);
/* 1 it has a filter of that name, 0 it has none, after a message with the nearest name; below 0
 * another error. */
PART int remote_exists(struct remote *remote, const char *name, const char *sentence);
PART int remote_merge(struct remote *remote, const char *name, const char *const *sources,
                      size_t count, bool intersect);
PART int remote_rename(struct remote *remote, const char *name, const char *new_name);
/* Calls `each` with every filter whose name fits the pattern (pattern.h), sorted by name, until
 * it returns something else than 0.  A filter that cannot be asked is told, and passed by; then
 * it returns below 0 at the end.  names_only: stat has nothing but the name. */
PART int remote_list(struct remote *remote, const char *pattern, bool names_only,
                     int (*each)(void *context, const struct tamis_filter_stat *stat),
                     void *context);
