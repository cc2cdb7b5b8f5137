/* SPDX-License-Identifier: BSD-2-Clause */
/* run_api.c: see run_api.h. */
#include "run_api.h"
#include "auto.h"

#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/point.h"
#include "faults.h"
#include "os/io.h"

#define HOUR INT64_C(3600000000000)

#define OP_NAME(name, letters, often, call) #name,
#define OP_TAKES(name, letters, often, call) letters,
static const char *const all_names[] = {OPS(OP_NAME)}, *const all_letters[] = {OPS(OP_TAKES)};
const char *const *const op_names = all_names, *const *const takes = all_letters;

/* ---- Names and keys ----------------------------------------------------------------------------
 */

const char *const names[NAMES] = {"alpha",       "beta",           "gamma",
                                  "delta of it", "\xc3\xa9psilon", "zeta/6"};
const char *const hash_sets[] = {NULL,
                                 "xxh3",
                                 "sip",
                                 "md5",
                                 "redisbloom",
                                 "guava",
                                 "spark-v1",
                                 "spark-v2",
                                 "php:bkdr,sdbm,js",
                                 "php-mt",
                                 "parquet",
                                 "dcso",
                                 "pybloomfilter:17,4,2903"};
const uint32_t hash_set_count = sizeof hash_sets / sizeof hash_sets[0];

/* A key has its number in its first four bytes, and a length that follows from the number: hash
 * functions have ways of their own for short, middling and long ones.  Key 0 is empty. */
size_t key_of(uint32_t key, unsigned char bytes[KEY_BYTES_MAX])
{
    static const size_t lengths[] = {4, 8, 16, 5, 12, 4, 20, 33, 64, 4, 129, 9, 240, 4, 241, 300};
    const size_t length = key == 0 ? 0 : key >= 8192 ? 8 : lengths[key % 16];
    memset(bytes, (int)(key % 251), length);
    for (size_t i = 0; i < 4 && i < length; i++)
        bytes[i] = (unsigned char)(key >> (8 * i));
    return length;
}

uint32_t key_number(const void *bytes, size_t count)
{
    unsigned char again[KEY_BYTES_MAX];
    const unsigned char *b = bytes;
    if (count == 0) return 0;
    if (count < 4) return UINT32_MAX;
    const uint32_t key = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    if (key >= POOL || key_of(key, again) != count || memcmp(again, bytes, count) != 0)
        return UINT32_MAX;
    return key;
}

/* ---- Arguments ---------------------------------------------------------------------------------
 */

static bool has(const struct op *op, char letter)
{
    return strchr(takes[op->kind], letter) != NULL;
}

int64_t world_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

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

struct tamis_key lists[3][KEYS_MAX];

/* The keys of the operation, its keys against and its exceptions.  They are made before anything
 * can fail. */
void world_keys(const struct op *op)
{
    static unsigned char *bytes[3];
    const struct op_keys *const all[] = {&op->keys, &op->against, &op->except};
    for (size_t which = 0; which < 3; which++) {
        const struct op_keys *keys = all[which];
        unsigned char *at = realloc(bytes[which], ((size_t)keys->count + 1) * KEY_BYTES_MAX);
        if (at == NULL) err(1, "realloc");
        bytes[which] = at;
        for (uint32_t i = 0; i < keys->count; i++) {
            const size_t length = key_of(key_at(keys, i), at);
            lists[which][i] = (struct tamis_key){length > 0 ? at : NULL, length};
            at += length;
        }
    }
}

/* ---- Faults -----------------------------------------------------------------------------------
 */

static int (*fault_hook)(const char *verb, const char *what);
static int64_t first_write;
static uint32_t calls_left;  /* before this process kills itself */
static uint32_t writes_left; /* before the disk is full: 1, it is; 0: it never is */
static bool was_full;
static int64_t *clock_ns;

static int64_t clock_of_windows(void)
{
    return *clock_ns;
}

static int at_call(const char *verb, const char *what)
{
    if (calls_left > 0 && --calls_left == 0) (void)raise(SIGKILL);
    if (first_write == 0 && strcmp(verb, "msync") == 0) first_write = world_now();
    if (writes_left > 0 && (strcmp(verb, "write") == 0 || strcmp(verb, "allocate") == 0)) {
        was_full = writes_left == 1;
        if (was_full) return ENOSPC;
        writes_left--;
    }
    return fault_hook != NULL ? fault_hook(verb, what) : 0;
}

static void arm(const struct op *op)
{
    first_write = 0;
    calls_left = op->fault == FAULT_KILL ? op->nth : 0;
    writes_left = op->fault == FAULT_DISK ? op->nth : 0;
    was_full = false;
    tamis__io_hook = NULL;
    if (op->fault == FAULT_CALL) faults_arm_calls(op->nth, op->error);
    if (op->fault == FAULT_MEMORY) faults_arm_memory(op->nth);
    fault_hook = tamis__io_hook;
    tamis__io_hook = at_call;
}

static bool disarm(void)
{
    fault_hook = NULL;
    calls_left = writes_left = 0;
    return faults_disarm() || was_full;
}

/* ---- One operation ----------------------------------------------------------------------------
 */

static int64_t run_open_store(struct world *w, const struct op *op)
{
    const bool reads = op->store == STORES - 1;
    const struct tamis_store_options options = {.size = sizeof options,
                                                .flags = reads ? TAMIS_OPEN_READ_ONLY
                                                               : TAMIS_OPEN_CREATE,
                                                .busy_timeout_ms = 120000};
    return op->number % 2 == 0 ? tamis_store_open(w->path, options.flags, &w->stores[op->store])
                               : tamis_store_open_with(w->path, &options, &w->stores[op->store]);
}

static int64_t run_close_store(struct world *w, const struct op *op)
{
    tamis_store_close(w->stores[op->store]);
    w->stores[op->store] = NULL;
    return 0;
}

static int64_t run_close(struct world *w, const struct op *op)
{
    tamis_filter *filter = w->filters[op->slot];
    w->filters[op->slot] = NULL;
    if (op->kind == OP_CLOSE) return tamis_filter_close(filter);
    tamis_filter_release(filter);
    return 0;
}

/* Has the operation all that it needs?  If not, it is left out. */
static bool can_run(const struct world *w, const struct op *op)
{
    const bool slot = op->slot < SLOTS && w->filters[op->slot] != NULL;
    if (op->kind == OP_OPEN_STORE) return w->stores[op->store] == NULL;
    return !(has(op, 's') && w->stores[op->store] == NULL) &&
           !(has(op, 'x') && w->streams[op->stream].bytes == 0) && !(has(op, 'e') && slot) &&
           !(has(op, 'h') && !slot) && !(has(op, 'i') && w->filters[op->source] == NULL);
}

/* The call of the operation, from the table of ops.h. */
static int64_t call(struct world *w, const struct op *op, struct outcome *out)
{
    tamis_filter *f = op->slot < SLOTS ? w->filters[op->slot] : NULL, *opened = NULL;
    tamis_filter **to = op->slot < SLOTS ? &w->filters[op->slot] : &opened;
    tamis_store *s = op->store < STORES ? w->stores[op->store] : NULL;
    const char *name = names[op->name];
    const struct tamis_key *k = lists[0];
    const uint32_t n = op->keys.count;
    const struct tamis_filter_spec spec = spec_of(op);
    int64_t rc = 0;
    out->like.size = sizeof out->like;
    out->mapped.size = sizeof out->mapped;
    out->comparison.size = sizeof out->comparison;
    switch ((enum op_kind)op->kind) {
/* NOLINTBEGIN(bugprone-branch-clone): OP_CLOSE and OP_RELEASE are two lines of the table */
#define OP_CALL(name, letters, often, call)                                                        \
    case OP_##name:                                                                                \
        rc = (call);                                                                               \
        break;
        OPS(OP_CALL)
#undef OP_CALL
        /* NOLINTEND(bugprone-branch-clone) */
    case OP_COUNT_OF:
        break;
    }
    close_anyhow(opened);
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
    arm(op);
    out->rc = call(w, op, out);
    out->reached = disarm();
    out->wrote = first_write;
    out->ended = world_now();
    if (out->rc < 0 && *out->sentence == '\0' && strstr(tamis_last_error(), unsaid) == NULL)
        (void)snprintf(out->sentence, sizeof out->sentence, "%s", tamis_last_error());
}

/* In a child of fork(): with the handles that it was born with, or as another process, with its
 * own. */
static void run_child(struct world *w, const struct op *op)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    const uint8_t slots[] = {op->slot, op->source};
    const uint8_t store = has(op, 's') ? op->store : 0;
    const bool anew = op->where == CHILD_ANEW;
    w->stores[store] = anew ? NULL : w->stores[store];
    if (anew && run_open_store(w, &(struct op){.store = store}) < 0)
        errx(3, "%s", tamis_last_error());
    for (int i = 0; i < 2 && anew; i++) {
        tamis_filter **slot = &w->filters[slots[i]];
        if (!has(op, i == 0 ? 'h' : 'i')) continue;
        w->out->ran = tamis_filter_stat(*slot, &stat) == 0; /* not dropped */
        if (!w->out->ran) _exit(0);
        if (tamis_filter_open(w->stores[store], stat.name, 0, slot) < 0)
            errx(3, "%s", tamis_last_error());
    }
    run_armed(w, op);
    if (anew && has(op, 'h')) close_anyhow(w->filters[op->slot]);
    if (anew && has(op, 'i') && op->source != op->slot) close_anyhow(w->filters[op->source]);
    if (anew) tamis_store_close(w->stores[store]);
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
    w->alike_of = NULL;
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

/* ---- Looking ----------------------------------------------------------------------------------
 */

static tamis_filter *see(struct world *w, uint32_t name)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    tamis_filter **seen = &w->seen[name];
    if (w->beside == NULL) return NULL;
    if (*seen != NULL &&
        (tamis_filter_stat(*seen, &stat) < 0 || strcmp(stat.name, names[name]) != 0)) {
        close_anyhow(*seen);
        *seen = NULL;
    }
    if (*seen == NULL && tamis_filter_open(w->beside, names[name], TAMIS_OPEN_READ_ONLY, seen) < 0)
        return NULL;
    return *seen;
}

static void look(void *self, uint32_t name, struct outcome *out)
{
    struct world *w = self;
    w->alike_of = NULL;
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
    return explain(w, w->seen[name], segment, key, to);
}

void world_init(struct world *w, const char *path)
{
    *w = (struct world){.beside = NULL};
    (void)snprintf(w->path, sizeof w->path, "%s", path);
    w->now = mmap(NULL, sizeof *w->now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w->now == MAP_FAILED) err(1, "mmap");

    clock_ns = w->now;
    tamis__clock_hook = clock_of_windows;
    tamis__point_samples = 1000;
}

void world_clear(struct world *w)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        close_anyhow(w->filters[i]);
    for (uint32_t i = 0; i < NAMES; i++)
        close_anyhow(w->seen[i]);
    for (uint32_t i = 0; i < STORES; i++)
        tamis_store_close(w->stores[i]);
    tamis_store_close(w->beside);
    for (uint32_t i = 0; i < STREAMS; i++)
        free(w->streams[i].data);
    free(w->data);
    world_keys(&(const struct op){.kind = OP_CLOCK});
    tamis__clock_hook = NULL;
    tamis__io_hook = NULL;
    (void)munmap(w->now, sizeof *w->now);
}

void world_executor(struct world *w, struct executor *executor)
{
    *executor = (struct executor){.self = w, .run = run, .look = look, .positions = positions};
}
