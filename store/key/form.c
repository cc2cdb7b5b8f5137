/* SPDX-License-Identifier: BSD-2-Clause */
/* form.c: see form.h. */
#include "key/form.h"

#include "key/idn.h"
#include "key/name.h"
#include "key/url.h"

/* The usual block; a longer form gets one of its own. */
#define BLOCK_BYTES ((size_t)65536)

struct tamis__form_block {
    struct tamis__form_block *next;
    size_t bytes;
    unsigned char data[];
};

/* Returns room for so many bytes; NULL: memory is out. */
static unsigned char *take_room(struct tamis__form_room *room, size_t bytes)
{
    struct tamis__form_block *block = room->blocks;
    if (block == NULL && sizeof room->small - room->used >= bytes) return room->small + room->used;
    if (block == NULL || block->bytes - room->used < bytes) {
        const size_t wanted = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        block = malloc(sizeof *block + wanted);
        if (block == NULL) {
            (void)tamis__fail(TAMIS_ENOMEM, "out of memory making the form of a key of %zu bytes",
                              bytes);
            return NULL;
        }
        block->next = room->blocks;
        block->bytes = wanted;
        room->blocks = block;
        room->used = 0;
    }
    return block->data + room->used;
}

/* A name in another script, whose form is a name in ASCII.  All else stays as it is. */
static int form_idn(const unsigned char *name, size_t bytes, struct tamis__form_room *room,
                    struct tamis_key *form)
{
    struct tamis_key made = {0};
    if (bytes == 0 || !tamis__idn_is_needed(name, name + bytes)) return 0;
    unsigned char *at = take_room(room, TAMIS__IDN_BYTES_MAX);
    if (at == NULL) return TAMIS_ENOMEM;
    const int idn_bytes = tamis__idn_write(name, bytes, at);
    if (idn_bytes <= 0) return idn_bytes;
    if (tamis__name_look(at, (size_t)idn_bytes, &made.bytes) == TAMIS__NAME_NONE) return 0;
    made.data = at;
    room->used += made.bytes;
    *form = made;
    return 0;
}

static int form_name(const struct tamis__key_rule *rule, const unsigned char *name, size_t bytes,
                     struct tamis__form_room *room, struct tamis_key *form)
{
    size_t form_bytes;
    const enum tamis__name_sort sort = tamis__name_look(name, bytes, &form_bytes);
    if (sort == TAMIS__NAME_NONE && (rule->options & TAMIS__KEY_IDN) != 0)
        return form_idn(name, bytes, room, form);
    if (sort != TAMIS__NAME_OTHER) return 0;
    unsigned char *at = take_room(room, form_bytes);
    if (at == NULL) return TAMIS_ENOMEM;
    tamis__name_write(name, form_bytes, at);
    room->used += form_bytes;
    *form = (struct tamis_key){.data = at, .bytes = form_bytes};
    return 0;
}

static int form_url(const struct tamis__key_rule *rule, const unsigned char *url, size_t bytes,
                    struct tamis__form_room *room, struct tamis_key *form)
{
    if (bytes > TAMIS__URL_BYTES_MAX || tamis__url_is_form(rule, url, bytes)) return 0;
    unsigned char *at = take_room(room, tamis__url_room_bytes(rule, url, bytes));
    if (at == NULL) return TAMIS_ENOMEM;
    const int64_t form_bytes = tamis__url_write(rule, url, bytes, at);
    if (form_bytes <= 0) return (int)form_bytes;
    room->used += (size_t)form_bytes;
    *form = (struct tamis_key){.data = at, .bytes = (size_t)form_bytes};
    return 0;
}

int tamis__form_key(const struct tamis__key_rule *rule, const void *key, size_t bytes,
                    struct tamis__form_room *room, struct tamis_key *form)
{
    *form = (struct tamis_key){.data = key, .bytes = bytes};
    if (rule->id == TAMIS__KEY_NAME) return form_name(rule, key, bytes, room, form);
    return rule->id == TAMIS__KEY_URL ? form_url(rule, key, bytes, room, form) : 0;
}

int tamis__form_keys(const struct tamis__key_rule *rule, const struct tamis_key *keys, size_t count,
                     struct tamis__form_room *room, struct tamis_key *forms)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = tamis__form_key(rule, keys[i].data, keys[i].bytes, room, &forms[i]);
    return rc;
}

static void free_blocks(struct tamis__form_block *block)
{
    while (block != NULL) {
        struct tamis__form_block *next = block->next;
        free(block);
        block = next;
    }
}

void tamis__form_room_reuse(struct tamis__form_room *room)
{
    room->used = 0;
    if (room->blocks == NULL) return;
    free_blocks(room->blocks->next);
    room->blocks->next = NULL;
}

void tamis__form_room_clear(struct tamis__form_room *room)
{
    free_blocks(room->blocks);
    tamis__form_room_init(room);
}

void tamis__form_walk_begin(struct tamis__form_walk *walk, const struct tamis__key_rule *rule,
                            const struct tamis_key *keys, size_t count)
{
    walk->rule = rule;
    walk->keys = keys;
    walk->count = count;
    walk->done = walk->now = 0;
    tamis__form_room_init(&walk->room);
}

int64_t tamis__form_walk_next(struct tamis__form_walk *walk)
{
    walk->done += walk->now;
    const size_t left = walk->count - walk->done;
    walk->now = left < TAMIS__FORMS_AT_ONCE ? left : TAMIS__FORMS_AT_ONCE;
    tamis__form_room_reuse(&walk->room);
    const int rc =
        tamis__form_keys(walk->rule, walk->keys + walk->done, walk->now, &walk->room, walk->forms);
    return rc < 0 ? rc : (int64_t)walk->now;
}

void tamis__form_walk_end(struct tamis__form_walk *walk)
{
    tamis__form_room_clear(&walk->room);
}

TAMIS_API int64_t tamis_key_form(const char *key_rule, const void *key, size_t key_bytes,
                                 void *form, size_t form_bytes)
{
    struct tamis__key_rule rule;
    struct tamis__form_room room;
    struct tamis_key made = {0};
    if (key == NULL && key_bytes > 0) return tamis__fail_null_key(0);
    if (form == NULL && form_bytes > 0) return tamis__fail_null(__func__, "form");
    tamis__form_room_init(&room);
    int rc = tamis__key_rule_parse(key_rule, &rule);
    if (rc == 0) rc = tamis__form_key(&rule, key, key_bytes, &room, &made);
    if (rc == 0 && made.bytes <= form_bytes && made.bytes > 0) memcpy(form, made.data, made.bytes);
    tamis__form_room_clear(&room);
    return rc < 0 ? rc : (int64_t)made.bytes;
}
