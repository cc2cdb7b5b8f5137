/* SPDX-License-Identifier: BSD-2-Clause */
/* remote.c: opening a remote store, and the table of what it can; see remote.h. */
#include "remote.h"

#include <poll.h>

#include "command.h"
#include "filter.h"

#define TIMEOUT_MS 30000 /* a cluster takes half of it to notice that a node is gone */
#define CONNECT_MS 1000  /* for the first try; a slow server gets longer ones */
#define PAUSE_MS 200     /* while a server loads */

/* The URL without what stands before the @. */
static char *shown_url(const struct redis_url *address)
{
    if (address->port == 0) return cli_format("unix://%s", address->host);
    return cli_format(strchr(address->host, ':') != NULL ? "%s://[%s]:%d" : "%s://%s:%d",
                      address->tls ? "rediss" : "redis", address->host, address->port);
}

static void take_options(struct remote *store, const struct invocation *call)
{
    const struct options *options = &call->options;
    store->tls = tls_settings_of(options);
    store->timeout_ms = cli_given(call, TAKES(TIMEOUT)) ? options->timeout_ms : TIMEOUT_MS;
    if (cli_given(call, TAKES(REPLICAS))) store->replicas = options->replicas;
    store->doubts_are_seen = cli_given(call, TAKES(NO_RETRY_NEW));
}

/* Asks until the server tells its slots, or the time is over: it may be starting, or be busy. */
static bool map_first(struct remote *store)
{
    const double end = progress_clock() + (double)store->timeout_ms / 1000;
    for (int64_t limit_ms = CONNECT_MS;; limit_ms *= 2) {
        bool fatal = false;
        if (cluster_map(store, limit_ms, &fatal)) return true;
        const int64_t left_ms = (int64_t)((end - progress_clock()) * 1000);
        if (fatal || !store->may_pass || interrupt_signal() || left_ms <= 0) break;
        if (limit_ms > left_ms / 2) limit_ms = left_ms / 2 + 1;
        (void)poll(NULL, 0, PAUSE_MS);
    }
    cli_tell("%s: %s%s", store->shown, store->trouble,
             strstr(store->trouble, "NOAUTH") != NULL ? "; put the password into the URL, or into "
                                                        "$REDISCLI_AUTH"
                                                      : "");
    return false;
}

void remote_close(struct remote *store)
{
    for (size_t i = 0; i < store->node_count; i++)
        node_free(store->nodes[i]);
    free(store->nodes);
    redis_url_clear(&store->address);
    free(store->shown);
    free(store);
}

/* The hosts that the URL names.  They are asked in this order until one answers. */
static void add_hosts(struct remote *store)
{
    const struct redis_url *address = &store->address;
    (void)cluster_node(store, address->host, strlen(address->host), address->port);
    for (size_t i = 0; i < address->other_count; i++)
        (void)cluster_node(store, address->others[i].host, strlen(address->others[i].host),
                           address->others[i].port);
}

struct remote *remote_open(const struct invocation *call, const char *url)
{
    struct remote *store = cli_alloc(sizeof *store);
    *store = (struct remote){.call = call};
    if (!redis_url_parse(url, &store->address)) {
        cli_tell("--store: the URL is not redis://[[USER]:PASSWORD@]HOST[:PORT][,HOST...][/DB], "
                 "the same with rediss:// (TLS), or "
                 "unix://[[USER]:PASSWORD@]/PATH, with special characters in the password as %%40 "
                 "for @");
        remote_close(store);
        return NULL;
    }
    store->shown = shown_url(&store->address);
    take_options(store, call);
    add_hosts(store);
    if (map_first(store)) return store;
    remote_close(store);
    return NULL;
}

struct remote_filter *remote_filter_open(struct remote *store, const char *name)
{
    return filter_find(store, name, NULL);
}

uint32_t remote_filter_shards(const struct remote_filter *filter)
{
    return filter->shards;
}

uint64_t remote_doubts(const struct remote_filter *filter)
{
    return filter->doubts;
}

int remote_tell_shards(struct remote_filter *filter, struct remote_shards *shards)
{
    *shards = (struct remote_shards){.shards = filter->shards,
                                     .capacity = filter->capacity,
                                     .fp_rate = filter->fp_rate,
                                     .kind = filter->kind,
                                     .seed = filter->seed};
    if (filter->key_rule != NULL)
        (void)snprintf(shards->key_rule, sizeof shards->key_rule, "%s", filter->key_rule);
    return failures_look(filter);
}

int remote_exists(struct remote *store, const char *name, const char *sentence)
{
    bool has = false;
    if (!store_has(store, name, &has)) return -1;
    if (has) return 1;
    (void)filter_fail_absent(store, name, sentence);
    return 0;
}

struct listing {
    struct remote *store;
    bool names_only;
    int (*each)(void *context, const struct tamis_filter_stat *stat);
    void *context;
    bool failed;
};

/* A filter that is dropped meanwhile, or that lacks a shard, fails here, and is told; the others
 * are shown.  Of a server that does not answer none is asked any more. */
static int list_one(void *context, const char *name)
{
    struct listing *listing = context;
    struct tamis_filter_stat stat = {.size = sizeof stat};
    (void)snprintf(stat.name, sizeof stat.name, "%s", name);
    if (!listing->names_only) {
        struct remote_filter *filter = filter_find(listing->store, name, NULL);
        const int rc = filter != NULL ? remote_stat(filter, &stat) : -1;
        remote_filter_close(filter);
        if (rc < 0) {
            listing->failed = true;
            return listing->store->gave_up ? -1 : 0;
        }
    }
    return listing->each(listing->context, &stat);
}

int remote_list(struct remote *store, const char *pattern, bool names_only,
                int (*each)(void *context, const struct tamis_filter_stat *stat), void *context)
{
    struct listing listing = {
        .store = store, .names_only = names_only, .each = each, .context = context};
    const int rc = store_each_name(store, pattern, list_one, &listing);
    return listing.failed ? -1 : rc;
}
