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

/* One segment.  Cells are bits or counters, one of them in each uint32_t; none for kind fuse, of
 * which the model knows the keys. */
struct shadow {
    struct tamis_segment_stat is;
    uint32_t *cells;
    uint64_t ones;
    uint8_t *keys;   /* fuse: a set of the pool */
    bool mixed;      /* its items do not follow from its bits */
    bool overflowed; /* a counter has outgrown its bits */
    uint32_t users;  /* lists that it is in */
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

struct exceptions {
    uint32_t count;
    struct told_exception *list; /* in no order; a key set by hand and found stands there twice */
};

struct generation {
    uint64_t number;
    struct list list;
    struct policy policy;
    uint64_t capacity; /* as stat tells it */
    double rate;
    struct exceptions found;
    uint64_t found_by; /* the generation that they came with: growth counts on */
    int64_t published_at;
    uint8_t digest[16];
    bool built, maybe_built; /* maybe: what is told of it may say nothing of its keys */
    int64_t imported_at;
    bool unsigned_import; /* nobody has signed what was imported */
};

struct filter {
    bool dropped;
    uint32_t users; /* handles, and the name */
    uint32_t name;
    int64_t created_at, checkpointed_at, checkpoint_unsure; /* it may also be this one, or later */
    uint64_t last_generation, recorded_items;
    bool recorded_unsure;
    uint32_t keep, pages;
    bool indexed;      /* it has had exceptions: a file of them may be there, and be empty */
    bool owned, holed; /* holed: a killed adder may have lost room of it */
    struct generation now;
    uint32_t kept_count;
    struct generation kept[GENERATIONS_MAX];
    struct exceptions by_hand;
    int64_t unclean_since, degraded_since;
};

struct handle {
    struct filter *filter; /* NULL: none */
    uint32_t opened_as;    /* the name that the filter had then */
    bool read_only, wrote, prepared;
};

struct stream {
    bool there, with_digest, with_key, has_secret;
    uint8_t format;
    struct generation of;
    struct exceptions exceptions;
    uint32_t filter_flags;
    int64_t exported_at;
};

struct model {
    const struct executor *executor;
    struct {
        bool open, read_only;
    } stores[STORES];
    bool made, had_fault;
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
    struct handle *handle; /* that of op->slot; its filter may be NULL */
    struct filter *filter; /* that of the handle, or of the name; NULL: none */
};

/* model.c */
#define UNKNOWN_NUMBER UINT64_MAX /* of a segment that the model has not seen yet */
bool ends(struct step *s, int64_t code, const char *words);
bool is_fault(const struct step *s);
bool within(const struct step *s, int64_t at);
bool was_made(struct step *s, const char *what, int64_t at);
bool refused(struct step *s);
bool store_reads_only(const struct step *s);
bool list_is_told(struct step *s);
bool adopt(struct step *s, struct filter *f);
bool go_on(struct step *s, struct filter *f, uint32_t *taken);
struct policy policy_of(const struct op_spec *spec);
void take_handle(struct step *s, struct filter *filter, bool read_only);
void let_handle_go(struct handle *handle);
struct filter *filter_new(struct step *s, const struct policy *policy);
struct shadow *newest_of(struct filter *filter);
void stream_clear(struct stream *stream);
/* keys.c, changes.c, exchanged.c: NULL if the operation is not one of theirs. */
typedef bool step_fn(struct step *s);
bool step_add(struct step *s);
step_fn *keys_step(enum op_kind kind);
step_fn *changes_step(enum op_kind kind);
step_fn *exchanged_step(enum op_kind kind);
uint32_t cell_of(const uint8_t *data, const struct tamis_segment_stat *s, uint64_t at);
double estimate(const struct tamis_segment_stat *s, uint64_t ones);

/* Sets the complaint and returns false. */
bool wrong(struct model *model, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct shadow *shadow_new(const struct tamis_segment_stat *is);
struct shadow *shadow_copy(const struct shadow *from);
void list_share(struct list *to, const struct list *from); /* the same segments */
void list_copy(struct list *to, const struct list *from);
void list_clear(struct list *list);
void shadow_free(struct shadow *shadow);
void generation_clear(struct generation *generation);
void filter_let_go(struct filter *filter);

bool set_has(const uint8_t *set, uint32_t key);
void set_put(uint8_t *set, uint32_t key);

const struct told_exception *exceptions_find(const struct exceptions *e, uint32_t key,
                                             uint64_t generation);
void exceptions_put(struct exceptions *e, uint32_t key, uint64_t generation);
bool exceptions_remove(struct exceptions *e, uint32_t key, uint64_t generation);
void exceptions_copy(struct exceptions *to, const struct exceptions *from);
/* Distinct keys that are exceptions of the filter now. */
uint64_t exceptions_of(const struct filter *filter);
bool is_exception(const struct filter *filter, uint32_t key);

/* How many cells of the key lack; the least of the cells in *least, if asked for. */
uint32_t shadow_lacks(struct model *model, const struct filter *filter, const struct shadow *shadow,
                      uint32_t key, uint32_t *least);
/* Sets, or raises, or lowers the cells of the key. */
void shadow_add(struct model *model, const struct filter *filter, struct shadow *shadow,
                uint32_t key, int by);

/* shown.c: what is told of a filter. */
bool segments_fit(struct model *model, const struct filter *filter, const struct outcome *outcome);
enum shown_by { BY_STAT, BY_LIST, BY_LIVE };
bool stat_fits(struct model *model, const struct filter *filter,
               const struct tamis_filter_stat *stat, enum shown_by by);
bool first_segment_fits(struct model *model, const struct policy *policy,
                        const struct op_spec *spec, const struct tamis_segment_stat *s);
uint64_t items_of(const struct model *model, const struct list *list, const struct policy *policy);
/* From which of its segments on is a window alive? */
uint32_t first_alive(const struct model *model, const struct list *list,
                     const struct policy *policy);
/* Of the hash sets of other systems the rate follows from more than m and k. */
bool is_own_set(const char *hash_set);
uint64_t capacity_of(const struct filter *f);
bool is_limited(const struct policy *policy);
bool may_grow(const struct policy *policy);
