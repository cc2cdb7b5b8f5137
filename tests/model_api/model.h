/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model.h: what a store must be, in plain memory: every bit and counter by the positions of its
 * key, every list of segments, generation, exception, stream and handle.
 *
 * The model adopts from an outcome what the documents leave open (the number of a file, the time
 * within the call, the size of a further segment) and holds all else to what it foretells.
 */
#pragma once

#include "ops.h"

/* Keys of the pool. */
struct set {
    uint32_t count;
    uint8_t bits[POOL / 8];
};

/* One segment.  Cells are bits or counters, one of them in each uint32_t; none for kind fuse, of
 * which the model knows the keys. */
struct shadow {
    struct tamis_segment_stat is;
    uint32_t *cells;
    uint64_t ones;
    struct set *keys; /* fuse */
    bool mixed;       /* its items do not follow from its bits */
    bool overflowed;  /* a counter has outgrown its bits */
    uint32_t users;   /* lists that it is in */
};

struct list {
    uint32_t count;
    struct shadow *segments[SEGMENTS_MAX];
};

/* What goes with a list from generation to generation. */
struct policy {
    uint64_t capacity, window_items;
    double rate;
    int64_t window_ns;
    uint32_t on_full, slices;
    bool from_first, durable;
};

struct generation {
    uint64_t number;
    struct list list;
    struct policy policy;
    double rate;
    struct set found;
    uint64_t found_by; /* the generation that they came with: growth counts on */
    int64_t published_at;
    uint8_t digest[16];
    bool built, maybe_built; /* maybe: what is told of it may say nothing of its keys */
    int64_t imported_at;
    uint64_t imported_first; /* the segment that says so, as long as the window has it */
    bool unsigned_import;    /* nobody has signed what was imported */
};

struct filter {
    bool dropped;
    uint32_t users; /* handles, and the name */
    uint32_t name;
    int64_t created_at, checkpointed_at;
    int64_t checkpoint_unsure; /* 0, or the checkpoint may be of this time, or later */
    uint64_t last_generation, recorded_items;
    bool recorded_unsure;
    uint32_t keep, pages;
    bool indexed;      /* it has had exceptions: a file of them may be there, and be empty */
    bool owned, holed; /* holed: a killed adder may have lost room of it */
    struct generation now;
    uint32_t kept_count;
    struct generation kept[GENERATIONS_MAX];
    struct set by_hand;
    int64_t degraded_since;
};

struct handle {
    struct filter *filter; /* NULL: none */
    uint32_t opened_as;    /* the name that the filter had then */
    bool read_only, wrote;
};

struct stream {
    bool there;
    uint8_t format;
    struct generation of;
    struct set exceptions;
};

struct model {
    const struct executor *executor;
    struct {
        bool open, read_only;
    } stores[STORES];
    bool made, had_fault;
    bool reached, failed;         /* of the last operation: its fault came; it failed by that */
    const struct filter *watched; /* keys are added to it between two looks of a watch */
    uint64_t gained;              /* so many of them were counted */
    struct filter *filters[NAMES];
    struct handle handles[SLOTS];
    struct stream streams[STREAMS];
    int64_t now;              /* the clock of windows */
    uint64_t asked, mistaken; /* strangers that filters of kind fuse were asked for */
    double expected;
    char complaint[900];
};

#define CHUNK 1024u /* keys that the library asks for at once */
#define MODEL_BEGIN (INT64_C(20000) * 86400 * 1000000000)

void model_init(struct model *model, const struct executor *executor);
void model_clear(struct model *model);
/* Does the outcome fit?  NULL, or what does not; then nothing is to be gone on with. */
const char *model_step(struct model *model, const struct op *op, struct outcome *outcome);

/* ---- Between the model's own files ------------------------------------------------------------
 */

/* An operation and what came of it, as its judge sees it. */
struct step {
    struct model *model;
    const struct op *op;
    struct outcome *out;
    struct handle *handle;                 /* that of op->slot; its filter may be NULL */
    struct filter *filter;                 /* that of the name, or of the handle; NULL: none */
    const struct tamis_segment_stat *told; /* out->segment */
};

/* A judge of what came of an operation that was neither refused nor failed.  What the filter is
 * behind it is judged by list_is_told(). */
typedef bool step_fn(struct step *s);
/* keys.c */
step_fn step_add, step_ask, step_remove, step_count;
/* changes.c */
step_fn step_sync, step_rotate, step_prepare, step_may_wait, step_fill, step_read_data, step_like,
    step_mapped, step_write_bits, step_rename, step_drop, step_drop_many, step_set, step_list,
    step_watch, step_except, step_exceptions, step_generations, step_rollback;
/* exchanged.c */
step_fn step_build, step_merge, step_merged, step_compare, step_export, step_import, step_publish;

/* model.c */
#define UNKNOWN_NUMBER UINT64_MAX /* of a segment that the model has not seen yet */
/* Sets the complaint and returns false. */
bool wrong(struct model *model, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool ends(struct step *s, int64_t code);
bool was_made(struct step *s, const char *what, int64_t at);
/* A checkpoint may be made from now on. */
void may_checkpoint(const struct step *s, struct filter *f);
struct policy policy_of(const struct op_spec *spec);
void take_handle(struct step *s, struct filter *filter, bool read_only);
struct filter *filter_new(struct step *s, const struct policy *policy);

/* How a list goes on, and what is left after a failure: keys.c */
bool list_is_told(struct step *s);
/* Takes over what the filter is after a call that failed half way, or a process that was killed:
 * as much of the change as came about.  `answers`: of the keys of the operation, or NULL. */
bool adopt(struct step *s, const uint8_t *answers);
/* The window goes on with the next slice.  *taken: how many of the segments told were used. */
bool next_slice(struct step *s, uint32_t *taken);
bool is_slice_over(const struct model *model, const struct filter *f);
bool refuses(const struct policy *policy); /* when it is full */

/* Conditions of refusals: exchanged.c, changes.c */
bool is_own(uint32_t format); /* tamis */
bool is_sip(const struct list *list);
bool has_secret(const struct filter *f);
bool is_older(const struct step *s);
bool are_alike(const struct list *a, const struct list *b);
struct generation *generation_of(struct filter *f, uint64_t number);

/* shadow.c */
struct shadow *shadow_new(const struct tamis_segment_stat *is);
struct shadow *shadow_copy(const struct shadow *from);
struct shadow *newest_of(const struct filter *filter);
struct shadow *first_of(const struct filter *filter);
bool counts(const struct filter *filter); /* kind counting */
void list_copy(struct list *to, const struct list *from);
void list_clear(struct list *list);
void shadow_free(struct shadow *shadow);
void generation_clear(struct generation *generation);
void filter_let_go(struct filter *filter);
bool set_has(const struct set *set, uint32_t key);
bool set_put(struct set *set, uint32_t key);    /* was it not there? */
bool set_remove(struct set *set, uint32_t key); /* was it there? */
void set_add(struct set *to, const struct set *from);
void set_add_keys(struct set *to, const struct op_keys *keys);
/* Distinct keys that are exceptions of the filter now. */
uint64_t exceptions_of(const struct filter *filter);
bool is_exception(const struct filter *filter, uint32_t key);
/* How many cells of the key lack; the least of the cells in *least, if asked for. */
uint32_t shadow_lacks(struct step *s, const struct shadow *shadow, uint32_t key, uint32_t *least);
/* Sets, or raises, or lowers the cells of the key.  Did one of them lack? */
bool shadow_add(struct step *s, struct shadow *shadow, uint32_t key, int by);
uint32_t cell_of(const uint8_t *data, const struct tamis_segment_stat *s, uint64_t at);
double estimate(const struct tamis_segment_stat *s, uint64_t ones);

/* shown.c: what is told of a filter, and of other things.  What the model cannot foretell of a
 * field it takes from what is told, before it compares. */
/* Two structs of tamis_stat.h, by the library's own table of their fields. */
bool fields_fit(struct model *model, const char *what, uint32_t of, const void *told,
                const void *foretold);
/* Two structs of any sort, byte by byte. */
bool bytes_fit(struct model *model, const char *what, const void *told, const void *foretold,
               size_t bytes);
double about(double told, double foretold); /* what is told, if it is near enough */
bool segments_fit(struct model *model, const struct filter *filter, const struct outcome *outcome);
enum shown_by { BY_STAT, BY_LIST, BY_LIVE };
bool stat_fits(struct model *model, struct filter *filter, const struct tamis_filter_stat *stat,
               enum shown_by by);
bool first_segment_fits(struct model *model, const struct policy *policy,
                        const struct op_spec *spec, const struct tamis_segment_stat *s);
uint64_t items_of(const struct model *model, const struct filter *filter);
/* From which of its segments on is a window alive? */
uint32_t first_alive(const struct model *model, const struct filter *filter);
/* Of the hash sets of other systems the rate follows from more than m and k. */
bool is_own_set(const char *hash_set);
uint64_t capacity_of(const struct filter *f);
bool is_limited(const struct policy *policy);
bool may_grow(const struct policy *policy);
