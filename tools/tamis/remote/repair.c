/* SPDX-License-Identifier: BSD-2-Clause */
/* repair.c: the shards of a filter whose keys are gone are made anew, like one that is there; see
 * failures.c. */
#include "command.h"
#include "filter.h"

/* Makes the shard like another one of the filter. */
static int make_anew(struct remote_filter *filter, uint32_t shard, uint32_t like)
{
    struct remote_filter to = {.store = filter->store,
                               .name = (char *)(uintptr_t)filter_key(filter, shard)};
    struct remote_filter from = {.store = filter->store,
                                 .name = (char *)(uintptr_t)filter_key(filter, like)};
    return change_make_like(&to, &from);
}

int remote_repair(struct remote_filter *filter, bool dry, remote_repair_fn *each, void *context)
{
    struct failures failures = {0};
    uint32_t like = 0;
    int rc = 0;
    struct request *requests = failures_ask(filter, &failures);
    if (requests == NULL) return -1;
    const uint32_t count = filter_keys(filter);
    while (like < count && requests[like].reply->type != REDIS_REPLY_ARRAY)
        like++;
    if (like == count) {
        cli_tell("filter '%s': all of its %u shards are gone; 'tamis drop %s' takes away what "
                 "describes it, and 'tamis create' makes it anew",
                 filter->name, filter->shards, filter->name);
        rc = -1;
    }
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        if (requests[i].reply->type == REDIS_REPLY_ARRAY) continue;
        if (!dry) rc = make_anew(filter, i, like);
        if (rc == 0) each(context, filter_key(filter, i), node_name(requests[i].node));
    }
    each_free(filter, requests);
    return rc < 0 ? -1 : (int)failures.lost.count;
}
