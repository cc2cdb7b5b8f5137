/* SPDX-License-Identifier: BSD-2-Clause */
/* value.c: see value.h. */
#include "value/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "server/config.h"
#include "value/guest.h"

RedisModuleType *value_types[TYPES], *value_type_of_valkey;
const struct guest *guest;

_Static_assert(sizeof(struct value) <= 24, "there may be a million values");

static uint64_t counts[HOMES]; /* atomic, relaxed: numbers by themselves */

RedisModuleType *value_type_of(const struct value *value)
{
    return value->as_valkey ? value_type_of_valkey : value_types[value->type];
}

/* Random bits are taken from the system some at a time: a call for each id would take longer than
 * all else that makes a small filter. */
struct id id_draw(void)
{
    static struct {
        struct id ids[128];
        size_t left;
    } drawn;
    if (drawn.left == 0) {
        size_t got = 0;
        while (got < sizeof drawn.ids) {
            const ssize_t now = getrandom((char *)drawn.ids + got, sizeof drawn.ids - got, 0);
            if (now > 0) got += (size_t)now;
        }
        drawn.left = sizeof drawn.ids / sizeof drawn.ids[0];
    }
    return drawn.ids[--drawn.left];
}

const char *id_digits(const struct id *id, char name[TAMIS_ID_NAME_BYTES])
{
    tamis_id_name(id->bytes, name);
    return strchr(name, ':') + 1;
}

bool id_read(const char *text, struct id *id)
{
    for (size_t i = 0; i < TAMIS_ID_BYTES; i++) {
        unsigned byte;
        if (sscanf(text + 2 * i, "%2x", &byte) != 1) return false;
        id->bytes[i] = (uint8_t)byte;
    }
    return true;
}

struct value *value_new(enum type type)
{
    struct value *value = RedisModule_Calloc(1, sizeof *value);
    value->type = type;
    value->home = HOMES;
    value->as_valkey = type == TYPE_BLOOM && config.like == LIKE_VALKEY;
    return value;
}

void value_leave(const struct value *value)
{
    if (value->home < HOMES) (void)__atomic_fetch_sub(&counts[value->home], 1, __ATOMIC_RELAXED);
}

void value_settle(struct value *value, enum home home, void *content)
{
    value_leave(value);
    value->home = home;
    value->memory = content;
    (void)__atomic_fetch_add(&counts[home], 1, __ATOMIC_RELAXED);
}

uint64_t value_count(enum home home)
{
    return __atomic_load_n(&counts[home], __ATOMIC_RELAXED);
}
