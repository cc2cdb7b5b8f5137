/* SPDX-License-Identifier: BSD-2-Clause */
/* stat.c: what TAMIS.INFO says of a filter, summed over its shards. */
#include "command.h"
#include "filter.h"

/* The value of a name in an answer of names and values; NULL: it is not there. */
static const redisReply *value_of(const redisReply *all, const char *name)
{
    for (size_t i = 0; i + 1 < all->elements; i += 2)
        if (all->element[i]->str != NULL && strcmp(all->element[i]->str, name) == 0)
            return all->element[i + 1];
    return NULL;
}

static uint64_t number_of(const redisReply *all, const char *name)
{
    const redisReply *value = value_of(all, name);
    if (value == NULL) return 0;
    /* What no integer of a reply can hold is text. */
    return value->type == REDIS_REPLY_STRING && value->str ? strtoull(value->str, NULL, 10)
                                                           : (uint64_t)value->integer;
}

static const char *text_of(const redisReply *all, const char *name)
{
    const redisReply *value = value_of(all, name);
    return value && value->str ? value->str : "";
}

static uint32_t on_full_of(const char *text)
{
    for (uint32_t i = TAMIS_ON_FULL_GROW; tamis_on_full_name(i) != NULL; i++)
        if (strcmp(tamis_on_full_name(i), text) == 0) return i;
    return 0;
}

/* The earlier of two times, where 0 is none. */
static int64_t earlier(int64_t a, int64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* What all shards have in common. */
static void take_common(struct tamis_filter_stat *stat, const redisReply *info)
{
    if (tamis_kind_from_name(text_of(info, "kind"), &stat->kind) < 0) stat->kind = 0;
    (void)snprintf(stat->hash_set, sizeof stat->hash_set, "%s", text_of(info, "hash set"));
    stat->k = (uint32_t)number_of(info, "hashes");
    stat->fp_rate = strtod(text_of(info, "rate"), NULL);
    stat->on_full = on_full_of(text_of(info, "when full"));
    stat->window_ns = (int64_t)number_of(info, "window ns");
    stat->slices = (uint32_t)number_of(info, "slices");
    stat->flags =
        (number_of(info, "durable") ? TAMIS_FILTER_DURABLE : 0) |
        (strcmp(text_of(info, "window from"), "first") == 0 ? TAMIS_FILTER_FROM_FIRST : 0);
    stat->seed = number_of(info, "seed");
    stat->window_items = number_of(info, "window items");
    stat->counter_bits = (uint32_t)number_of(info, "counter bits");
    stat->fingerprint_bits = (uint32_t)number_of(info, "fingerprint bits");
    stat->keep = (uint32_t)number_of(info, "keep");
}

static void add_shard(struct tamis_filter_stat *stat, const redisReply *info)
{
    stat->m_bits += number_of(info, "bits");
    stat->capacity += number_of(info, "capacity");
    stat->items += number_of(info, "items");
    stat->size_bytes += number_of(info, "bytes");
    stat->segment_count += (uint32_t)number_of(info, "segments");
    stat->exceptions += number_of(info, "exceptions");
    stat->predicted_rate += strtod(text_of(info, "rate now"), NULL);
    stat->bits_per_key += strtod(text_of(info, "bits per key"), NULL);
    stat->state |= (uint32_t)number_of(info, "states");
    if (number_of(info, "live slices") > stat->live_slices)
        stat->live_slices = number_of(info, "live slices");
    const uint64_t generation = number_of(info, "generation");
    if (generation > stat->generation) stat->generation = generation;
    stat->created_at = earlier(stat->created_at, (int64_t)number_of(info, "created ns"));
    stat->unclean_since =
        earlier(stat->unclean_since, (int64_t)number_of(info, "unclean since ns"));
    stat->degraded_since =
        earlier(stat->degraded_since, (int64_t)number_of(info, "degraded since ns"));
    if ((int64_t)number_of(info, "published ns") > stat->published_at)
        stat->published_at = (int64_t)number_of(info, "published ns");
    stat->checkpointed_at =
        earlier(stat->checkpointed_at, (int64_t)number_of(info, "checkpointed ns"));
}

/* Keys spread evenly over the shards, so the whole's rate is the mean of theirs. */
int filter_stat(struct remote_filter *filter, struct tamis_filter_stat *stat)
{
    const uint32_t count = filter_keys(filter);
    struct request *requests = ASK_EACH(filter, false, "TAMIS.INFO");
    struct failures failures = {0};
    int rc = requests != NULL ? 0 : -1;
    *stat = (struct tamis_filter_stat){.size = sizeof *stat, .room = UINT64_MAX};
    (void)snprintf(stat->name, sizeof stat->name, "%s", filter->name);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        const redisReply *info = requests[i].reply;
        if (info->type != REDIS_REPLY_ARRAY) {
            failures_add(&failures, &requests[i], info);
            continue;
        }
        if (i == 0) take_common(stat, info);
        add_shard(stat, info);
    }
    if (rc == 0) rc = failures_tell(&failures, filter, "TAMIS.INFO");
    stat->predicted_rate /= count;
    stat->bits_per_key /= count;
    if (filter->shards > 0) {
        stat->fp_rate = filter->fp_rate;
        /* What was asked for.  The shards have a little more room together, and more if they have
         * grown. */
        if (stat->segment_count == count) stat->capacity = filter->capacity;
    }
    each_free(filter, requests);
    return rc;
}

/* ---- Segments of a filter that is one key ---------------------------------------------------- */

static void take_segment(struct tamis_segment_stat *s, const redisReply *info)
{
    *s = (struct tamis_segment_stat){.size = sizeof *s,
                                     .number = number_of(info, "number"),
                                     .k = (uint32_t)number_of(info, "hashes"),
                                     .words = (uint32_t)number_of(info, "words"),
                                     .bit_order = (uint32_t)number_of(info, "bit order"),
                                     .m_bits = number_of(info, "bits"),
                                     .seed = number_of(info, "seed"),
                                     .capacity = number_of(info, "capacity"),
                                     .fp_rate = strtod(text_of(info, "rate"), NULL),
                                     .items = number_of(info, "items"),
                                     .file_bytes = number_of(info, "bytes"),
                                     .data_offset = number_of(info, "data offset"),
                                     .data_bytes = number_of(info, "data bytes"),
                                     .created_at = (int64_t)number_of(info, "created ns"),
                                     .ones = number_of(info, "ones"),
                                     .fill = strtod(text_of(info, "fill"), NULL),
                                     .fp_rate_now = strtod(text_of(info, "rate by fill"), NULL),
                                     .flags = number_of(info, "flags"),
                                     .slice = number_of(info, "slice"),
                                     .slice_start = (int64_t)number_of(info, "slice start ns"),
                                     .counter_bits = (uint32_t)number_of(info, "counter bits"),
                                     .step = (uint32_t)number_of(info, "step"),
                                     .pieces = (uint32_t)number_of(info, "pieces"),
                                     .items_estimated = number_of(info, "items by fill"),
                                     .fingerprint_bits =
                                         (uint32_t)number_of(info, "fingerprint bits")};
    if (tamis_kind_from_name(text_of(info, "kind"), &s->kind) < 0) s->kind = 0;
    (void)snprintf(s->hash_set, sizeof s->hash_set, "%s", text_of(info, "hash set"));
}

int filter_segments(struct remote_filter *filter, bool fill, struct tamis_filter_stat *stat,
                    struct tamis_segment_stat **segments)
{
    const char *key = filter_key(filter, 0);
    redisReply *info = ASK_ONE(filter->store, key, REDIS_REPLY_ARRAY, NULL, false, "TAMIS.INFO",
                               key, fill ? "FILL" : "SEGMENTS");
    *segments = NULL;
    if (info == NULL) return -1;
    *stat = (struct tamis_filter_stat){.size = sizeof *stat};
    (void)snprintf(stat->name, sizeof stat->name, "%s", filter->name);
    take_common(stat, info);
    add_shard(stat, info);
    const redisReply *list = value_of(info, "segment list");
    int rc = list != NULL && list->elements == stat->segment_count ? 0 : -1;
    *segments = cli_alloc((stat->segment_count + 1) * sizeof **segments);
    for (uint32_t i = 0; rc == 0 && i < stat->segment_count; i++) {
        if (list->element[i]->type == REDIS_REPLY_ARRAY)
            take_segment(*segments + i, list->element[i]);
        else
            rc = reply_fail(filter->store, "TAMIS.INFO", list->element[i]);
    }
    if (rc < 0 && (list == NULL || list->elements != stat->segment_count))
        rc = exchange_fail(filter->store, "TAMIS.INFO", info);
    freeReplyObject(info);
    if (rc == 0) return 0;
    free(*segments);
    *segments = NULL;
    return -1;
}
