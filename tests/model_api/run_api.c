/* SPDX-License-Identifier: BSD-2-Clause */
/* run_api.c: see run_api.h. */
#include "run_api.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"

int64_t world_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- Arguments --------------------------------------------------------------------------------
 */

struct tamis_filter_spec spec_of(const struct op *op)
{
    const struct op_spec *s = &op->spec;
    struct tamis_filter_spec spec = {.size = sizeof spec,
                                     .capacity = s->capacity,
                                     .fp_rate = s->rate,
                                     .kind = s->kind,
                                     .k = s->k,
                                     .m_bits = s->m_bits,
                                     .hash_set = hash_sets[s->set],
                                     .seed = s->seed,
                                     .on_full = s->on_full,
                                     .slices = s->slices,
                                     .window_ns = s->window_ns,
                                     .window_items = s->window_items,
                                     .counter_bits = s->counter_bits,
                                     .flags = s->flags,
                                     .pages = s->pages};
    memset(spec.secret, (int)s->secret, sizeof spec.secret);
    return spec;
}

/* The keys of the operation, its keys against and its exceptions.  They are made before anything
 * can fail. */
struct tamis_key lists[3][KEYS_MAX];

static void make_keys(const struct op_keys *keys, unsigned which)
{
    static unsigned char *bytes[3];
    unsigned char *at = realloc(bytes[which], ((size_t)keys->count + 1) * KEY_BYTES_MAX);
    if (at == NULL) err(1, "realloc");
    bytes[which] = at;
    for (uint32_t i = 0; i < keys->count; i++) {
        const size_t length = key_of(key_at(keys, i), at);
        lists[which][i] = (struct tamis_key){length > 0 ? at : NULL, length};
        at += length;
    }
}

void world_keys(const struct op *op)
{
    make_keys(&op->keys, 0);
    make_keys(&op->against, 1);
    make_keys(&op->except, 2);
}

/* ---- One operation -----------------------------------------------------------------------------
 */

/* What a call may need; unused parts are NULL. */
struct call {
    struct world *w;
    const struct op *op;
    tamis_filter *f, **to;
    tamis_store *s;
    const char *name;
    const struct tamis_key *k;
    uint32_t n;
    struct tamis_filter_spec spec;
    struct outcome *out;
};

/* X(operation, its call) */
#define CALLS(X)                                                                                   \
    X(CREATE, tamis_filter_create(c->s, c->name, &c->spec, c->to))                                 \
    X(OPEN_OR_CREATE, tamis_filter_open_or_create(c->s, c->name, &c->spec, c->to))                 \
    X(CREATE_MANY, run_many(c->w, c->s, c->op))                                                    \
    X(CREATE_FILLED, run_filled(c->s, c->name, &c->spec, c->n))                                    \
    X(CHECK_SPEC, tamis_filter_check(c->w->path, c->name, &c->spec))                               \
    X(OPEN, tamis_filter_open(c->s, c->name, c->op->flags, c->to))                                 \
    X(OPEN_AT, tamis_filter_open_at(c->w->path, NULL, c->name, c->op->flags, c->to))               \
    X(ADD, tamis_filter_add(c->f, c->k->data, c->k->bytes))                                        \
    X(ADD_BATCH, tamis_filter_add_batch(c->f, c->k, c->n, c->out->answers))                        \
    X(ASK, tamis_filter_contains(c->f, c->k->data, c->k->bytes))                                   \
    X(ASK_BATCH, tamis_filter_contains_batch(c->f, c->k, c->n, c->out->answers))                   \
    X(REMOVE, tamis_filter_remove(c->f, c->k->data, c->k->bytes))                                  \
    X(REMOVE_BATCH, tamis_filter_remove_batch(c->f, c->k, c->n, c->out->answers))                  \
    X(COUNT, tamis_filter_count(c->f, c->k->data, c->k->bytes))                                    \
    X(COUNT_BATCH, tamis_filter_count_batch(c->f, c->k, c->n, c->out->counts))                     \
    X(PREFETCH, tamis_filter_prefetch(c->f, c->k->data, c->k->bytes))                              \
    X(MAY_WAIT, tamis_filter_may_wait(c->f, (size_t)c->op->number))                                \
    X(PREPARE, tamis_filter_prepare(c->f))                                                         \
    X(SET_PREPARED, tamis_filter_set_prepared(c->f, c->op->number != 0))                           \
    X(EXPECT, tamis_filter_expect(c->f, c->op->number))                                            \
    X(SYNC, tamis_filter_sync(c->f))                                                               \
    X(SYNC_INTERVAL, tamis_filter_set_sync_interval(c->f, (int64_t)c->op->number *HOUR))           \
    X(ACCEPT, tamis_filter_accept(c->f))                                                           \
    X(ROTATE, tamis_filter_rotate(c->f))                                                           \
    X(STAT, run_stat(c->w, c->f, c->out))                                                          \
    X(FILL, run_fill(c->w, c->f))                                                                  \
    X(READ_DATA, run_read_data(c->w, c->f))                                                        \
    X(WRITE_DATA, run_write_data(c->w, c->f, &c->op->keys))                                        \
    X(SET_BIT, run_write_data(c->w, c->f, &c->op->keys))                                           \
    X(LIKE, tamis_filter_like(c->f, &c->out->like, c->out->like_set))                              \
    X(MAPPED, tamis_filter_mapped(c->f, &c->out->mapped))                                          \
    X(COMPARE, tamis_filter_compare(c->f, c->w->filters[c->op->source], &c->out->comparison))      \
    X(MERGE, run_merge(c->w, c->op, c->f, NULL))                                                   \
    X(MERGED, run_merge(c->w, c->op, c->f, c->s))                                                  \
    X(EXPORT, run_export(c->w, c->f))                                                              \
    X(IMPORT, run_import(c->w, c->s, c->op, c->to))                                                \
    X(PUBLISH, run_import(c->w, c->s, c->op, NULL))                                                \
    X(BUILD, run_build(c->w, c->s, c->op))                                                         \
    X(GENERATIONS, tamis_filter_generations(c->s, c->name, tell_generation, c->w))                 \
    X(ROLLBACK, tamis_filter_rollback(c->s, c->name, c->op->number))                               \
    X(EXCEPT, tamis_filter_except(c->s, c->name, c->k, c->n))                                      \
    X(UNEXCEPT, tamis_filter_unexcept(c->s, c->name, c->k, c->n, c->out->answers))                 \
    X(EXCEPTIONS, tamis_filter_exceptions(c->s, c->name, tell_exception, c->w))                    \
    X(EACH_EXCEPTION, tamis_filter_each_exception(c->f, tell_exception, c->w))                     \
    X(EXISTS, tamis_filter_exists(c->s, c->name))                                                  \
    X(RENAME, tamis_filter_rename(c->s, c->name, names[c->op->other]))                             \
    X(DROP, tamis_filter_drop(c->s, c->name))                                                      \
    X(DROP_MANY, run_many(c->w, c->s, c->op))                                                      \
    X(SET_OWNED, tamis_filter_set_owned(c->s, c->name, c->op->number != 0))                        \
    X(SET_PAGES, tamis_filter_set_pages(c->s, c->name, (uint32_t)c->op->number))                   \
    X(LIST, run_list(c->w, c->s, c->op))                                                           \
    X(WATCH, run_watch(c->w, c->s, c->f))                                                          \
    X(VERIFY, run_verify(c->w, c->s, c->op))                                                       \
    X(REPAIR, tamis_store_repair(c->w->path, c->op->flags, tell_step, c->w))                       \
    X(BACKUP, run_backup(c->w, c->s))                                                              \
    X(CLOCK, *c->w->now += (int64_t)c->op->number)                                                 \
    X(LOOK_DATA, run_read_data(c->w, c->w->seen[c->op->name]))                                     \
    X(OPEN_STORE, run_open_store(c->w, c->op))                                                     \
    X(CLOSE_STORE, close_store(c->w, c->op))                                                       \
    X(CLOSE, close_slot(c->w, c->op))                                                              \
    X(RELEASE, close_slot(c->w, c->op))                                                            \
    X(ARGUMENT, arguments_try(c->s, c->f, (unsigned)c->op->number, c->out->trouble, 400))

#define HOUR INT64_C(3600000000000)

static int64_t close_slot(struct world *w, const struct op *op)
{
    tamis_filter *filter = w->filters[op->slot];
    w->filters[op->slot] = NULL;
    if (op->kind == OP_CLOSE) return tamis_filter_close(filter);
    tamis_filter_release(filter);
    return 0;
}

static int64_t close_store(struct world *w, const struct op *op)
{
    tamis_store_close(w->stores[op->store]);
    w->stores[op->store] = NULL;
    return 0;
}

#define CALL_FUNCTION(operation, expression)                                                       \
    static int64_t call_##operation(struct call *c)                                                \
    {                                                                                              \
        return (expression);                                                                       \
    }
CALLS(CALL_FUNCTION)
#undef CALL_FUNCTION

static int64_t (*const calls[OP_COUNT_OF])(struct call *) = {
#define CALL_OF(operation, expression) [OP_##operation] = call_##operation,
    CALLS(CALL_OF)
#undef CALL_OF
};

static const char *const takes[] = {
#define OP_TAKES(name, letters) letters,
    OPS(OP_TAKES)
#undef OP_TAKES
};

/* Has the operation all that it needs?  If not, it is left out. */
static bool can_run(const struct world *w, const struct op *op)
{
    const char *t = takes[op->kind];
    const bool fills = op->kind == OP_CREATE || op->kind == OP_OPEN_OR_CREATE ||
                       op->kind == OP_OPEN || op->kind == OP_OPEN_AT || op->kind == OP_IMPORT;
    if (op->kind == OP_OPEN_STORE) return w->stores[op->store] == NULL;
    if (strchr(t, 's') != NULL && w->stores[op->store] == NULL) return false;
    if (op->kind == OP_IMPORT && w->streams[op->stream].bytes == 0) return false;
    if (fills) return op->slot >= SLOTS || w->filters[op->slot] == NULL;
    if (strchr(t, 'h') != NULL && (op->slot >= SLOTS || w->filters[op->slot] == NULL)) return false;
    if (strchr(t, 'i') != NULL && w->filters[op->source] == NULL) return false;
    return op->kind != OP_PUBLISH || w->streams[op->stream].bytes > 0;
}

static int64_t run_here(struct world *w, const struct op *op)
{
    tamis_filter *opened = NULL;
    struct call c = {.w = w,
                     .op = op,
                     .name = names[op->name],
                     .k = lists[0],
                     .n = op->keys.count,
                     .spec = spec_of(op),
                     .out = w->out};
    const bool opens =
        op->kind == OP_OPEN || op->kind == OP_OPEN_OR_CREATE || op->kind == OP_OPEN_AT;
    if (op->slot < SLOTS) c.f = w->filters[op->slot], c.to = &w->filters[op->slot];
    if (opens && c.to == NULL) c.to = &opened; /* these two take no NULL */
    if (op->store < STORES) c.s = w->stores[op->store];
    w->out->like.size = sizeof w->out->like;
    w->out->mapped.size = sizeof w->out->mapped;
    w->out->comparison.size = sizeof w->out->comparison;
    const int64_t rc = calls[op->kind](&c);
    (void)tamis_filter_close(opened);
    return rc;
}

static void run_armed(struct world *w, const struct op *op)
{
    struct outcome *out = w->out;
    char unsaid[40];
    uint32_t none;
    /* Another sentence stands there before, so that an error without one shows. */
    (void)snprintf(unsaid, sizeof unsaid, "nobody says this %u", (unsigned)op->kind);
    if (tamis_kind_from_name(unsaid, &none) == 0) errx(1, "%s", unsaid);
    memset(out->answers, 77, op->keys.count);
    world_keys(op);
    out->has |= HAS_SENTENCE | HAS_ANSWERS | HAS_TIMES;
    out->began = world_now();
    if (w->arm != NULL) w->arm(op);
    out->rc = run_here(w, op);
    if (w->disarm != NULL) out->reached = w->disarm();
    if (w->wrote != NULL) out->wrote = w->wrote();
    out->ended = world_now();
    if (out->rc < 0 && *out->sentence == '\0' && strstr(tamis_last_error(), unsaid) == NULL)
        (void)snprintf(out->sentence, sizeof out->sentence, "%s", tamis_last_error());
}

/* In another process: with the handles that it was born with, or with its own. */
static void run_child(struct world *w, const struct op *op)
{
    if (op->where == CHILD_ANEW) {
        struct tamis_filter_stat stat = {.size = sizeof stat};
        const uint8_t slots[] = {op->slot, op->source};
        const char *t = takes[op->kind];
        struct op open = {.kind = OP_OPEN_STORE, .store = op->store};
        w->stores[op->store] = NULL;
        if (strchr(t, 's') == NULL) open.store = 0;
        w->stores[open.store] = NULL;
        if (run_open_store(w, &open) < 0) errx(3, "%s", tamis_last_error());
        for (int i = 0; i < 2; i++) {
            if (slots[i] >= SLOTS || strchr(t, i == 0 ? 'h' : 'i') == NULL) continue;
            w->out->ran = tamis_filter_stat(w->filters[slots[i]], &stat) == 0; /* not dropped */
            if (!w->out->ran) _exit(0);
            if (tamis_filter_open(w->stores[open.store], stat.name, 0, &w->filters[slots[i]]) < 0)
                errx(3, "%s", tamis_last_error());
        }
        run_armed(w, op);
        for (int i = 0; i < 2; i++)
            if (slots[i] < SLOTS && strchr(t, i == 0 ? 'h' : 'i') != NULL &&
                (i == 0 || slots[1] != slots[0]))
                (void)tamis_filter_close(w->filters[slots[i]]);
        tamis_store_close(w->stores[open.store]);
    } else {
        run_armed(w, op);
    }
    _exit(0);
}

void world_begin(struct world *w, const struct op *op, struct outcome *out)
{
    memset(out, 0, offsetof(struct outcome, answers));
    out->listed = out->segments = out->generations = out->exceptions = out->problems = 0;
    out->filter_error = out->wrote = 0;
    *out->trouble = '\0';
    w->op = op;
    w->out = out;
    w->inner = op->inner == 2 && w->filters[op->source] != NULL ? w->filters[op->source] : NULL;
    out->ran = can_run(w, op);
}

static void run(void *self, const struct op *op, struct outcome *out)
{
    struct world *w = self;
    int status = 0;
    world_begin(w, op, out);
    if (!out->ran) return;
    if (op->where == HERE) {
        run_armed(w, op);
        return;
    }
    const pid_t child = fork();
    if (child == 0) run_child(w, op);
    if (child < 0 || waitpid(child, &status, 0) != child) err(1, "fork");
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && op->fault == FAULT_KILL) {
        out->reached = w->killed = true;
        out->rc = TAMIS_ESYSTEM;
        (void)snprintf(out->sentence, sizeof out->sentence, "killed");
        out->ended = world_now();
    } else if (status != 0) {
        (void)snprintf(out->trouble, sizeof out->trouble, "the child ended with status %#x",
                       (unsigned)status);
    }
}

/* ---- Looking ------------------------------------------------------------------------------------
 */

static tamis_filter *see(struct world *w, uint32_t name)
{
    if (w->beside == NULL) return NULL;
    struct tamis_filter_stat stat = {.size = sizeof stat};
    tamis_filter **seen = &w->seen[name];
    if (*seen != NULL &&
        (tamis_filter_stat(*seen, &stat) < 0 || strcmp(stat.name, names[name]) != 0)) {
        (void)tamis_filter_close(*seen);
        *seen = NULL;
    }
    if (*seen == NULL && tamis_filter_open(w->beside, names[name], TAMIS_READ_ONLY, seen) < 0)
        return NULL;
    return *seen;
}

static void look(void *self, uint32_t name, struct outcome *out)
{
    struct world *w = self;
    if (w->beside == NULL && tamis_store_open(w->path, 0, &w->beside) == 0)
        if (tamis_store_set_busy_timeout(w->beside, 0) < 0) errx(1, "%s", tamis_last_error());
    tamis_filter *filter = see(w, name);
    out->stat.size = sizeof out->stat;
    out->filter_error = filter == NULL ? TAMIS_ENOTFOUND : tamis_filter_stat(filter, &out->stat);
    const uint32_t filled = out->segments; /* by OP_FILL: the same, and more */
    for (uint32_t i = 0; filled == 0 && out->filter_error == 0 && i < SEGMENTS_MAX; i++) {
        out->segment[i].size = sizeof out->segment[i];
        if (tamis_filter_segment(filter, i, &out->segment[i]) < 0) break;
        out->segments = i + 1;
    }
}

static uint32_t positions(void *self, uint32_t name, const struct tamis_segment_stat *segment,
                          uint32_t key, uint64_t *to)
{
    struct world *w = self;
    return explain(w->seen[name], segment, key, to);
}

void world_init(struct world *w, const char *path)
{
    *w = (struct world){.beside = NULL};
    (void)snprintf(w->path, sizeof w->path, "%s", path);
    w->now = mmap(NULL, sizeof *w->now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w->now == MAP_FAILED) err(1, "mmap");
}

void world_clear(struct world *w)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        (void)tamis_filter_close(w->filters[i]);
    for (uint32_t i = 0; i < NAMES; i++)
        (void)tamis_filter_close(w->seen[i]);
    for (uint32_t i = 0; i < STORES; i++)
        tamis_store_close(w->stores[i]);
    tamis_store_close(w->beside);
    for (uint32_t i = 0; i < STREAMS; i++)
        free(w->streams[i].data);
    free(w->data);
    world_keys(&(const struct op){.kind = OP_CLOCK});
    (void)munmap(w->now, sizeof *w->now);
}

void world_executor(struct world *w, struct executor *executor)
{
    *executor = (struct executor){.self = w, .run = run, .look = look, .positions = positions};
}
