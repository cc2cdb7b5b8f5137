/* SPDX-License-Identifier: BSD-2-Clause */
/* run_api.h: the executor that carries operations out by the calls of tamis.h, in this process or
 * in a child of it.  It needs nothing else of the project, so what print.c prints links it. */
#pragma once

#include "ops.h"

struct world {
    char path[512];
    tamis_store *stores[STORES], *beside; /* beside: looks, and has locks when it must not wait */
    tamis_filter *filters[SLOTS], *seen[NAMES];
    int64_t seen_created[NAMES];
    struct {
        unsigned char *data;
        size_t bytes, at;
        uint32_t format;
        struct tamis_segment_stat like; /* what a stream of bits alone does not tell */
    } streams[STREAMS];
    uint8_t *data;
    int64_t *now; /* the clock of windows, shared with children */
    /* What a fault does before and behind the call; NULL: nothing fails. */
    void (*arm)(const struct op *op);
    bool (*disarm)(void);
    int64_t (*wrote)(void);
    const struct op *op;
    struct outcome *out;
    bool killed;         /* a child was killed in this sequence */
    tamis_filter *inner; /* that something is added to while something else is called back */
};

void world_init(struct world *world, const char *path);
void world_clear(struct world *world);
void world_executor(struct world *world, struct executor *executor);

/* For an executor above this one: the outcome is empty, and says whether the operation can be run;
 * the keys of the operation; the time. */
void world_begin(struct world *world, const struct op *op, struct outcome *outcome);
void world_keys(const struct op *op);
int64_t world_now(void);

/* Between the files of this executor. */
int64_t run_fill(struct world *w, tamis_filter *filter);
int64_t run_read_data(struct world *w, tamis_filter *filter);
uint32_t explain(tamis_filter *filter, const struct tamis_segment_stat *like, uint32_t key,
                 uint64_t *positions);
int64_t run_write_data(struct world *w, tamis_filter *filter, const struct op_keys *keys);
int64_t run_build(struct world *w, tamis_store *store, const struct op *op);
int64_t run_import(struct world *w, tamis_store *store, const struct op *op, tamis_filter **filter);
int64_t run_merge(struct world *w, const struct op *op, tamis_filter *filter, tamis_store *store);
int64_t run_backup(struct world *w, tamis_store *store);
int64_t run_watch(struct world *w, tamis_store *store, tamis_filter *filter);
int64_t run_many(struct world *w, tamis_store *store, const struct op *op);
int tell_filter(void *context, const struct tamis_filter_stat *stat);
int tell_generation(void *context, const struct tamis_generation_stat *stat);
int tell_exception(void *context, const struct tamis_key *key, uint64_t generation);
int tell_problem(void *context, const struct tamis_problem *problem);
int tell_step(void *context, const struct tamis_repair_step *step);
int tell_progress(void *context, uint64_t done, uint64_t all);
int write_stream(void *context, const void *buffer, size_t bytes);
struct tamis_filter_spec spec_of(const struct op *op);
int64_t run_open_store(struct world *w, const struct op *op);
int64_t run_filled(tamis_store *store, const char *name, const struct tamis_filter_spec *spec,
                   size_t count);
int64_t run_stat(struct world *w, tamis_filter *filter, struct outcome *out);
int64_t run_export(struct world *w, tamis_filter *filter);
int64_t run_list(struct world *w, tamis_store *store, const struct op *op);
int64_t run_verify(struct world *w, tamis_store *store, const struct op *op);
extern struct tamis_key lists[3][KEYS_MAX]; /* keys, against, except */
