/* SPDX-License-Identifier: BSD-2-Clause */
/* reply.c: see reply.h. */
#include "value/reply.h"

#include <stdio.h>

#include "server/names.h"
#include "value/stored.h"

#define TEXT_ROOM 1200

/* Does the text begin with the name of an id, of a filter that a key has?  Writes how that is
 * called, and returns the bytes of the one name; 0: no. */
static size_t name_at(const char *text, char name[NAME_ROOM])
{
    struct id id;
    char its_name[TAMIS_ID_NAME_BYTES];
    const char *colon = strchr(text, ':');
    if (colon == NULL || !id_read(colon + 1, &id)) return 0;
    tamis_id_name(id.bytes, its_name);
    if (strncmp(text, its_name, strlen(its_name)) != 0) return 0;
    const struct stored *stored = stored_find(&id);
    if (stored == NULL || stored->key == NULL) return 0;
    name_of_key(stored->db, stored->key, stored->key_bytes, name);
    return strlen(its_name);
}

static void append(char text[TEXT_ROOM], size_t *count, const char *what, size_t bytes)
{
    if (bytes > TEXT_ROOM - 1 - *count) bytes = TEXT_ROOM - 1 - *count;
    memcpy(text + *count, what, bytes);
    *count += bytes;
    text[*count] = '\0';
}

int reply_sentence(RedisModuleCtx *ctx, const char *what, const char *sentence)
{
    char text[TEXT_ROOM], name[NAME_ROOM];
    size_t count = (size_t)snprintf(text, sizeof text, "ERR %s: ", what);
    for (const char *c = sentence; *c != '\0';) {
        const size_t bytes = *c == 'r' ? name_at(c, name) : 0;
        if (bytes > 0)
            append(text, &count, name, strlen(name));
        else
            append(text, &count, *c == '\r' || *c == '\n' ? " " : c, 1); /* they would end it */
        c += bytes > 0 ? bytes : 1;
    }
    RedisModule_Log(ctx, "warning", "%s", text + 4);
    return RedisModule_ReplyWithError(ctx, text);
}

int reply_failure(RedisModuleCtx *ctx, const char *what)
{
    return reply_sentence(ctx, what, tamis_last_error());
}
