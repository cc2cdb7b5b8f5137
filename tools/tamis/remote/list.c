/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list.c: the filters of a remote store, found by SCAN on all nodes.
 *
 * A key `name:{i}` stands for the sharded filter `name` if a descriptor says so, whichever of the
 * shards are there, and for nothing of its own.  Keys whose names are no names of filters (other
 * bytes than UTF-8, control characters, more than 255 bytes) are left out.
 */
#include <limits.h>

#include "command.h"
#include "filter.h"
#include "names.h"
#include "pattern.h"

static bool is_name(const redisReply *key)
{
    const struct tamis_filter_spec any = {.size = sizeof any, .capacity = 1};
    return key->type == REDIS_REPLY_STRING && strlen(key->str) == key->len &&
           tamis_filter_check(NULL, key->str, &any) == 0;
}

/* MATCH's pattern for a prefix. */
static char *pattern_of(const char *prefix)
{
    char *pattern = cli_alloc(2 * strlen(prefix) + 2), *end = pattern;
    for (; *prefix != '\0'; prefix++) {
        if (strchr("*?[]\\", *prefix) != NULL) *end++ = '\\';
        *end++ = *prefix;
    }
    *end++ = '*';
    *end = '\0';
    return pattern;
}

/* Scans one node for keys of one type, to its end or for at most `rounds` rounds. */
static bool scan_node(struct remote *store, struct node *node, const char *pattern,
                      const char *type, unsigned rounds, struct names *found)
{
    char cursor[32] = "0";
    do {
        const char *argv[] = {"SCAN", cursor, "MATCH", pattern, "COUNT", "1000", "TYPE", type};
        struct request request = {.at = node, .argc = 8, .argv = argv};
        bool good = requests_complete(store, &request, 1);
        const redisReply *reply = request.reply;
        if (good && (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
                     reply->element[0]->type != REDIS_REPLY_STRING ||
                     reply->element[0]->len >= sizeof cursor ||
                     reply->element[1]->type != REDIS_REPLY_ARRAY)) {
            (void)requests_fail(store, "SCAN", reply);
            good = false;
        }
        for (size_t i = 0; good && i < reply->element[1]->elements; i++) {
            const redisReply *key = reply->element[1]->element[i];
            if (is_name(key)) names_add(found, key->str);
        }
        if (good) memcpy(cursor, reply->element[0]->str, reply->element[0]->len + 1);
        requests_clear(&request, 1);
        if (!good) return false;
    } while (strcmp(cursor, "0") != 0 && --rounds > 0);
    return true;
}

/* Filters of BF.*, also with tamis.like valkey, and those of CF.*, which count. */
static const char *const types[] = {"MBbloom--", "bloomfltr", "MBbloomCF"};

/* SCAN may tell a key twice, and two nodes both tell a key that moves between them meanwhile. */
static bool scan_all(struct remote *store, const char *prefix, unsigned rounds, struct names *found)
{
    char *pattern = pattern_of(prefix != NULL ? prefix : "");
    bool good = true;
    for (size_t i = 0; good && i < store->node_count; i++) {
        bool has_slots = false;
        for (size_t slot = 0; slot < SLOTS && !has_slots; slot++)
            has_slots = store->slots[slot] == store->nodes[i];
        for (size_t type = 0; has_slots && good && type < sizeof types / sizeof *types; type++)
            good = scan_node(store, store->nodes[i], pattern, types[type], rounds, found);
    }
    free(pattern);
    return good;
}

/* Returns how many bytes of the name of a shard are its filter's name; 0: it is no name of a
 * shard. */
static size_t shard_base(const char *key)
{
    const size_t bytes = strlen(key);
    if (bytes < 5 || key[bytes - 1] != '}') return 0;
    size_t at = bytes - 1;
    while (at > 0 && key[at - 1] >= '0' && key[at - 1] <= '9')
        at--;
    if (at == bytes - 1 || at < 3 || key[at - 1] != '{' || key[at - 2] != ':') return 0;
    return at - 2;
}

/* Keys that are named like the first two shards of a filter, and none that describes it.  It may be
 * meant so: other programs put what is in braces into the names of keys, too. */
static void note_lost_descriptor(const struct names *keys, const char *name)
{
    char *first = cli_format("%s:{0}", name), *second = cli_format("%s:{1}", name);
    if (names_have(keys, first) && names_have(keys, second))
        cli_tell("note: '%s' and '%s' are named like shards of a filter '%s', but there is no key "
                 "'%s' that describes it; if it was lost, 'tamis create %s --if-missing', with the "
                 "-n, -p and --shards that it was made with, describes them anew",
                 first, second, name, name, name);
    free(first);
    free(second);
}

/* 1: a descriptor says that the filter is sharded; 0: none does; -1 after a message. */
static int is_described(struct remote *store, const char *name)
{
    const char *argv[] = {"HGET", name, "tamis"};
    struct request request = request_of(name, 3, argv, false);
    int is = requests_complete(store, &request, 1) ? 0 : -1;
    if (is == 0) is = request.reply->type == REDIS_REPLY_STRING;
    if (is == 0 && request.reply->type != REDIS_REPLY_NIL &&
        !reply_is_error(request.reply, "WRONGTYPE")) { /* no other program's key */
        (void)requests_fail(store, argv[0], request.reply);
        is = -1;
    }
    requests_clear(&request, 1);
    return is;
}

/* What may be sharded filters, by the names of the keys that were found. */
static void add_bases(const struct names *keys, struct names *bases)
{
    for (size_t i = 0; i < keys->count; i++) {
        const size_t base = shard_base(keys->names[i]);
        if (base == 0) continue;
        char *name = cli_copy(keys->names[i], base);
        if (bases->count == 0 || strcmp(bases->names[bases->count - 1], name) != 0)
            names_add(bases, name);
        free(name);
    }
    names_sort(bases);
}

/* The sharded filters among the keys that were found. */
static bool find_sharded(struct remote *store, const struct names *keys, struct names *sharded)
{
    struct names bases = {0};
    int is = 0;
    add_bases(keys, &bases);
    for (size_t i = 0; is >= 0 && i < bases.count; i++) {
        is = is_described(store, bases.names[i]);
        if (is > 0) names_add(sharded, bases.names[i]);
        if (is == 0) note_lost_descriptor(keys, bases.names[i]);
    }
    names_clear(&bases);
    return is >= 0;
}

/* The names of filters: keys that are no shards of a sharded one, and the sharded ones. */
static void join_found(const struct names *keys, const struct names *sharded, struct names *all)
{
    for (size_t i = 0; i < keys->count; i++) {
        const size_t base = shard_base(keys->names[i]);
        char *name = cli_copy(keys->names[i], base);
        if (base == 0 || !names_have(sharded, name)) names_add(all, keys->names[i]);
        free(name);
    }
    for (size_t i = 0; i < sharded->count; i++)
        names_add(all, sharded->names[i]);
    names_sort(all);
}

bool store_has_module(struct remote *store, const char *name)
{
    const char *argv[] = {"TAMIS.INFO", name};
    struct request request = request_of(name, 2, argv, false);
    if (!requests_complete(store, &request, 1)) return false;
    const redisReply *reply = request.reply;
    const bool unknown = reply_is_error(reply, "ERR unknown command");
    if (unknown) (void)requests_fail(store, argv[0], reply);
    requests_clear(&request, 1);
    return !unknown;
}

#define ANY_ROUNDS UINT_MAX
#define NEAREST_ROUNDS 20u /* 20,000 keys of a node, which may have millions */

void store_nearest(struct remote *store, const char *wanted, char nearest[TAMIS_NAME_MAX + 1])
{
    struct names keys = {0};
    unsigned least = 0, distance;
    nearest[0] = '\0';
    (void)scan_all(store, NULL, NEAREST_ROUNDS, &keys);
    names_sort(&keys);
    for (size_t i = 0; i < keys.count; i++) {
        const size_t base = shard_base(keys.names[i]);
        if (base > 0) keys.names[i][base] = '\0';
        if (!text_resembles(wanted, keys.names[i], &distance)) continue;
        if (nearest[0] != '\0' && distance >= least) continue;
        (void)snprintf(nearest, TAMIS_NAME_MAX + 1, "%s", keys.names[i]);
        least = distance;
    }
    names_clear(&keys);
}

int store_each_name(struct remote *store, const char *pattern,
                    int (*each)(void *context, const char *name), void *context)
{
    struct names keys = {0}, sharded = {0}, all = {0};
    char *prefix = pattern_prefix(pattern);
    int rc = scan_all(store, prefix, ANY_ROUNDS, &keys) ? 0 : -1;
    free(prefix);
    names_sort(&keys);
    if (rc == 0 && !find_sharded(store, &keys, &sharded)) rc = -1;
    if (rc == 0) join_found(&keys, &sharded, &all);
    for (size_t i = 0; rc == 0 && i < all.count; i++)
        if (pattern_fits(pattern, all.names[i])) rc = each(context, all.names[i]);
    if (rc == 0 && all.count == 0 && !store_has_module(store, "tamis")) rc = -1;
    names_clear(&keys);
    names_clear(&sharded);
    names_clear(&all);
    return rc < 0 ? -1 : 0;
}
