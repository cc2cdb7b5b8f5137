/* SPDX-License-Identifier: BSD-2-Clause */
/* fields.c: structs of the library as arrays of PHP. */
#include "php_tamis.h"

static void add_word(zval *to, const char *name, const char *word)
{
    add_assoc_string(to, name, word ? word : "");
}

void stat_to_array(zval *to, const struct tamis_filter_stat *stat)
{
    array_init(to);
    add_word(to, "name", stat->name);
    add_word(to, "kind", tamis_kind_name(stat->kind));
    add_word(to, "hash_set", stat->hash_set);
    add_word(to, "on_full", tamis_on_full_name(stat->on_full));
    add_assoc_double(to, "fp_rate", stat->fp_rate);
    add_assoc_double(to, "predicted_rate", stat->predicted_rate);
    add_assoc_double(to, "bits_per_key", stat->bits_per_key);
#define NUMBER(name) add_assoc_long(to, #name, (zend_long)stat->name)
    NUMBER(capacity);
    NUMBER(items);
    NUMBER(m_bits);
    NUMBER(k);
    NUMBER(seed);
    NUMBER(size_bytes);
    NUMBER(generation);
    NUMBER(segment_count);
    NUMBER(state);
    NUMBER(created_at);
    NUMBER(published_at);
    NUMBER(checkpointed_at);
    NUMBER(window_ns);
    NUMBER(window_items);
    NUMBER(slices);
    NUMBER(live_slices);
    NUMBER(counter_bits);
    NUMBER(fingerprint_bits);
    NUMBER(exceptions);
    NUMBER(keep);
    NUMBER(unclean_since);
    NUMBER(degraded_since);
#undef NUMBER
    add_assoc_bool(to, "durable", (stat->flags & TAMIS_FILTER_DURABLE) != 0);
    if (stat->slices == 0)
        add_assoc_null(to, "window_from");
    else
        add_word(to, "window_from", stat->flags & TAMIS_FILTER_FROM_FIRST ? "first" : "last");
}

void result_to_array(zval *to, int is_published, const struct tamis_build_result *result)
{
    array_init(to);
    add_assoc_bool(to, "published", is_published);
#define NUMBER(name) add_assoc_long(to, #name, (zend_long)result->name)
    NUMBER(keys);
    NUMBER(distinct);
    NUMBER(generation);
    NUMBER(exceptions);
    NUMBER(found);
    NUMBER(conflicts);
    NUMBER(sampled);
    NUMBER(sampled_yes);
    NUMBER(size_bytes);
#undef NUMBER
    add_assoc_stringl(to, "key_digest", (const char *)result->key_digest,
                      sizeof result->key_digest);
}
