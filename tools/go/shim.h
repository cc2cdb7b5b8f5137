/* SPDX-License-Identifier: BSD-2-Clause */
/* shim.h: what Go cannot say to C by itself: the calls for keys with their errors, and functions
 * that C calls. */
#pragma once

#if !__has_include("tamis_check.h")
#error the headers of Tamis are missing: use a whole clone of it, or install libtamis and build with -tags tamis_installed
#endif
#include "tamis.h"

/* What a call returned, and for an error a copy of its sentence: the sentence belongs to the
 * thread, and Go may go on on another. */
struct tamis_go_answer {
    int64_t rc;
    char *sentence; /* from malloc(); NULL: no error */
};

struct tamis_go_answer tamis_go_add(tamis_filter *filter, const char *key, size_t bytes);
struct tamis_go_answer tamis_go_contains(tamis_filter *filter, const char *key, size_t bytes);
/* rc is 0, or 1 and the offset of what was found. */
struct tamis_go_answer tamis_go_contains_name(tamis_filter *filter, const char *name, size_t bytes);
struct tamis_go_answer tamis_go_remove(tamis_filter *filter, const char *key, size_t bytes);
struct tamis_go_answer tamis_go_count(tamis_filter *filter, const char *key, size_t bytes);

/* Which batch; `answers` has uint64_t for the last. */
enum tamis_go_batch { TAMIS_GO_ADD, TAMIS_GO_CONTAINS, TAMIS_GO_REMOVE, TAMIS_GO_COUNT };
struct tamis_go_answer tamis_go_batch(tamis_filter *filter, enum tamis_go_batch which,
                                      const struct tamis_key *keys, size_t count, void *answers,
                                      const int32_t *given_up);

/* From now on a call of this thread that waits for another process ends when *given_up is not 0;
 * NULL: it does not. Returns what was so before, to be given back: a function that C calls may make
 * such a call itself. */
const int32_t *tamis_go_enter(const int32_t *given_up);

/* Is this a call from a function of Go that C has called, in this thread? */
int tamis_go_is_called(void);

/* For struct tamis_store_options.  The context is not used. */
int tamis_go_busy(void *context, int64_t waited_ms, int64_t holder);

/* Functions for the library, which call Go.  The context of each is the address of a cgo.Handle. */
int tamis_go_each_stat(void *context, const struct tamis_filter_stat *stat);
int tamis_go_each_problem(void *context, const struct tamis_problem *problem);
int tamis_go_each_generation(void *context, const struct tamis_generation_stat *stat);
int tamis_go_each_exception(void *context, const struct tamis_key *key, uint64_t generation);
int tamis_go_each_step(void *context, const struct tamis_repair_step *step);
int tamis_go_progress(void *context, uint64_t done, uint64_t all);
int tamis_go_build_progress(void *context, uint32_t phase, uint64_t done, uint64_t all);
int64_t tamis_go_read(void *context, void *buffer, size_t bytes);
int tamis_go_write(void *context, const void *buffer, size_t bytes);
