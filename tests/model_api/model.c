/* SPDX-License-Identifier: BSD-2-Clause */
/* model.c: judges one operation after the other, and goes on from it.  See model.h. */
#include "model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void model_init(struct model *model, const struct executor *executor)
{
    *model = (struct model){.executor = executor, .now = MODEL_BEGIN};
}

void model_clear(struct model *model)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        filter_let_go(model->handles[i].filter);
    for (uint32_t i = 0; i < NAMES; i++)
        filter_let_go(model->filters[i]);
    for (uint32_t i = 0; i < STREAMS; i++)
        generation_clear(&model->streams[i].of);
}

/* ---- Results --------------------------------------------------------------------------------- */

bool wrong(struct model *model, const char *format, ...)
{
    va_list arguments;
    if (*model->complaint != '\0') return false; /* the first one says most */
    va_start(arguments, format);
    (void)vsnprintf(model->complaint, sizeof model->complaint, format, arguments);
    va_end(arguments);
    return false;
}

/* Does the sentence name what the operation is about?  A handle goes on calling its filter by the
 * name that it had when it was opened. */
static bool is_named(const struct step *s)
{
    const struct handle *of[] = {s->handle, &s->model->handles[s->op->source]};
    bool named = strstr(s->out->sentence, names[s->op->name]) != NULL ||
                 strstr(s->out->sentence, names[s->op->other]) != NULL;
    for (int i = 0; i < 2; i++)
        if (of[i] != NULL && of[i]->filter != NULL)
            named |= strstr(s->out->sentence, names[of[i]->opened_as]) != NULL ||
                     strstr(s->out->sentence, names[of[i]->filter->name]) != NULL;
    return named;
}

/* The call must end with this code, and after an error the sentence must name the filter. */
bool ends(struct step *s, int64_t code)
{
    const bool names_it = code == TAMIS_ENOTFOUND || code == TAMIS_EEXIST ||
                          code == TAMIS_EDROPPED || code == TAMIS_EFULL;
    if (s->out->rc != code)
        return wrong(s->model, "result %" PRId64 ", not %" PRId64 ": %s", s->out->rc, code,
                     s->out->rc < 0 ? s->out->sentence : "");
    return !names_it || (s->out->has & HAS_SENTENCE) == 0 || is_named(s) ||
           wrong(s->model, "the sentence does not name the filter: %s", s->out->sentence);
}

/* What a fault may make of a call. */
static bool is_fault(const struct step *s)
{
    static const int codes[] = {TAMIS_EIO,     TAMIS_ENOSPACE, TAMIS_ENOMEM,  TAMIS_ELIMIT,
                                TAMIS_EACCESS, TAMIS_ESYSTEM,  TAMIS_ECORRUPT};
    if (!s->out->reached || s->out->rc >= 0) return false;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (s->out->rc == codes[i]) return true;
    return false;
}

bool was_made(struct step *s, const char *what, int64_t at)
{
    return (at >= s->out->began && at <= s->out->ended) ||
           wrong(s->model, "%s at %" PRId64 ", not within the call, %" PRId64 " to %" PRId64, what,
                 at, s->out->began, s->out->ended);
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

struct filter *filter_new(struct step *s, const struct policy *policy)
{
    struct filter *filter = calloc(1, sizeof *filter);
    if (filter == NULL) abort();
    *filter = (struct filter){.users = 1,
                              .name = s->op->name,
                              .last_generation = 1,
                              .keep = TAMIS_KEEP_DEFAULT,
                              .created_at = s->out->stat.created_at,
                              .now = {.number = 1,
                                      .policy = *policy,
                                      .rate = policy->rate,
                                      .published_at = s->out->stat.published_at}};
    s->model->filters[s->op->name] = s->filter = filter;
    return filter;
}

void may_checkpoint(const struct step *s, struct filter *f)
{
    if (f->checkpoint_unsure == 0) f->checkpoint_unsure = s->out->began;
}

static bool make_by_spec(struct step *s)
{
    const struct op_spec *spec = &s->op->spec;
    const struct policy policy = policy_of(spec);
    if (s->out->filter_error < 0 || s->out->segments != 1)
        return wrong(s->model, "a new filter has %u segments (%" PRId64 ")", s->out->segments,
                     s->out->filter_error);
    if (!first_segment_fits(s->model, &policy, spec, s->told)) return false;
    struct filter *filter = filter_new(s, &policy);
    filter->owned = (spec->flags & TAMIS_FILTER_OWNED) != 0;
    filter->pages = spec->pages;
    filter->now.list = (struct list){.count = 1, .segments = {shadow_new(s->told)}};
    if (spec->m_bits != 0 || spec->set > 2) { /* its size says what it holds */
        filter->now.policy.capacity = s->told->capacity;
        if (spec->capacity == 0 || spec->rate == 0 || spec->set > 2)
            filter->now.rate = filter->now.policy.rate = s->told->fp_rate;
    }
    return was_made(s, "created", filter->created_at) &&
           was_made(s, "published", filter->now.published_at) &&
           was_made(s, "a segment made", s->told->created_at);
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
    if (s->filter == NULL && !make_by_spec(s)) return false;
    if (s->op->slot < SLOTS || s->op->kind == OP_OPEN_OR_CREATE) take_handle(s, s->filter, false);
    return true;
}

/* Differs the filter that is there from the spec?  Of kind, bits and rate the store may say more.
 */
static bool is_unlike(const struct filter *f, const struct op_spec *spec)
{
    const struct policy want = policy_of(spec), *is = &f->now.policy;
    return want.slices != is->slices || want.window_ns != is->window_ns ||
           want.window_items != is->window_items || want.durable != is->durable ||
           want.from_first != is->from_first || want.on_full != is->on_full ||
           (spec->kind == TAMIS_KIND_COUNTING) != counts(f);
}

/* The plan of a filter is its first segment, and says whether another one follows. */
static bool step_check_spec(struct step *s)
{
    const struct op_spec *spec = &s->op->spec;
    const struct tamis_sizing *plan = &s->out->plan;
    const struct policy policy = policy_of(spec);
    const bool goes_on = s->out->counts[0] > 0;
    struct tamis_segment_stat first = {.size = sizeof first,
                                       .seed = spec->seed,
                                       .kind = plan->kind,
                                       .k = plan->k,
                                       .m_bits = plan->m_bits,
                                       .words = plan->words,
                                       .capacity = plan->capacity,
                                       .fp_rate = plan->fp_rate,
                                       .counter_bits = plan->counter_bits,
                                       .data_offset = plan->data_bytes <= 1712       ? 2304
                                                      : plan->data_bytes >= 32 << 20 ? 2 << 20
                                                                                     : 4096,
                                       .data_bytes = plan->data_bytes,
                                       .file_bytes = plan->file_bytes};
    (void)snprintf(first.hash_set, sizeof first.hash_set, "%s",
                   spec->set != 0 ? hash_sets[spec->set] : "xxh3");
    if (policy.slices > 0) first.slice_start = s->model->now;
    if (goes_on != may_grow(&policy))
        return wrong(s->model, "by its plan the filter %s", goes_on ? "grows" : "does not grow");
    return first_segment_fits(s->model, &policy, spec, &first);
}

static uint32_t missing(const struct step *s)
{
    struct filter *const *filters = s->model->filters;
    return (filters[s->op->name] == NULL ? 1u : 0u) + (filters[s->op->other] == NULL ? 1u : 0u);
}

/* Two names; a filter that is there already is passed over. */
static bool step_create_many(struct step *s)
{
    const struct executor *executor = s->model->executor;
    const uint32_t both[] = {s->op->name, s->op->other};
    if (!ends(s, missing(s))) return false;
    for (uint32_t i = 0; i < 2; i++) {
        struct op op = *s->op;
        struct step one = {.model = s->model, .op = &op, .out = s->out, .told = s->told};
        op.name = (uint8_t)both[i];
        if (s->model->filters[op.name] != NULL) continue;
        s->out->segments = 0;
        executor->look(executor->self, op.name, s->out);
        if (!make_by_spec(&one) || !list_is_told(&one)) return false;
    }
    s->filter = NULL; /* both were judged */
    return true;
}

static bool step_open(struct step *s)
{
    take_handle(s, s->filter,
                (s->op->flags & TAMIS_OPEN_READ_ONLY) != 0 ||
                    (s->op->kind == OP_OPEN && s->model->stores[s->op->store].read_only));
    return true;
}

static bool step_close(struct step *s)
{
    struct filter *filter = s->filter;
    const bool failed = is_fault(s), released = s->op->kind == OP_RELEASE;
    if (!s->handle->read_only && !filter->dropped) {
        filter->recorded_items = items_of(s->model, filter);
        filter->recorded_unsure |=
            released || failed || (s->model->now != MODEL_BEGIN && filter->now.policy.slices > 0);
        if (!released && s->handle->wrote) may_checkpoint(s, filter);
    }
    filter_let_go(filter);
    *s->handle = (struct handle){.filter = NULL};
    s->filter = NULL; /* it may have been the last to know a filter that was dropped */
    return true;
}

/* ---- Stores, and the rest ---------------------------------------------------------------------
 */

static bool step_open_store(struct step *s)
{
    s->model->made = s->model->stores[s->op->store].open = true;
    s->model->stores[s->op->store].read_only = s->op->store == STORES - 1;
    return true;
}

static bool step_close_store(struct step *s)
{
    s->model->stores[s->op->store].open = false;
    return true;
}

static bool step_exists(struct step *s)
{
    return ends(s, s->filter != NULL);
}

static bool step_stat(struct step *s)
{
    return s->out->counts[0] == items_of(s->model, s->filter) ||
           wrong(s->model, "items are %" PRIu64, s->out->counts[0]);
}

static bool step_check(struct step *s)
{
    uint32_t filters = 0;
    if (s->op->kind == OP_REPAIR && s->model->had_fault) return true;
    for (uint32_t i = 0; i < NAMES; i++)
        filters += s->model->filters[i] != NULL;
    return ends(s, s->op->kind == OP_BACKUP ? filters : 0);
}

static bool step_clock(struct step *s)
{
    return (s->model->now += (int64_t)s->op->number) > 0;
}

static bool step_nothing(struct step *s)
{
    return ends(s, 0);
}

/* ---- What is refused ---------------------------------------------------------------------------
 */

#define ANY 1 /* of the codes */
/* X(condition, code, must it be refused then, or may it; is it so).  In these `f` is the filter of
 * the name or the handle, `of` that of the handle, `from` that of the other handle, and `x` the
 * stream. */
#define REFUSALS(X)                                                                                \
    X(STORE_READS, TAMIS_EREADONLY, true, s->model->stores[op->store].read_only)                   \
    X(HANDLE_READS, TAMIS_EREADONLY, true, s->handle->read_only)                                   \
    X(NO_STORE, TAMIS_ENOSTORE, true, op->store == STORES - 1 && !s->model->made)                  \
    X(ABSENT, TAMIS_ENOTFOUND, true, f == NULL)                                                    \
    X(NAMED_ABSENT, TAMIS_ENOTFOUND, true, (op->flags & 1) != 0 && f == NULL)                      \
    X(NO_GENERATION, TAMIS_ENOTFOUND, true, f != NULL && !generation_of(f, op->number))            \
    X(THERE, TAMIS_EEXIST, true, f != NULL)                                                        \
    X(OTHER_THERE, TAMIS_EEXIST, op->other != op->name, s->model->filters[op->other] != NULL)      \
    X(ANY_THERE, TAMIS_EEXIST, true, missing(s) < 2 && (op->flags & TAMIS_MANY_IF_MISSING) == 0)   \
    X(TWICE, TAMIS_EINVAL, true, op->name == op->other)                                            \
    X(OTHER_SPEC, TAMIS_EMISMATCH, f != NULL && is_unlike(f, &op->spec),                           \
      f != NULL || (op->kind == OP_CREATE_MANY && missing(s) < 2))                                 \
    X(DROPPED, TAMIS_EDROPPED, true, of->dropped)                                                  \
    X(MAYBE_DROPPED, TAMIS_EDROPPED, false, of->dropped)                                           \
    X(SOURCE_DROPPED, TAMIS_EDROPPED, true, from->dropped)                                         \
    X(STATIC, TAMIS_EUNSUPPORTED, true, first_of(f)->keys != NULL)                                 \
    X(NO_COUNTERS, TAMIS_EUNSUPPORTED, true, !counts(f))                                           \
    X(NO_WINDOW, TAMIS_EUNSUPPORTED, true, f->now.policy.slices == 0)                              \
    X(NO_BITS, TAMIS_EUNSUPPORTED, true,                                                           \
      first_of(f)->keys != NULL || counts(f) ||                                                    \
          (op->kind == OP_SET_BIT && first_of(f)->is.kind != TAMIS_KIND_BLOOM))                    \
    X(ITSELF, TAMIS_EINVAL, true, of == from)                                                      \
    X(INTERSECTS, TAMIS_EUNSUPPORTED, true, (op->flags & TAMIS_MERGE_INTERSECT) != 0)              \
    X(SEVERAL, TAMIS_EUNSUPPORTED, true,                                                           \
      (op->kind == OP_COMPARE || (op->flags & TAMIS_MERGE_INTERSECT) != 0) &&                      \
          (of->now.list.count > 1 || from->now.list.count > 1))                                    \
    X(NO_MERGE, TAMIS_EUNSUPPORTED, true,                                                          \
      of->now.policy.slices + from->now.policy.slices > 0 || first_of(of)->keys != NULL ||         \
          first_of(from)->keys != NULL)                                                            \
    X(UNLIKE, TAMIS_EMISMATCH, true, of != from && !are_alike(&of->now.list, &from->now.list))     \
    X(SECRETS, TAMIS_EMISMATCH, false, of != from && is_sip(&of->now.list))                        \
    X(NOT_BUILT, TAMIS_EMISMATCH, true, f != NULL && (f->now.policy.slices > 0 || counts(f)))      \
    X(WITHOUT_KEY, TAMIS_EINVAL, true,                                                             \
      has_secret(of) && own && (op->flags & TAMIS_EXPORT_WITH_KEY) == 0)                           \
    X(FOREIGN, TAMIS_EUNSUPPORTED, false, !own)                                                    \
    X(FOREIGN_DIGEST, TAMIS_EINVAL, (op->flags & TAMIS_EXPORT_WITH_DIGEST) != 0, !own)             \
    X(FOREIGN_EXCEPTIONS, TAMIS_EUNSUPPORTED, true,                                                \
      !own && (op->flags & TAMIS_EXPORT_WITHOUT_EXCEPTIONS) == 0 && exceptions_of(of) > 0)         \
    X(HALF, ANY, true, !x->there)                                                                  \
    X(BARE_SECRET, TAMIS_EINVAL, true,                                                             \
      kind != 0 && is_sip(&x->of.list) &&                                                          \
          strcmp(tamis_format_name(x->format), "redis-bitmap") == 0)                               \
    X(NOT_DURABLE, TAMIS_EUNSUPPORTED, true,                                                       \
      (op->flags & TAMIS_IMPORT_DURABLE) != 0 &&                                                   \
          (kind == TAMIS_KIND_COUNTING || kind == TAMIS_KIND_FUSE))                                \
    X(DURABLE, TAMIS_EMISMATCH, true,                                                              \
      f != NULL && f->now.policy.durable && kind == TAMIS_KIND_COUNTING)                           \
    X(NO_TIME, TAMIS_EINVAL, true,                                                                 \
      (op->flags & (TAMIS_PUBLISH_NEWER | WITH_NOTES)) == TAMIS_PUBLISH_NEWER && x->there &&       \
          !is_own(x->format))                                                                      \
    X(OLDER, TAMIS_EMISMATCH, true, kind != 0 && is_older(s))                                      \
    X(MAYBE_OLDER, TAMIS_EMISMATCH, false, (op->flags & TAMIS_PUBLISH_NEWER) != 0 && f != NULL)

enum condition {
#define CONDITION_AT(name, code, must, is) name##_AT,
    REFUSALS(CONDITION_AT) TELLS_AT,
    ADOPTS_AT
#undef CONDITION_AT
};

#define BIT(name) (UINT64_C(1) << name##_AT)

/* Does the condition hold?  *code: with what the call is refused then; *must: it must be. */
static bool holds(const struct step *s, enum condition condition, int *code, bool *must)
{
    const struct op *op = s->op;
    struct filter *f = s->filter, *of = s->handle != NULL ? s->handle->filter : NULL;
    const struct filter *from = s->model->handles[op->source].filter;
    const struct stream *x = &s->model->streams[op->stream];
    const bool own = is_own(op->format);
    const uint32_t kind = x->there ? x->of.list.segments[0]->is.kind : 0;
    switch (condition) {
#define CONDITION_HOLDS(name, its_code, it_must, is)                                               \
    case name##_AT:                                                                                \
        *code = (its_code);                                                                        \
        *must = (it_must);                                                                         \
        return (is);
        REFUSALS(CONDITION_HOLDS)
#undef CONDITION_HOLDS
    default:
        return false;
    }
}

/* Was it refused, rightly or wrongly?  Of several reasons any is right. */
static bool refused(struct step *s, uint64_t conditions)
{
    const int64_t rc = s->out->rc;
    int due = 0;
    for (enum condition c = 0; c < TELLS_AT; c++) {
        int code = 0;
        bool must = false;
        if ((conditions >> c & 1) == 0 || !holds(s, c, &code, &must)) continue;
        if (rc == code || (code == ANY && rc < 0)) return (void)ends(s, rc), true;
        if (must) due = code;
    }
    if (due == 0) return false;
    if (rc == 0 && strchr(takes[s->op->kind], 'k') != NULL && s->op->keys.count == 0) return true;
    return (void)ends(s, due), true;
}

/* ---- Who judges what ---------------------------------------------------------------------------
 */

#define ADDS (BIT(HANDLE_READS) | BIT(DROPPED) | BIT(STATIC) | BIT(TELLS) | BIT(ADOPTS))
#define READS BIT(DROPPED)
#define WRITES (BIT(HANDLE_READS) | BIT(DROPPED) | BIT(ADOPTS))
#define CHANGES (BIT(STORE_READS) | BIT(ABSENT))
#define MERGES (BIT(DROPPED) | BIT(SOURCE_DROPPED) | BIT(NO_MERGE) | BIT(UNLIKE) | BIT(SECRETS))
#define IMPORTS (BIT(STORE_READS) | BIT(HALF) | BIT(BARE_SECRET))

/* TELLS: the result is more than 0, for the judge to see.  ADOPTS: after a failure a part of it may
 * have come about. */
static const struct judge {
    step_fn *step;
    uint64_t conditions;
} judges[OP_COUNT_OF] = {
    [OP_OPEN_STORE] = {step_open_store, BIT(NO_STORE)},
    [OP_CLOSE_STORE] = {step_close_store, BIT(TELLS)},
    [OP_CREATE] = {step_create, BIT(STORE_READS) | BIT(THERE)},
    [OP_OPEN_OR_CREATE] = {step_create, BIT(STORE_READS) | BIT(OTHER_SPEC)},
    [OP_CREATE_MANY] = {step_create_many, BIT(STORE_READS) | BIT(ANY_THERE) | BIT(TWICE) |
                                              BIT(OTHER_SPEC) | BIT(TELLS)},
    [OP_CHECK_SPEC] = {step_check_spec, 0},
    [OP_OPEN] = {step_open, BIT(ABSENT)},
    [OP_OPEN_AT] = {step_open, BIT(ABSENT)},
    [OP_CLOSE] = {step_close, BIT(ADOPTS)},
    [OP_RELEASE] = {step_close, 0},
    [OP_ADD] = {step_add, ADDS},
    [OP_ADD_BATCH] = {step_add, ADDS},
    [OP_WATCH] = {step_watch, ADDS},
    [OP_ASK] = {step_ask, READS | BIT(TELLS)},
    [OP_ASK_BATCH] = {step_ask, READS | BIT(TELLS)},
    [OP_ASK_NAME] = {step_ask, READS | BIT(TELLS)},
    [OP_ASK_SEVERAL] = {step_ask, READS | BIT(SOURCE_DROPPED) | BIT(TELLS)},
    [OP_REMOVE] = {step_remove, WRITES | BIT(NO_COUNTERS) | BIT(TELLS)},
    [OP_REMOVE_BATCH] = {step_remove, WRITES | BIT(NO_COUNTERS) | BIT(TELLS)},
    [OP_COUNT] = {step_count, READS | BIT(NO_COUNTERS) | BIT(TELLS)},
    [OP_COUNT_BATCH] = {step_count, READS | BIT(NO_COUNTERS) | BIT(TELLS)},
    [OP_MAY_WAIT] = {step_may_wait, BIT(HANDLE_READS) | BIT(MAYBE_DROPPED) | BIT(TELLS)},
    [OP_PREPARE] = {step_prepare, WRITES},
    [OP_SYNC_INTERVAL] = {step_nothing, BIT(HANDLE_READS) | BIT(MAYBE_DROPPED)},
    [OP_ACCEPT] = {step_nothing, WRITES},
    [OP_SYNC] = {step_sync, WRITES},
    [OP_ROTATE] = {step_rotate, WRITES | BIT(NO_WINDOW)},
    [OP_STAT] = {step_stat, READS},
    [OP_FILL] = {step_fill, READS},
    [OP_READ_DATA] = {step_read_data, READS},
    [OP_WRITE_DATA] = {step_write_bits, WRITES | BIT(NO_BITS)},
    [OP_SET_BIT] = {step_write_bits, WRITES | BIT(NO_BITS) | BIT(TELLS)},
    [OP_LIKE] = {step_like, READS},
    [OP_MAPPED] = {step_mapped, READS},
    [OP_EACH_EXCEPTION] = {step_exceptions, READS},
    [OP_COMPARE] = {step_compare, MERGES | BIT(SEVERAL)},
    [OP_MERGE] = {step_merge,
                  MERGES | BIT(HANDLE_READS) | BIT(INTERSECTS) | BIT(ITSELF) | BIT(ADOPTS)},
    [OP_MERGED] = {step_merged, MERGES | BIT(STORE_READS) | BIT(THERE) | BIT(SEVERAL)},
    [OP_EXPORT] = {step_export, READS | BIT(WITHOUT_KEY) | BIT(FOREIGN) | BIT(FOREIGN_DIGEST) |
                                    BIT(FOREIGN_EXCEPTIONS)},
    [OP_IMPORT] = {step_import, IMPORTS | BIT(THERE) | BIT(NOT_DURABLE)},
    [OP_PUBLISH] = {step_publish, IMPORTS | BIT(DURABLE) | BIT(NO_TIME) | BIT(OLDER) |
                                      BIT(MAYBE_OLDER) | BIT(TELLS)},
    [OP_BUILD] = {step_build, BIT(STORE_READS) | BIT(NOT_BUILT) | BIT(TELLS)},
    [OP_GENERATIONS] = {step_generations, BIT(ABSENT)},
    [OP_ROLLBACK] = {step_rollback, CHANGES | BIT(NO_GENERATION)},
    [OP_EXCEPT] = {step_except, CHANGES | BIT(TELLS)},
    [OP_UNEXCEPT] = {step_except, CHANGES | BIT(TELLS)},
    [OP_EXCEPTIONS] = {step_exceptions, BIT(ABSENT)},
    [OP_EXISTS] = {step_exists, BIT(TELLS)},
    [OP_RENAME] = {step_rename, CHANGES | BIT(OTHER_THERE)},
    [OP_DROP] = {step_drop, CHANGES},
    [OP_DROP_MANY] = {step_drop_many, BIT(STORE_READS) | BIT(TELLS)},
    [OP_SET_OWNED] = {step_set, CHANGES},
    [OP_SET_PAGES] = {step_set, CHANGES},
    [OP_LIST] = {step_list, 0},
    [OP_VERIFY] = {step_check, BIT(NAMED_ABSENT) | BIT(TELLS)},
    [OP_REPAIR] = {step_check, BIT(TELLS)},
    [OP_BACKUP] = {step_check, BIT(TELLS)},
    [OP_CLOCK] = {step_clock, BIT(TELLS)},
};

/* As much of the change as came about is taken over; the keys that were answered must be in. */
static bool judge_failed(struct step *s, const struct judge *judge)
{
    const bool adds = judge->step == step_add || judge->step == step_watch;
    const bool killed = s->op->fault == FAULT_KILL;
    const uint8_t *answers = s->op->kind == OP_ADD_BATCH && !killed ? s->out->answers : NULL;
    if (judge->step == step_export) s->model->streams[s->op->stream].there = false;
    if ((judge->conditions & BIT(ADOPTS)) == 0) return true;
    if (adds && killed) s->filter->holed = true;
    if (judge->step == step_close) return (!s->handle->wrote || adopt(s, NULL)) && step_close(s);
    return adopt(s, answers);
}

static bool judge(struct step *s)
{
    const struct judge *judge = &judges[s->op->kind];
    const bool may_be_full = judge->step == step_add || judge->step == step_watch;
    const uint64_t writes = BIT(HANDLE_READS) | BIT(ADOPTS);
    if ((judge->conditions & writes) == writes && !s->handle->read_only) s->handle->wrote = true;
    if (is_fault(s)) return judge_failed(s, judge);
    if (s->out->reached && judge->step == step_check) return true;
    if (refused(s, judge->conditions)) return true;
    if (s->out->rc < 0 ? s->out->rc != TAMIS_EFULL || !may_be_full
                       : (judge->conditions & BIT(TELLS)) == 0 && s->out->rc != 0)
        return ends(s, 0);
    return judge->step == NULL || judge->step(s);
}

/* Whose filter the operation is about. */
static void find_filter(struct step *s)
{
    s->handle = s->op->slot < SLOTS ? &s->model->handles[s->op->slot] : NULL;
    if (strchr(takes[s->op->kind], 'n') != NULL)
        s->filter = s->model->filters[s->op->name];
    else if (strchr(takes[s->op->kind], 'h') != NULL)
        s->filter = s->handle != NULL ? s->handle->filter : NULL;
}

/* What the store has of the filter now. */
static void look(const struct step *s)
{
    const struct executor *executor = s->model->executor;
    const bool by_name = strchr(takes[s->op->kind], 'n') != NULL;
    if (s->filter != NULL ? s->filter->dropped : !by_name) return;
    executor->look(executor->self, by_name ? s->op->name : s->filter->name, s->out);
    s->out->has |= HAS_SEGMENTS;
}

/* A call whose process was killed has done all of its work, or none, if it is one of those (`w` in
 * ops.h).  Which of both, the store tells.  Then it is judged as one that has returned, or failed.
 */
static void judge_killed(struct step *s)
{
    struct outcome *out = s->out;
    const struct filter *f = s->filter;
    const struct tamis_filter_stat *stat = &out->stat;
    const bool there = out->filter_error != TAMIS_ENOTFOUND;
    const uint64_t exceptions = f != NULL && there ? stat->exceptions - exceptions_of(f) : 0;
    bool done = there != (f != NULL) || exceptions != 0;
    if (there && f != NULL)
        done |= stat->generation != f->now.number || stat->pages != f->pages ||
                ((stat->flags & TAMIS_FILTER_OWNED) != 0) != f->owned;
    done &= strchr(takes[s->op->kind], 'w') != NULL;
    out->rc = done ? (int64_t)exceptions : TAMIS_ESYSTEM;
    out->reached &= !done;
}

/* What another process has done with a handle of its own, or one that it was born with. */
static void child_has_closed(struct step *s, const struct handle *of_child)
{
    struct filter *f = of_child->filter, *source = s->model->handles[s->op->source].filter;
    if (s->op->where == CHILD_ANEW && source != NULL) source->recorded_unsure = true;
    if (s->op->where == CHILD_ANEW && s->filter != NULL) may_checkpoint(s, s->filter);
    if (f == NULL) return;
    f->recorded_unsure |= s->op->where == CHILD_ANEW || of_child->wrote;
    if (of_child->wrote) may_checkpoint(s, f);
}

const char *model_step(struct model *model, const struct op *op, struct outcome *out)
{
    struct step s = {.model = model, .op = op, .out = out, .told = out->segment};
    struct handle of_child = {.filter = NULL};
    model->reached = out->ran && out->reached;
    model->failed = model->reached && out->rc < 0;
    if (!out->ran) return NULL;
    model->had_fault |= out->reached;
    *model->complaint = '\0';
    find_filter(&s);
    if (out->rc < 0 && (out->has & HAS_SENTENCE) != 0 && *out->sentence == '\0')
        (void)wrong(model, "error %s without a sentence", tamis_error_name((int)out->rc));
    if (*out->trouble != '\0' && !out->reached) (void)wrong(model, "%s", out->trouble);
    const bool killed = out->reached && op->fault == FAULT_KILL;
    if (op->kind != OP_RENAME || killed) look(&s);
    if (killed) judge_killed(&s);
    if (op->where != HERE && s.handle != NULL) {
        of_child = (struct handle){.filter = s.handle->filter,
                                   .opened_as = s.handle->opened_as,
                                   .read_only = s.handle->read_only};
        if (op->where == CHILD_ANEW)
            of_child.read_only = strchr(takes[op->kind], 's') != NULL && op->store == STORES - 1;
        s.handle = &of_child;
    }
    const bool fit = judge(&s);
    if (op->where != HERE) child_has_closed(&s, &of_child);
    (void)(fit && list_is_told(&s));
    if (s.filter != NULL && !s.filter->dropped) s.filter->indexed |= exceptions_of(s.filter) > 0;
    return *model->complaint != '\0' ? model->complaint : NULL;
}
