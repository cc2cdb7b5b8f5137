/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * failures.c: shards that fail, told in one sentence; shards that are gone.
 *
 * A shard's key can go while its filter's descriptor stays: an asynchronous failover loses a key
 * that no replica had yet, and DEL takes any.  All that was in it is forgotten then.  A new, empty
 * shard in its place would answer NEW for keys that were told before, so nothing makes one by
 * itself: commands tell which shards are gone, and `repair` makes them anew.
 */
#include "command.h"
#include "filter.h"

#define GONE "ERR not found"

void failures_add(struct failures *failures, const struct request *request, const redisReply *reply)
{
    struct failed *of = reply_is_error(reply, GONE) ? &failures->lost : &failures->others;
    if (of->count == 0) of->reply = reply;
    if (of->count < FAILURES_NAMED) of->named[of->count] = request;
    of->count++;
}

/* "'seen:{3}' (10.0.0.1:7000), 'seen:{9}' (10.0.0.2:7000) and 5 more".  The caller frees it. */
static char *names_of(const struct failed *failed)
{
    char *all = cli_strdup("");
    const uint32_t named = failed->count < FAILURES_NAMED ? failed->count : FAILURES_NAMED;
    for (uint32_t i = 0; i < named; i++) {
        const struct request *request = failed->named[i];
        char *more = cli_format("%s%s'%s' (%s)", all, i > 0 ? ", " : "", request->argv[1],
                                request->node != NULL ? node_name(request->node) : "no node");
        free(all);
        all = more;
    }
    if (failed->count == named) return all;
    char *more = cli_format("%s and %u more", all, failed->count - named);
    free(all);
    return more;
}

static void tell_lost(const struct failed *lost, const struct remote_filter *filter)
{
    char *names = names_of(lost);
    cli_tell(
        "filter '%s': %u of its %u shards %s gone: %s; the keys in %s are lost unless you have "
        "a copy: import it under the name of the shard, or run 'tamis repair %s', which makes "
        "%s anew, empty, so that those keys are new again",
        filter->name, lost->count, filter->shards, lost->count > 1 ? "are" : "is", names,
        lost->count > 1 ? "them" : "it", filter->name, lost->count > 1 ? "them" : "it");
    free(names);
}

static void tell_others(const struct failed *others, const struct remote_filter *filter,
                        const char *command)
{
    char *names = names_of(others);
    char *trouble = reply_trouble(filter->store, command, others->reply);
    cli_tell("filter '%s': %u of its %u shards failed: %s: %s", filter->name, others->count,
             filter->shards, names, trouble);
    free(trouble);
    free(names);
}

int failures_tell(const struct failures *failures, const struct remote_filter *filter,
                  const char *command)
{
    const struct failed *lost = &failures->lost, *others = &failures->others;
    if (lost->count + others->count == 0) return 0;
    if (filter->shards == 0)
        return reply_fail(filter->store, command, lost->count > 0 ? lost->reply : others->reply);
    if (lost->count > 0) tell_lost(lost, filter);
    if (others->count > 0) tell_others(others, filter, command);
    return -1;
}

/* ---- Shards that are gone -------------------------------------------------------------------- */

struct request *failures_ask(struct remote_filter *filter, struct failures *failures)
{
    struct request *requests = ASK_EACH(filter, false, "TAMIS.INFO");
    if (requests == NULL) return NULL;
    for (uint32_t i = 0; i < filter_keys(filter); i++)
        if (requests[i].reply->type != REDIS_REPLY_ARRAY)
            failures_add(failures, &requests[i], requests[i].reply);
    if (failures->others.count == 0) return requests;
    (void)failures_tell(failures, filter, "TAMIS.INFO");
    each_free(filter, requests);
    return NULL;
}

int failures_look(struct remote_filter *filter)
{
    struct failures failures = {0};
    struct request *requests = failures_ask(filter, &failures);
    if (requests == NULL) return -1;
    const int rc = failures_tell(&failures, filter, "TAMIS.INFO");
    each_free(filter, requests);
    return rc;
}
