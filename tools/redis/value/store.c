/* SPDX-License-Identifier: BSD-2-Clause */
/* store.c: see store.h. */
#include "value/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "server/busy.h"
#include "server/config.h"
#include "tamis_exchange.h"
#include "value/head.h"
#include "value/work.h"

#define LOCK_FILE "redis.lock"
#define PATH_ROOM 4096

static struct {
    tamis_store *store;
    uint64_t id;
    int lock; /* of the lock file; -1: not had */
    bool of_another;
} own = {.lock = -1};

/* The file stays open: whoever closes one of its descriptors loses the lock. */
static void take_lock(void)
{
    char path[PATH_ROOM];
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (own.lock < 0) {
        (void)snprintf(path, sizeof path, "%s/%s", config.store, LOCK_FILE);
        own.lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
    }
    own.of_another = own.lock < 0 || fcntl(own.lock, F_SETLK, &lock) != 0;
}

tamis_store *store_open(void)
{
    if (own.store != NULL) return own.store;
    if (tamis_store_open(config.store, TAMIS_OPEN_CREATE, &own.store) < 0) {
        own.store = NULL;
        return NULL;
    }
    own.id = tamis_store_id(own.store);
    take_lock();
    busy_watch(own.store);
    return own.store;
}

tamis_store *store_is_open(void)
{
    return own.store;
}

bool store_is_of_another(void)
{
    return own.of_another;
}

uint64_t store_id(void)
{
    return own.id;
}

#define LOOKS_MAX 100

int store_by_name(const struct id *id, int (*fn)(void *context, tamis_store *store, const char *),
                  void *context)
{
    char name[TAMIS_NAME_MAX + 1];
    int rc = TAMIS_ENOTFOUND;
    for (int i = 0; rc == TAMIS_ENOTFOUND && i < LOOKS_MAX; i++) {
        rc = tamis_filter_find_id(own.store, id->bytes, name);
        if (rc == 0) return TAMIS_EDROPPED;
        if (rc == 1) rc = fn(context, own.store, name);
    }
    return rc;
}

int store_import_head(const char *name, bool exact, bool durable, const unsigned char *head,
                      size_t bytes, tamis_filter **filter)
{
    unsigned char framed[HEAD_FRAME_BYTES + HEAD_ROOM];
    struct memory_source memory = {.at = head, .left = bytes - sizeof(uint32_t)};
    if (exact)
        memory = (struct memory_source){.at = framed, .left = head_frame(head, bytes, framed)};
    const struct tamis_import_spec spec = {.size = sizeof spec,
                                           .flags = TAMIS_IMPORT_HEAD | TAMIS_IMPORT_OWNED |
                                                    (durable ? TAMIS_IMPORT_DURABLE : 0) |
                                                    (exact ? TAMIS_IMPORT_AS_THERE : 0)};
    const struct tamis_source source = {
        .size = sizeof source, .read = memory_read, .context = &memory, .bytes = memory.left};
    return tamis_filter_import(own.store, name, exact ? "redisbloom" : "tamis", &spec, &source,
                               filter);
}

/* ---- Claims ---------------------------------------------------------------------------------- */

/* Under the lock. */
static struct {
    struct id *ids;
    size_t count, room;
} claims;

void store_claim(const struct id *id)
{
    work_lock();
    if (claims.count == claims.room) {
        claims.room = 2 * claims.room + 16;
        claims.ids = RedisModule_Realloc(claims.ids, claims.room * sizeof *claims.ids);
    }
    claims.ids[claims.count++] = *id;
    work_unlock();
}

static size_t find_claim(const struct id *id)
{
    size_t i = 0;
    while (i < claims.count && !id_is(&claims.ids[i], id))
        i++;
    return i;
}

void store_unclaim(const struct id *id)
{
    work_lock();
    const size_t i = find_claim(id);
    if (i < claims.count) claims.ids[i] = claims.ids[--claims.count];
    if (claims.count == 0) {
        RedisModule_Free(claims.ids);
        claims.ids = NULL;
        claims.room = 0;
    }
    work_unlock();
}

bool store_is_claimed(const struct id *id)
{
    work_lock();
    const bool claimed = find_claim(id) < claims.count;
    work_unlock();
    return claimed;
}
