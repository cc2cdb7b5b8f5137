/* SPDX-License-Identifier: BSD-2-Clause */
/* model.c: judges one operation after the other, and goes on from it.  See model.h. */
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void model_init(struct model *model, const struct executor *executor)
{
    *model = (struct model){.executor = executor, .now = MODEL_BEGIN};
}

void stream_clear(struct stream *stream)
{
    generation_clear(&stream->of);
    free(stream->exceptions.list);
    *stream = (struct stream){.there = false};
}

void model_clear(struct model *model)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        filter_let_go(model->handles[i].filter);
    for (uint32_t i = 0; i < NAMES; i++)
        filter_let_go(model->filters[i]);
    for (uint32_t i = 0; i < STREAMS; i++)
        stream_clear(&model->streams[i]);
}

/* ---- Results --------------------------------------------------------------------------------- */

/* The call must end with this code, and after an error the sentence must have these words in it. */
bool ends(struct step *s, int64_t code, const char *words)
{
    if (s->out->rc != code)
        return wrong(s->model, "result %lld, not %lld: %s", (long long)s->out->rc, (long long)code,
                     s->out->rc < 0 ? s->out->sentence : "");
    /* A handle goes on calling its filter by the name that it had when it was opened. */
    const char *also = s->handle != NULL ? names[s->handle->opened_as] : words;
    if (code < 0 && words != NULL && (s->out->has & HAS_SENTENCE) != 0 &&
        strstr(s->out->sentence, words) == NULL && strstr(s->out->sentence, also) == NULL)
        return wrong(s->model, "the sentence does not name '%s': %s", words, s->out->sentence);
    return true;
}

/* What a fault may make of a call. */
bool is_fault(const struct step *s)
{
    static const int codes[] = {TAMIS_EIO,     TAMIS_ENOSPACE, TAMIS_ENOMEM,  TAMIS_ELIMIT,
                                TAMIS_EACCESS, TAMIS_ESYSTEM,  TAMIS_ECORRUPT};
    if (!s->out->reached || s->out->rc >= 0) return false;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (s->out->rc == codes[i]) return true;
    return false;
}

bool within(const struct step *s, int64_t at)
{
    return at >= s->out->began && at <= s->out->ended;
}

bool store_reads_only(const struct step *s)
{
    return s->model->stores[s->op->store].read_only;
}

/* The usual refusals of a call that changes a filter by its name; true: it was refused rightly, or
 * wrongly, and there is nothing left to do. */
bool refused(struct step *s)
{
    if (is_fault(s)) return (void)list_is_told(s), true;
    if (store_reads_only(s)) return ends(s, TAMIS_EREADONLY, NULL), true;
    if (s->filter == NULL) return ends(s, TAMIS_ENOTFOUND, names[s->op->name]), true;
    return false;
}

/* ---- Filters that come and go ------------------------------------------------------------------
 */

struct policy policy_of(const struct op_spec *spec)
{
    const bool any_kind = spec->set <= 2;
    struct policy policy = {.capacity = spec->capacity,
                            .window_items = spec->window_items,
                            .rate = spec->rate != 0 ? spec->rate : TAMIS_FP_RATE_DEFAULT,
                            .window_ns = spec->window_ns,
                            .on_full = spec->on_full,
                            .slices = spec->slices,
                            .from_first = (spec->flags & TAMIS_FILTER_FROM_FIRST) != 0,
                            .durable = (spec->flags & TAMIS_FILTER_DURABLE) != 0};
    const bool window = spec->window_ns != 0 || spec->window_items != 0;
    if (spec->capacity == 0) policy.capacity = spec->window_items;
    if (window && spec->slices == 0) policy.slices = 10;
    if (spec->on_full == 0)
        policy.on_full = spec->m_bits != 0 || !any_kind || spec->kind == TAMIS_KIND_COUNTING
                             ? TAMIS_ON_FULL_WARN
                             : TAMIS_ON_FULL_GROW;
    return policy;
}

static void adopt_segments(struct list *list, const struct outcome *out)
{
    list->count = out->segments;
    for (uint32_t i = 0; i < out->segments; i++)
        list->segments[i] = shadow_new(&out->segment[i]);
}

struct filter *filter_new(struct step *s, const struct policy *policy)
{
    struct filter *filter = calloc(1, sizeof *filter);
    if (filter == NULL) abort();
    filter->users = 1;
    filter->name = s->op->name;
    filter->last_generation = 1;
    filter->keep = TAMIS_KEEP_DEFAULT;
    filter->now.number = 1;
    filter->now.policy = *policy;
    filter->now.capacity = policy->capacity;
    filter->now.rate = policy->rate;
    adopt_segments(&filter->now.list, s->out);
    filter->created_at = s->out->stat.created_at;
    filter->checkpointed_at = filter->now.published_at = filter->created_at;
    return filter;
}

bool was_made(struct step *s, const char *what, int64_t at)
{
    if (within(s, at)) return true;
    return wrong(s->model, "%s at %lld, not within the call, %lld to %lld", what, (long long)at,
                 (long long)s->out->began, (long long)s->out->ended);
}

static bool make_by_spec(struct step *s)
{
    const struct op_spec *spec = &s->op->spec;
    const struct policy policy = policy_of(spec);
    if (s->out->filter_error < 0 || s->out->segments != 1)
        return wrong(s->model, "a new filter has %u segments (%lld)", s->out->segments,
                     (long long)s->out->filter_error);
    if (!first_segment_fits(s->model, &policy, spec, &s->out->segment[0])) return false;
    struct filter *filter = filter_new(s, &policy);
    filter->now.policy = policy;
    filter->owned = (spec->flags & TAMIS_FILTER_OWNED) != 0;
    filter->pages = spec->pages;
    if (spec->m_bits != 0 || spec->set > 2) { /* its size says what it holds */
        filter->now.policy.capacity = filter->now.capacity =
            filter->now.list.segments[0]->is.capacity;
        if (spec->capacity == 0 || spec->rate == 0 || spec->set > 2)
            filter->now.rate = filter->now.policy.rate = filter->now.list.segments[0]->is.fp_rate;
    }
    s->filter = s->model->filters[s->op->name] = filter;
    return was_made(s, "created", filter->created_at) &&
           was_made(s, "a segment made", s->out->segment[0].created_at);
}

void let_handle_go(struct handle *handle)
{
    filter_let_go(handle->filter);
    *handle = (struct handle){.filter = NULL};
}

void take_handle(struct step *s, struct filter *filter, bool read_only)
{
    if (s->handle == NULL) { /* closed again at once, which tells the catalog the items */
        filter->recorded_unsure = true;
        return;
    }
    filter->users++;
    *s->handle =
        (struct handle){.filter = filter, .opened_as = filter->name, .read_only = read_only};
}

static bool step_create(struct step *s)
{
    if (is_fault(s)) return true;
    if (store_reads_only(s)) return ends(s, TAMIS_EREADONLY, NULL);
    if (s->filter != NULL && s->op->kind != OP_OPEN_OR_CREATE)
        return ends(s, TAMIS_EEXIST, names[s->op->name]);
    if (s->filter != NULL) {
        if (s->out->rc == TAMIS_EMISMATCH) return ends(s, TAMIS_EMISMATCH, names[s->op->name]);
        if (ends(s, 0, NULL)) take_handle(s, s->filter, false);
        return true;
    }
    if (!ends(s, 0, NULL) || !make_by_spec(s)) return false;
    if (s->op->slot < SLOTS) take_handle(s, s->filter, false);
    return true;
}

/* Two names; a filter that is there already is passed over if the flags say so. */
static bool step_create_many(struct step *s)
{
    struct model *model = s->model;
    const uint32_t both[] = {s->op->name, s->op->other};
    int64_t missing = 0;
    if (is_fault(s)) return true;
    if (store_reads_only(s)) return ends(s, TAMIS_EREADONLY, NULL);
    for (uint32_t i = 0; i < 2; i++)
        missing += model->filters[both[i]] == NULL;
    if (both[0] == both[1])
        return s->out->rc == TAMIS_EEXIST || s->out->rc == TAMIS_EMISMATCH ||
               ends(s, TAMIS_EINVAL, "twice");
    if (missing < 2 && s->out->rc == TAMIS_EMISMATCH && (s->op->flags & TAMIS_MANY_IF_MISSING) != 0)
        return true;
    if (missing < 2 && (s->op->flags & TAMIS_MANY_IF_MISSING) == 0)
        return ends(s, TAMIS_EEXIST, NULL);
    if (!ends(s, missing, NULL)) return false;
    for (uint32_t i = 0; i < 2; i++) {
        struct op op = *s->op;
        struct step one = {.model = model, .op = &op, .out = s->out};
        op.name = (uint8_t)both[i];
        if (model->filters[op.name] != NULL) continue;
        s->out->segments = 0;
        model->executor->look(model->executor->self, op.name, s->out);
        if (!make_by_spec(&one)) return false;
    }
    return true;
}

static bool step_open(struct step *s)
{
    const bool read_only =
        (s->op->flags & TAMIS_READ_ONLY) != 0 || (s->op->kind == OP_OPEN && store_reads_only(s));
    s->filter = s->model->filters[s->op->name];
    if (is_fault(s)) return true;
    if (s->filter == NULL) return ends(s, TAMIS_ENOTFOUND, names[s->op->name]);
    if (!ends(s, 0, NULL)) return false;
    take_handle(s, s->filter, read_only);
    return true;
}

/* Has another handle than this one written, and is open still? */
static bool others_write(const struct step *s)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        const struct handle *other = &s->model->handles[i];
        if (other != s->handle && other->filter == s->handle->filter && other->wrote) return true;
    }
    return false;
}

static bool step_close(struct step *s)
{
    struct filter *filter = s->filter;
    const bool released = s->op->kind == OP_RELEASE;
    if (is_fault(s) && s->handle->wrote && !adopt(s, filter)) return false;
    if (!released && !is_fault(s) && !ends(s, 0, NULL)) return false;
    if (!s->handle->read_only && !filter->dropped) {
        if (released || is_fault(s)) {
            filter->recorded_unsure = true;
        } else {
            filter->recorded_items = items_of(s->model, &filter->now.list, &filter->now.policy);
            filter->recorded_unsure |=
                s->model->now != MODEL_BEGIN && filter->now.policy.slices > 0;
        }
        if (!released && s->handle->wrote && !others_write(s))
            filter->checkpoint_unsure = s->out->began;
    }
    let_handle_go(s->handle);
    s->filter = NULL; /* it may have been the last to know a filter that was dropped */
    return true;
}

/* ---- Stores, and the rest ---------------------------------------------------------------------
 */

static bool step_open_store(struct step *s)
{
    struct model *model = s->model;
    const bool reads = s->op->store == STORES - 1;
    if (is_fault(s)) return true;
    if (reads && !model->made) return ends(s, TAMIS_ENOSTORE, "store");
    if (!ends(s, 0, NULL)) return false;
    model->made = model->stores[s->op->store].open = true;
    model->stores[s->op->store].read_only = reads;
    return true;
}

static bool step_close_store(struct step *s)
{
    s->model->stores[s->op->store].open = false;
    return true;
}

/* Refused for what the arguments are: the executor knows code and words. */
static bool step_argument(struct step *s)
{
    return *s->out->trouble == '\0' || wrong(s->model, "%s", s->out->trouble);
}

static bool step_stat(struct step *s)
{
    if (is_fault(s)) return true;
    if (s->filter->dropped) return ends(s, TAMIS_EDROPPED, names[s->filter->name]);
    if (!ends(s, 0, NULL)) return false;
    if ((uint64_t)s->out->counts[0] !=
        items_of(s->model, &s->filter->now.list, &s->filter->now.policy))
        return wrong(s->model, "items are %llu", (unsigned long long)s->out->counts[0]);
    return list_is_told(s);
}

/* ---- The store --------------------------------------------------------------------------------
 */

static bool step_check(struct step *s)
{
    uint32_t filters = 0;
    if (is_fault(s) || s->out->reached) return true;
    for (uint32_t i = 0; i < NAMES; i++)
        filters += s->model->filters[i] != NULL;
    if (s->op->kind == OP_BACKUP) return ends(s, filters, NULL);
    if (s->op->kind == OP_REPAIR && s->model->had_fault) return s->out->rc >= 0 || ends(s, 0, NULL);
    if (s->op->kind == OP_VERIFY && (s->op->flags & 1) != 0 && s->filter == NULL)
        return ends(s, TAMIS_ENOTFOUND, names[s->op->name]);
    return ends(s, 0, NULL);
}

static bool step_clock(struct step *s)
{
    return (s->model->now += (int64_t)s->op->number) > 0;
}

static bool step_nothing(struct step *s)
{
    return is_fault(s) || ends(s, 0, NULL);
}

static step_fn *judge_of(enum op_kind kind)
{
    step_fn *other = keys_step(kind);
    if (other == NULL) other = changes_step(kind);
    if (other == NULL) other = exchanged_step(kind);
    if (other != NULL) return other;
    switch (kind) {
    case OP_OPEN_STORE:
        return step_open_store;
    case OP_CLOSE_STORE:
        return step_close_store;
    case OP_CREATE:
    case OP_OPEN_OR_CREATE:
        return step_create;
    case OP_CREATE_MANY:
        return step_create_many;
    case OP_OPEN:
    case OP_OPEN_AT:
        return step_open;
    case OP_CLOSE:
    case OP_RELEASE:
        return step_close;
    case OP_VERIFY:
    case OP_REPAIR:
    case OP_BACKUP:
        return step_check;
    case OP_CLOCK:
        return step_clock;
    case OP_STAT:
        return step_stat;
    case OP_ARGUMENT:
        return step_argument;
    default:
        return step_nothing;
    }
}

static bool takes_handle(const struct op *op)
{
    return strchr(takes[op->kind], 'h') != NULL && strchr(takes[op->kind], 'n') == NULL;
}

/* Whose filter the operation is about. */
static void find_filter(struct step *s)
{
    s->handle = s->op->slot < SLOTS ? &s->model->handles[s->op->slot] : NULL;
    if (takes_handle(s->op))
        s->filter = s->handle != NULL ? s->handle->filter : NULL;
    else if (strchr(takes[s->op->kind], 'n') != NULL)
        s->filter = s->model->filters[s->op->name];
}

/* What the store has of the filter now; and that it has none if there must be none. */
static bool look(struct step *s)
{
    const bool by_name = strchr(takes[s->op->kind], 'n') != NULL;
    if (s->filter == NULL && !by_name) return true;
    if (s->filter != NULL && s->filter->dropped) return true;
    s->model->executor->look(s->model->executor->self,
                             s->filter != NULL && !by_name ? s->filter->name : s->op->name, s->out);
    s->out->has |= HAS_SEGMENTS;
    return true;
}

/* A call whose process was killed has done all of its work, or none: which of both, the store
 * tells. Then it is judged as one that has returned, or failed. */
static void judge_killed(struct step *s)
{
    struct outcome *out = s->out;
    const struct filter *f = s->filter;
    const bool gone = out->filter_error == TAMIS_ENOTFOUND;
    int64_t rc = TAMIS_ESYSTEM;
    switch (s->op->kind) {
    case OP_CREATE:
        if (f == NULL && !gone) rc = 0;
        break;
    case OP_DROP:
    case OP_RENAME:
        if (f != NULL && gone) rc = 0;
        break;
    case OP_ROLLBACK:
        if (f != NULL && out->stat.generation != f->now.number) rc = 0;
        break;
    case OP_EXCEPT:
        if (f != NULL && out->stat.exceptions != exceptions_of(f))
            rc = (int64_t)(out->stat.exceptions - exceptions_of(f));
        break;
    case OP_SET_OWNED:
        if (f != NULL && ((out->stat.flags & TAMIS_FILTER_OWNED) != 0) != f->owned) rc = 0;
        break;
    case OP_SET_PAGES:
        if (f != NULL && out->stat.pages != f->pages) rc = 0;
        break;
    default:
        break;
    }
    if (rc >= 0) out->reached = false;
    out->rc = rc;
}

const char *model_step(struct model *model, const struct op *op, struct outcome *out)
{
    struct step s = {.model = model, .op = op, .out = out};
    if (!out->ran) return NULL;
    model->had_fault |= out->reached;
    *model->complaint = '\0';
    find_filter(&s);
    if (out->rc < 0 && (out->has & HAS_SENTENCE) != 0 && *out->sentence == '\0')
        (void)wrong(model, "error %s without a sentence", tamis_error_name((int)out->rc));
    if (*out->trouble != '\0' && !out->reached) (void)wrong(model, "%s", out->trouble);
    if (op->kind != OP_RENAME) (void)look(&s);
    if (out->reached && op->fault == FAULT_KILL) {
        if (op->kind == OP_RENAME) model->executor->look(model->executor->self, op->name, out);
        judge_killed(&s);
    }
    struct handle of_child = {.filter = NULL};
    if (op->where != HERE &&
        s.handle != NULL) { /* a handle of the child's own, or what it does with this one */
        of_child = *s.handle;
        of_child.wrote = false;
        if (op->where == CHILD_ANEW)
            of_child.read_only = strchr(takes[op->kind], 's') != NULL && op->store == STORES - 1;
        s.handle = &of_child;
    }
    (void)judge_of((enum op_kind)op->kind)(&s);
    if (s.filter != NULL && !s.filter->dropped) s.filter->indexed |= exceptions_of(s.filter) > 0;
    if (of_child.filter != NULL && op->where == CHILD_ANEW) of_child.filter->recorded_unsure = true;
    if (op->where == CHILD_ANEW && model->handles[op->source].filter != NULL)
        model->handles[op->source].filter->recorded_unsure = true;
    if (of_child.wrote) {
        of_child.filter->recorded_unsure = true;
        of_child.filter->checkpoint_unsure = out->began;
    }
    return *model->complaint != '\0' ? model->complaint : NULL;
}
