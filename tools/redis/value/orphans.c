/* SPDX-License-Identifier: BSD-2-Clause */
/* orphans.c: see orphans.h. */
#include "value/orphans.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "server/config.h"
#include "tamis_exchange.h"
#include "value/drops.h"
#include "value/head.h"
#include "value/store.h"
#include "value/stored.h"
#include "value/work.h"

#define PATH_ROOM 4096

static int64_t there; /* atomic, relaxed: when somebody looked */

struct looking {
    orphan_fn *fn;
    void *context;
    int64_t count;
};

static int look(void *context, const char *name, const uint8_t *bytes, int owned)
{
    struct looking *looking = context;
    struct id id;
    if (!owned || bytes == NULL) return 0;
    memcpy(&id, bytes, sizeof id);
    if (stored_has(&id) || store_is_claimed(&id) || drops_have(&id)) return 0;
    looking->count++;
    if (looking->fn != NULL) looking->fn(looking->context, name, &id);
    return 0;
}

int64_t orphans_each(orphan_fn *fn, void *context)
{
    struct looking looking = {.fn = fn, .context = context};
    tamis_store *store = store_is_open();
    if (store == NULL || store_is_of_another()) return 0;
    const int rc = tamis_store_list_ids(store, look, &looking);
    if (rc == 0) __atomic_store_n(&there, looking.count, __ATOMIC_RELAXED);
    return rc < 0 ? rc : looking.count;
}

int64_t orphans_count(void)
{
    return __atomic_load_n(&there, __ATOMIC_RELAXED);
}

/* ---- Dropping -------------------------------------------------------------------------------- */

/* The kernel gives a lease to write to nobody who is not alone with a file. */
static bool is_open(const char *file)
{
    char path[PATH_ROOM];
    (void)snprintf(path, sizeof path, "%s/%s", config.store, file);
    /* O_NONBLOCK: where another process has a lease, open() would wait for its end. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    /* Who opens the file just now makes the kernel send a signal, which would be SIGIO and end the
     * server.  SIGURG does nothing where nobody waits for it. */
    const bool alone =
        fd >= 0 && fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
    if (fd >= 0) (void)close(fd); /* which gives the lease back */
    return !alone;
}

bool orphan_is_in_use(const struct id *id)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    tamis_filter *filter = NULL;
    char files[LAYERS_MAX][TAMIS_SEGMENT_FILE_BYTES];
    uint32_t count = 0;
    bool in_use = false;
    const int rc = tamis_filter_open_id(store_is_open(), id->bytes, TAMIS_OPEN_READ_ONLY, &filter);
    if (rc < 0) return rc != TAMIS_ENOTFOUND;
    while (count < LAYERS_MAX && tamis_filter_segment(filter, count, &segment) == 0)
        (void)tamis_segment_file(segment.number, files[count++]);
    tamis_filter_release(filter);
    for (uint32_t i = 0; !in_use && i < count; i++)
        in_use = is_open(files[i]);
    return in_use;
}

static void drop_unused(void *context, const char *name, const struct id *id)
{
    int64_t *in_use = context;
    (void)name;
    if (orphan_is_in_use(id))
        ++*in_use;
    else
        drops_push(id, NO_DUMP);
}

static void run(struct job *job)
{
    int64_t in_use = 0;
    const int64_t count = orphans_each(drop_unused, &in_use);
    if (count > 0)
        RedisModule_Log(NULL, "notice",
                        "%" PRId64 " filters of the store have no key: they are dropped", count);
    if (in_use > 0)
        RedisModule_Log(NULL, "notice",
                        "%" PRId64 " of them stay, as other processes have them open; "
                        "TAMIS.ORPHANS lists them",
                        in_use);
    RedisModule_Free(job);
}

void orphans_drop_all(void)
{
    struct job *job = RedisModule_Calloc(1, sizeof *job);
    job->run = run;
    work_submit(NULL, job);
}
