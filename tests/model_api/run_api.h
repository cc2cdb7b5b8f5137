/* SPDX-License-Identifier: BSD-2-Clause */
/* run_api.h: the executor that carries operations out by the calls of tamis.h, in this process or
 * in a child of it, while calls or memory fail.  What print_program() prints links it. */
#pragma once

#include "ops.h"

struct world {
    char path[512];
    tamis_store *stores[STORES], *beside; /* beside: looks, and has locks when it must not wait */
    tamis_filter *filters[SLOTS], *seen[NAMES];
    struct bytes {
        unsigned char *data;
        size_t bytes, at;
        uint32_t format;
        struct tamis_segment_stat like; /* what a stream of bits alone does not tell */
    } streams[STREAMS];
    uint8_t *data;
    int64_t *now; /* the clock of windows, shared with children */
    const struct op *op;
    struct outcome *out;
    tamis_filter *alike_of; /* whose segments these are; NULL: nobody has asked */
    struct tamis_segment_stat alike[SEGMENTS_MAX];
    uint32_t alike_count;
    bool killed; /* a child was killed in this sequence */
};

void world_init(struct world *world, const char *path);
void world_clear(struct world *world);
void world_executor(struct world *world, struct executor *executor);

/* For an executor above this one: the outcome is empty, and says whether the operation can be run;
 * the keys of the operation; the time. */
void world_begin(struct world *world, const struct op *op, struct outcome *outcome);
void world_keys(const struct op *op);
int64_t world_now(void);
extern struct tamis_key lists[3][KEYS_MAX]; /* keys, against, except */

/* ---- Between the files of this executor ------------------------------------------------------ */

struct tamis_filter_spec spec_of(const struct op *op);
uint32_t explain(struct world *w, tamis_filter *filter, const struct tamis_segment_stat *like,
                 uint32_t key, uint64_t *positions);
int64_t run_fill(struct world *w, tamis_filter *filter);
int64_t run_read_data(struct world *w, tamis_filter *filter);
int64_t run_write_data(struct world *w, tamis_filter *filter);
int64_t run_build(struct world *w, tamis_store *store);
int64_t run_merge(struct world *w, tamis_filter *filter, tamis_store *store);
int64_t run_import(struct world *w, tamis_store *store, tamis_filter **filter);
int64_t run_export(struct world *w, tamis_filter *filter);
int64_t run_backup(struct world *w, tamis_store *store);
int64_t run_watch(struct world *w, tamis_store *store, tamis_filter *filter);
int64_t run_many(struct world *w, tamis_store *store);
int64_t run_check_spec(struct world *w, const char *name, const struct tamis_filter_spec *spec);
int64_t run_ask_several(struct world *w, tamis_filter *filter);
int64_t run_list(struct world *w, tamis_store *store);
int64_t run_verify(struct world *w, tamis_store *store);
int64_t run_stat(struct world *w, tamis_filter *filter);
int tell_generation(void *context, const struct tamis_generation_stat *stat);
int tell_exception(void *context, const struct tamis_key *key, uint64_t generation);
int tell_step(void *context, const struct tamis_repair_step *step);
/* arguments.c: calls with arguments that no call accepts, the code of each, and what its sentence
 * must name.  The first one that answers otherwise is told in `trouble`.  Returns 0. */
int arguments_try(tamis_store *store, tamis_filter *filter, char *trouble, size_t bytes);
