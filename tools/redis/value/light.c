/* SPDX-License-Identifier: BSD-2-Clause */
/* light.c: see light.h. */
#include "value/light.h"

#include <string.h>

#include "server/clock.h"
#include "value/handles.h"

/* 1 GiB of addresses, and as many mappings.  Filters of 512 bytes: two million. */
#define DRAWERS_MOST 4096u
#define LOOKS 64u
#define UNUSED_NS 60000000000

static tamis_store *store;
static tamis_cabinet *cabinet;

void light_set_store(tamis_store *of)
{
    tamis_cabinet_close(cabinet);
    cabinet = NULL;
    store = of;
}

static bool have_cabinet(void)
{
    if (cabinet == NULL && store != NULL && tamis_cabinet_open(store, DRAWERS_MOST, &cabinet) < 0)
        cabinet = NULL;
    return cabinet != NULL;
}

/* Looks for the filter in the store. */
static bool find(struct value *value)
{
    char name[NAME_ROOM];
    handles_name(value, name); /* a thread may be about to rename it */
    const bool found = tamis_light_find(cabinet, name, value->created_at, &value->light) == 1;
    value->lit = found ? LIGHT_LIT : LIGHT_NONE;
    return found;
}

/* Has the value a light handle, as far as anybody knows? */
static bool is_lit(struct value *value)
{
    if (value->filter != NULL || value->draft != NULL || value->lit == LIGHT_NONE ||
        !value_is_stored(value) || value->type != TYPE_BLOOM || value->durable ||
        handles_are_of_child() || !have_cabinet())
        return false;
    return value->lit == LIGHT_LIT || find(value);
}

int light_ask(struct value *value, const struct tamis_key *items, size_t count, uint8_t *answers)
{
    if (!is_lit(value)) return 0;
    if (tamis_light_ask(cabinet, &value->light, items, count, answers) == 1) return 1;
    value->lit = LIGHT_NONE;
    return 0;
}

int light_segment(struct value *value, struct tamis_segment_stat *stat)
{
    if (!is_lit(value)) return 0;
    if (tamis_light_segment(cabinet, &value->light, stat) == 1) return 1;
    value->lit = LIGHT_NONE;
    return 0;
}

int light_has(const char *name, int64_t created_at, const struct tamis_key *keys, size_t count,
              struct tamis_segment_stat *stat)
{
    enum { AT_ONCE = 1024 };
    uint8_t answers[AT_ONCE];
    if (!have_cabinet()) return -1;
    size_t at = 0;
    do {
        const size_t left = count - at, now = left < AT_ONCE ? left : AT_ONCE;
        if (tamis_cabinet_ask(cabinet, name, created_at, keys + at, now, answers, stat) != 1)
            return -1;
        if (memchr(answers, 0, now) != NULL) return 0;
        at += now;
    } while (at < count);
    return 1;
}

/* A stream in memory. */
struct written {
    char *data;
    size_t bytes;
};

static int write_on(void *context, const void *data, size_t bytes)
{
    struct written *written = context;
    written->data = RedisModule_Realloc(written->data, written->bytes + bytes);
    memcpy(written->data + written->bytes, data, bytes);
    written->bytes += bytes;
    return 0;
}

void *light_stream(const char *name, int64_t created_at, size_t *bytes)
{
    struct written written = {.data = NULL};
    const struct tamis_sink sink = {.size = sizeof sink, .write = write_on, .context = &written};
    const bool done = have_cabinet() && tamis_cabinet_export(cabinet, name, created_at,
                                                             TAMIS_EXPORT_WITH_KEY, &sink) == 1;
    *bytes = written.bytes;
    if (done) return written.data;
    RedisModule_Free(written.data);
    return NULL;
}

/* The cabinet of a child is its own: that of its parent has a mapping for each drawer already, and
 * is left as it is. */
static bool have_own_cabinet(void)
{
    static bool of_child;
    if (handles_are_of_child() && !of_child) {
        of_child = true;
        cabinet = NULL;
    }
    return have_cabinet();
}

bool light_export(const struct value *value, const struct tamis_sink *sink)
{
    char name[NAME_ROOM];
    if (value->draft != NULL || !value_is_stored(value) || value->type != TYPE_BLOOM ||
        value->durable || value_is_static(value) || !have_own_cabinet())
        return false;
    handles_name(value, name); /* a thread may be about to rename it */
    return tamis_cabinet_export(cabinet, name, value->created_at, TAMIS_EXPORT_WITH_KEY, sink) == 1;
}

void light_forget(uint64_t number)
{
    tamis_cabinet_forget(cabinet, number);
}

void light_tidy(void)
{
    static uint32_t looked;
    static int64_t began;
    static bool unused;
    if (cabinet == NULL) return;
    if (looked >= DRAWERS_MOST) { /* the next round */
        const int64_t now = clock_ns();
        looked = 0;
        unused = now - began >= UNUSED_NS;
        if (unused) began = now;
    }
    looked += LOOKS;
    (void)tamis_cabinet_tidy(cabinet, LOOKS, unused);
}

uint64_t light_drawers(void)
{
    return cabinet == NULL ? 0 : (uint64_t)tamis_cabinet_tidy(cabinet, 0, false);
}
