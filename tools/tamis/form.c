/* SPDX-License-Identifier: BSD-2-Clause */
/* form.c: see form.h. */
#include "form.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"

void form_init(struct form *form, const char *key_rule, const struct tamis_key *key)
{
    const size_t room = sizeof form->small;
    const int64_t bytes = tamis_key_form(key_rule, key->data, key->bytes, form->small, room);
    form->key = (struct tamis_key){.data = form->small, .bytes = bytes > 0 ? (size_t)bytes : 0};
    if (form->key.bytes <= room) return;
    char *large = cli_alloc(form->key.bytes);
    if (tamis_key_form(key_rule, key->data, key->bytes, large, form->key.bytes) < 0)
        form->key.bytes = 0;
    form->key.data = large;
}

void form_clear(const struct form *form)
{
    if (form->key.data != form->small) free((void *)(uintptr_t)form->key.data);
}

uint32_t form_shard(const char *key_rule, const struct tamis_key *key, uint32_t shards)
{
    struct form form;
    if (key_rule == NULL) return tamis_shard(key->data, key->bytes, shards);
    form_init(&form, key_rule, key);
    const uint32_t shard = tamis_shard(form.key.data, form.key.bytes, shards);
    form_clear(&form);
    return shard;
}

#define NAME_BYTES_MAX 253u /* RFC 1035, 2.3.4 */
#define LABEL_BYTES_MAX 63u
#define OF_NAMES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

size_t form_suffixes(const struct tamis_key *form, uint8_t starts[FORM_LABELS_MAX])
{
    char name[NAME_BYTES_MAX + 1];
    size_t count = 0;
    starts[0] = 0;
    if (form->bytes == 0 || form->bytes > NAME_BYTES_MAX) return 1;
    memcpy(name, form->data, form->bytes);
    name[form->bytes] = '\0';
    for (const char *label = name;; label++) {
        const size_t bytes = strspn(label, OF_NAMES);
        const bool is_number = strspn(label, "0123456789") == bytes;
        if (bytes == 0 || bytes > LABEL_BYTES_MAX) return 1;
        starts[count++] = (uint8_t)(label - name);
        label += bytes;
        if (label == name + form->bytes) return is_number ? 1 : count;
        if (*label != '.') return 1;
    }
}
