/* SPDX-License-Identifier: BSD-2-Clause */
/* stat.c: what TAMIS.INFO says of a filter, summed over its shards. */
#include "command.h"
#include "filter.h"

const redisReply *info_value(const redisReply *all, const char *name)
{
    for (size_t i = 0; i + 1 < all->elements; i += 2)
        if (all->element[i]->str != NULL && strcmp(all->element[i]->str, name) == 0)
            return all->element[i + 1];
    return NULL;
}

/* ---- Fields, by the table of tamis_fields.h ------------------------------------------------- */

/* What no integer of a reply can hold is text. */
static uint64_t number_in(const redisReply *value)
{
    return value->type == REDIS_REPLY_STRING && value->str != NULL ? strtoull(value->str, NULL, 10)
                                                                   : (uint64_t)value->integer;
}

/* The value of a field in an answer; false: it is not there, as from a server that is older. */
static bool read_value(const struct tamis_field *field, const redisReply *info,
                       struct tamis_field_value *value)
{
    const redisReply *told = info_value(info, field->reply_name);
    if (told == NULL || field->type == TAMIS_FIELD_MADE) return false;
    *value = (struct tamis_field_value){.size = sizeof *value};
    value->text = told->str != NULL ? told->str : "";
    if (field->type == TAMIS_FIELD_REAL)
        value->real = strtod(value->text, NULL);
    else if (field->type == TAMIS_FIELD_LIMIT && told->type == REDIS_REPLY_NIL)
        value->number = UINT64_MAX;
    else
        value->number = number_in(told);
    value->ns = (int64_t)value->number;
    return true;
}

/* Returns the earlier of two times; 0 means that there is none. */
static int64_t earlier(int64_t a, int64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

static uint64_t add_limits(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Adds what the shards before have to the value of this one. */
static void sum_up(const struct tamis_field *field, struct tamis_field_value *value,
                   const struct tamis_field_value *before)
{
    switch (field->sum) {
    case TAMIS_SUM_ADD:
    case TAMIS_SUM_MEAN: /* divide_means() follows */
        value->number = add_limits(before->number, value->number);
        value->real += before->real;
        break;
    case TAMIS_SUM_MOST:
        if (before->number > value->number) value->number = before->number;
        if (before->ns > value->ns) value->ns = before->ns;
        break;
    case TAMIS_SUM_EARLIEST:
        value->ns = earlier(before->ns, value->ns);
        break;
    case TAMIS_SUM_BITS:
        value->number |= before->number;
        break;
    default:
        *value = *before;
    }
}

/* Sets all fields of a struct that the answer has; not the first shard's: adds them. */
static void take_fields(uint32_t of, void *record, const redisReply *info, bool first)
{
    struct tamis_field field = TAMIS_INIT(struct tamis_field);
    struct tamis_field_value value, before = TAMIS_INIT(struct tamis_field_value);
    for (uint32_t i = 0; tamis_field(of, TAMIS_SHOWN_BY_REPLY, i, &field) > 0; i++) {
        if (!read_value(&field, info, &value)) continue;
        if (!first && tamis_field_get(&field, record, &before) > 0) sum_up(&field, &value, &before);
        if (tamis_field_set(&field, record, &value) < 0) continue; /* no such kind here: 0 stays */
    }
}

static void divide_means(struct tamis_filter_stat *stat, uint32_t count)
{
    struct tamis_field field = TAMIS_INIT(struct tamis_field);
    struct tamis_field_value value = TAMIS_INIT(struct tamis_field_value);
    for (uint32_t i = 0; tamis_field(TAMIS_FIELDS_FILTER, TAMIS_SHOWN_BY_REPLY, i, &field) > 0;
         i++) {
        if (field.sum != TAMIS_SUM_MEAN || tamis_field_get(&field, stat, &value) <= 0) continue;
        value.real /= count;
        (void)!tamis_field_set(&field, stat, &value);
    }
}

/* The filter's name is its own, and not that which a shard has in the server's store. */
static void take_filter(const struct remote_filter *filter, struct tamis_filter_stat *stat,
                        const redisReply *info, bool first)
{
    take_fields(TAMIS_FIELDS_FILTER, stat, info, first);
    (void)snprintf(stat->name, sizeof stat->name, "%s", filter->name);
}

/* Keys spread evenly over the shards, so the whole's rate is the mean of theirs. */
int remote_stat(struct remote_filter *filter, struct tamis_filter_stat *stat)
{
    const uint32_t count = filter_keys(filter);
    struct failures failures = {0};
    struct request *requests = failures_ask(filter, &failures);
    int rc = requests != NULL ? 0 : -1;
    *stat = (struct tamis_filter_stat){.size = sizeof *stat, .room = UINT64_MAX};
    (void)snprintf(stat->name, sizeof stat->name, "%s", filter->name);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        const redisReply *info = requests[i].reply;
        if (info->type == REDIS_REPLY_ARRAY) take_filter(filter, stat, info, i == 0);
    }
    if (rc == 0) rc = failures_tell(&failures, filter, "TAMIS.INFO");
    divide_means(stat, count);
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

int remote_segments(struct remote_filter *filter, bool fill, struct tamis_filter_stat *stat,
                    struct tamis_segment_stat **segments)
{
    const char *key = filter_key(filter, 0);
    redisReply *info = ASK_ONE(filter->store, key, REDIS_REPLY_ARRAY, NULL, false, "TAMIS.INFO",
                               key, fill ? "FILL" : "SEGMENTS");
    *segments = NULL;
    if (info == NULL) return -1;
    *stat = (struct tamis_filter_stat){.size = sizeof *stat, .room = UINT64_MAX};
    take_filter(filter, stat, info, true);
    const redisReply *list = info_value(info, "segment list");
    int rc = list != NULL && list->elements == stat->segment_count ? 0 : -1;
    *segments = cli_alloc((stat->segment_count + 1) * sizeof **segments);
    for (uint32_t i = 0; rc == 0 && i < stat->segment_count; i++) {
        (*segments)[i] = (struct tamis_segment_stat){.size = sizeof **segments};
        if (list->element[i]->type == REDIS_REPLY_ARRAY)
            take_fields(TAMIS_FIELDS_SEGMENT, *segments + i, list->element[i], true);
        else
            rc = reply_fail(filter->store, "TAMIS.INFO", list->element[i]);
    }
    if (rc < 0 && (list == NULL || list->elements != stat->segment_count))
        rc = requests_fail(filter->store, "TAMIS.INFO", info);
    freeReplyObject(info);
    if (rc == 0) return 0;
    free(*segments);
    *segments = NULL;
    return -1;
}
