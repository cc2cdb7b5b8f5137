/* SPDX-License-Identifier: BSD-2-Clause */
/* step.c: what a step gives: keys, names, flags, specs. */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

void *step_memory(struct step *step, size_t bytes)
{
    void *memory = calloc(1, bytes + 1);
    void **kept = realloc(step->kept, (step->kept_count + 1) * sizeof *kept);
    if (memory == NULL || kept == NULL) errx(3, "out of memory");
    step->kept = kept;
    kept[step->kept_count++] = memory;
    return memory;
}

static const char *text_of(json_t *value)
{
    const char *bytes = json_string_value(value);
    return bytes != NULL && strlen(bytes) == json_string_length(value) ? bytes : NULL;
}

const char *text(const struct step *step, const char *name)
{
    return text_of(json_object_get(step->with, name));
}

int64_t number(const struct step *step, const char *name)
{
    return json_integer_value(json_object_get(step->with, name));
}

uint32_t flags_of(json_t *list, const struct flag *known)
{
    uint32_t flags = 0;
    size_t index;
    json_t *value;
    json_array_foreach(list, index, value)
    {
        const struct flag *flag = known;
        while (flag->word != NULL && strcmp(flag->word, json_string_value(value)) != 0)
            flag++;
        if (flag->word == NULL) return UINT32_MAX; /* the library refuses that */
        flags |= flag->value;
    }
    return flags;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static uint8_t digit(char c)
{
    return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

struct tamis_key key_of(struct step *step, json_t *value)
{
    if (json_is_string(value))
        return (struct tamis_key){json_string_value(value), json_string_length(value)};
    const char *digits = json_string_value(json_object_get(value, "hex"));
    const size_t bytes = strlen(digits) / 2;
    uint8_t *data = step_memory(step, bytes);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (uint8_t)(digit(digits[2 * i]) << 4 | digit(digits[2 * i + 1]));
    return (struct tamis_key){bytes > 0 ? data : NULL, bytes};
}

struct tamis_key key(struct step *step, const char *name)
{
    return key_of(step, json_object_get(step->with, name));
}

struct tamis_key *keys_of(struct step *step, json_t *list, size_t *count)
{
    *count = json_array_size(list);
    struct tamis_key *keys = step_memory(step, *count * sizeof *keys);
    for (size_t i = 0; i < *count; i++)
        keys[i] = key_of(step, json_array_get(list, i));
    return keys;
}

const char **names(struct step *step, const char *name, size_t *count)
{
    json_t *list = json_object_get(step->with, name);
    *count = json_array_size(list);
    const char **texts = step_memory(step, *count * sizeof *texts);
    for (size_t i = 0; i < *count; i++)
        texts[i] = text_of(json_array_get(list, i));
    return texts;
}

tamis_filter **filters(struct step *step, const char *name, size_t *count)
{
    const char **called = names(step, name, count);
    tamis_filter **all = step_memory(step, *count * sizeof(tamis_filter *));
    for (size_t i = 0; i < *count; i++)
        all[i] = handle_of(called[i], IS_FILTER);
    return all;
}

/* ---- Specs ----------------------------------------------------------------------------------- */

static uint32_t number_of_word(json_t *value, const char *(*name)(uint32_t), uint32_t first)
{
    if (!json_is_string(value)) return 0;
    for (uint32_t i = first; name(i) != NULL; i++)
        if (strcmp(name(i), json_string_value(value)) == 0) return i;
    return UINT32_MAX;
}

uint32_t kind_of(json_t *value)
{
    uint32_t kind = 0;
    if (json_is_string(value) && tamis_kind_from_name(json_string_value(value), &kind) < 0)
        return UINT32_MAX;
    return kind;
}

static const struct flag filter_flags[] = {{"DURABLE", TAMIS_FILTER_DURABLE},
                                           {"OWNED", TAMIS_FILTER_OWNED},
                                           {"FROM_FIRST", TAMIS_FILTER_FROM_FIRST},
                                           {NULL, 0}};

struct tamis_filter_spec *spec_of(struct step *step, json_t *object)
{
    if (!json_is_object(object)) return NULL;
    struct tamis_filter_spec *spec = step_memory(step, sizeof *spec);
    json_t *secret = json_object_get(object, "secret");
#define INTEGER(type, name) spec->name = (type)json_integer_value(json_object_get(object, #name))
    spec->size = sizeof *spec;
    INTEGER(uint64_t, capacity);
    spec->fp_rate = json_number_value(json_object_get(object, "fp_rate"));
    spec->kind = kind_of(json_object_get(object, "kind"));
    INTEGER(uint32_t, k);
    INTEGER(uint64_t, m_bits);
    spec->hash_set = text_of(json_object_get(object, "hash_set"));
    spec->key_rule = text_of(json_object_get(object, "key_rule"));
    INTEGER(uint64_t, seed);
    spec->on_full = number_of_word(json_object_get(object, "on_full"), tamis_on_full_name, 1);
    INTEGER(uint32_t, slices);
    INTEGER(int64_t, window_ns);
    INTEGER(uint64_t, window_items);
    INTEGER(uint32_t, counter_bits);
#undef INTEGER
    spec->flags = flags_of(json_object_get(object, "flags"), filter_flags);
    spec->pages = number_of_word(json_object_get(object, "pages"), tamis_pages_name, 0);
    if (secret != NULL) {
        json_t *value = json_pack("{s:O}", "hex", secret);
        memcpy(spec->secret, key_of(step, value).data, sizeof spec->secret);
        json_decref(value);
    }
    return spec;
}
