/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shards.h: the export of a sharded filter, a directory that a server can import (docs/cluster.md):
 *
 *     DIR/0.tamis ... DIR/N-1.tamis   a stream of format tamis for each shard
 *     DIR/shards                      a line `name value` for each: tamis 1, shards, capacity,
 *                                     rate, kind, seed
 *
 * Each stream alone is what `tamis import` of any store takes.
 */
#pragma once

#include <stdbool.h>

struct invocation;

/* Is the path a directory with the file `shards`? */
bool shards_are_there(const char *path);

/* Exports call->remote to the directory call->args[1], and imports that as call->args[0].  The exit
 * status. */
int shards_export(const struct invocation *call);
int shards_import(const struct invocation *call);
