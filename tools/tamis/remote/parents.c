/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parents.c: names that a server is asked for with their parents.
 *
 * A filter of one key answers by itself (TAMIS.PARENTS).  In a sharded one each parent has a shard
 * of its own, so all names of a batch and their parents are asked for at once, each in its shard:
 *
 *     x.ads.example          s:{3} x.ads.example    0
 *                            s:{0} ads.example      1    so the answer is 1
 *                            s:{3} example          0
 *
 * A shard answers absent for an exception, too, and that would have to beat a parent elsewhere.  So
 * shards that have exceptions are refused.
 */
#include "command.h"
#include "filter.h"
#include "form.h"

/* Have the shards no exceptions?  They are asked once.  false after a message. */
static bool lack_exceptions(struct remote_filter *filter)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    if (filter->lacks_exceptions) return true;
    if (remote_stat(filter, &stat) < 0) return false;
    if (stat.exceptions > 0)
        cli_tell("filter '%s' has exceptions and is in %u shards, none of which knows whether an "
                 "exception elsewhere is nearer to a name; for --parents import the list as a "
                 "filter of one key (TAMIS.LOAD), or ask it in a store that is a directory",
                 filter->name, filter->shards);
    filter->lacks_exceptions = stat.exceptions == 0;
    return filter->lacks_exceptions;
}

/* The names of a batch and their parents, as keys. */
struct suffixes {
    struct form *forms; /* of the names; the suffixes are the ends of these */
    struct tamis_key *keys;
    uint32_t *owners; /* which name a key is of */
    uint8_t *answers;
    size_t count, keys_room, owners_room;
};

static void suffixes_add(struct suffixes *all, const struct tamis_key *form, uint32_t owner)
{
    uint8_t starts[FORM_LABELS_MAX];
    const size_t count = form_suffixes(form, starts);
    all->keys = cli_grow(all->keys, all->count + count, &all->keys_room, sizeof *all->keys);
    all->owners = cli_grow(all->owners, all->count + count, &all->owners_room, sizeof *all->owners);
    for (size_t i = 0; i < count; i++) {
        all->owners[all->count] = owner;
        all->keys[all->count++] = (struct tamis_key){.data = (const char *)form->data + starts[i],
                                                     .bytes = form->bytes - starts[i]};
    }
}

static int64_t ask_shards(struct remote_filter *filter, const struct tamis_key *names, size_t count,
                          uint8_t *answers)
{
    struct suffixes all = {.forms = cli_alloc(count * sizeof *all.forms)};
    int64_t present = 0;
    for (uint32_t i = 0; i < count; i++) {
        form_init(&all.forms[i], filter->key_rule, &names[i]);
        suffixes_add(&all, &all.forms[i].key, i);
    }
    all.answers = cli_alloc(all.count);
    const int64_t rc = remote_contains(filter, all.keys, all.count, all.answers);
    if (rc >= 0) memset(answers, 0, count);
    for (size_t i = 0; rc >= 0 && i < all.count; i++)
        if (all.answers[i] == 1) answers[all.owners[i]] = 1;
    for (size_t i = 0; i < count; i++) {
        present += answers[i] == 1;
        form_clear(&all.forms[i]);
    }
    free(all.answers);
    free(all.owners);
    free(all.keys);
    free(all.forms);
    return rc < 0 ? rc : present;
}

int64_t remote_contains_names(struct remote_filter *filter, const struct tamis_key *names,
                              size_t count, uint8_t *answers)
{
    if (filter->shards == 0) return batch_parents(filter, names, count, answers);
    memset(answers, TAMIS_ANSWER_REFUSED, count);
    if (!filter_knows_shards(filter)) return -1;
    return lack_exceptions(filter) ? ask_shards(filter, names, count, answers) : -1;
}
