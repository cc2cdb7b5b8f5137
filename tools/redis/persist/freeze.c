/* SPDX-License-Identifier: BSD-2-Clause */
/* freeze.c: see freeze.h. */
#include "persist/freeze.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "registry/registry.h"
#include "server/args.h"
#include "server/waiting.h"
#include "value/handles.h"

/* A child that has not copied by then is stopped, or dead: commands go on.  The server itself waits
 * for a shorter time than clients do. */
#define CLIENTS_WAIT_NS 60000000000
#define SERVER_WAIT_NS 10000000000
#define PAUSE_NS 100000
#define LOOK_MS 1 /* how often the server looks whether the child has copied */

/* A stream that grows. */
struct memory {
    char *data;
    size_t bytes, room;
};

struct frozen {
    struct frozen *next;
    const struct value *value;
    struct memory stream;
};

static struct frozen *copies; /* in the child */
static bool *copied;          /* shared with the child, which sets it */
static bool born;             /* in the server: a child may still have to copy */
static bool copies_soon;      /* in the server: the child of the last fork() will copy */
static int64_t born_at;       /* steady ns */
static pthread_t server_thread;

static struct waiting_list put_off;

static int append_bytes(void *context, const void *data, size_t bytes)
{
    struct memory *m = context;
    if (m->bytes + bytes > m->room) {
        m->room = 2 * (m->bytes + bytes);
        m->data = RedisModule_Realloc(m->data, m->room);
    }
    memcpy(m->data + m->bytes, data, bytes);
    m->bytes += bytes;
    return 0;
}

char *stream_in_memory(const struct value *value, size_t *bytes)
{
    struct memory m = {.data = NULL};
    const struct tamis_sink sink = {.size = sizeof sink, .write = append_bytes, .context = &m};
    if (tamis_filter_export(value->filter, "tamis", TAMIS_EXPORT_WITH_KEY, &sink) < 0) {
        RedisModule_Free(m.data);
        return NULL;
    }
    *bytes = m.bytes;
    return m.data;
}

static void copy_one(void *context, struct value *value)
{
    (void)context;
    if (!value_counts(value) || value_open(value) < 0) return;
    struct frozen *f = RedisModule_Calloc(1, sizeof *f);
    f->value = value;
    f->stream.data = stream_in_memory(value, &f->stream.bytes);
    f->next = copies;
    copies = f;
}

/* Another thread may start a program, which has no need of copies. */
static bool is_of_interest(void)
{
    return copied != NULL && !born && pthread_equal(pthread_self(), server_thread) != 0;
}

static void before_fork(void)
{
    if (!is_of_interest()) return;
    __atomic_store_n(copied, false, __ATOMIC_RELEASE);
    copies_soon = true;
}

static void copy_in_child(void)
{
    if (!is_of_interest()) return;
    registry_each(copy_one, NULL);
    __atomic_store_n(copied, true, __ATOMIC_RELEASE);
}

void freeze_prepare(void)
{
    void *page =
        mmap(NULL, sizeof *copied, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return; /* then nobody waits, and a count may be too high */
    copied = page;
    server_thread = pthread_self();
    registry_at_fork(before_fork, copy_in_child);
}

static int64_t steady_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void freeze_begin(void)
{
    born = copies_soon;
    copies_soon = false;
    born_at = steady_ns();
}

void freeze_end(void)
{
    born = false;
}

/* May the child still have to copy? */
static bool is_frozen(void)
{
    if (born &&
        (__atomic_load_n(copied, __ATOMIC_ACQUIRE) || steady_ns() - born_at > CLIENTS_WAIT_NS))
        born = false;
    return born;
}

static void look(RedisModuleCtx *ctx, void *unused)
{
    if (is_frozen()) {
        (void)RedisModule_CreateTimer(ctx, LOOK_MS, look, unused);
        return;
    }
    waiting_let_go(&put_off, NULL);
}

/* Makes the server wait. */
static void wait_here(void)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    for (long i = 0; i < SERVER_WAIT_NS / PAUSE_NS && is_frozen(); i++)
        (void)nanosleep(&pause, NULL);
    born = false;
}

bool freeze_is_over(bool waits)
{
    if (waits && is_frozen()) wait_here();
    return !is_frozen();
}

bool freeze_puts_off(RedisModuleCtx *ctx, RedisModuleReplyFunc *again)
{
    if (!is_frozen()) return false;
    /* A command that was put off, and now meets the next child, cannot be put off once more. */
    if (!args_can_wait(ctx)) {
        wait_here();
        return false;
    }
    if (put_off.first == NULL) (void)RedisModule_CreateTimer(ctx, LOOK_MS, look, NULL);
    waiting_put(&put_off, ctx, again, NULL);
    return true;
}

const char *freeze_stream(const struct value *value, size_t *bytes)
{
    const struct frozen *f = copies;
    while (f != NULL && f->value != value)
        f = f->next;
    if (f == NULL || f->stream.data == NULL) return NULL;
    *bytes = f->stream.bytes;
    return f->stream.data;
}
