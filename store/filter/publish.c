/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * publish.c: puts another list in force, while readers go on.  See publish.h and
 * docs/generations.md.
 *
 *     prepare    read the record under the shared lock; then, without the lock, read the exceptions
 *                by hand
 *     stage      make the index of exceptions, without a lock
 *     lock       take the exclusive lock; if the exceptions have changed meanwhile, begin again
 *     judge      has it as many keys as its guards want?
 *     commit     numbers and names; epochs; the record, the list before it, the garbage
 *     tell       live words lead on those handles that do not look at the catalog
 *     unlink     remove what is no longer kept
 */
#include "filter/publish.h"

#include "filter/change.h"
#include "txn/spares.h"

/* ---- A build --------------------------------------------------------------------------------- */

int tamis__check_keep(uint32_t keep)
{
    if (keep <= TAMIS_KEEP_MAX) return 0;
    return tamis__fail(TAMIS_EINVAL, "%u older generations are too many to keep; the most is %d",
                       keep, TAMIS_KEEP_MAX);
}

int tamis__check_replaceable(const struct tamis__record *record)
{
    if (record->policy.slices == 0 && tamis__record_newest(record)->counter_bits == 0) return 0;
    return tamis__fail(TAMIS_EMISMATCH,
                       "the filter '%s' %s, and a build would lose what it holds; choose another "
                       "name, or drop it first",
                       record->name,
                       record->policy.slices > 0 ? "has a window" : "is of kind counting");
}

/* ---- Guards ---------------------------------------------------------------------------------- */

int tamis__guards_check(const struct tamis__guards *guards)
{
    if (!guards->has_max_shrink || (guards->max_shrink >= 0 && guards->max_shrink <= 100)) return 0;
    return tamis__fail(TAMIS_EINVAL, "a list cannot shrink by %g %%: give 0 to 100",
                       guards->max_shrink);
}

/* The smallest whole percentage that would let the list pass. */
static unsigned percentage_of(uint64_t fewer, uint64_t in_force)
{
    const double percent = (double)fewer * 100 / (double)in_force;
    const unsigned whole = (unsigned)percent;
    return whole + ((double)whole < percent);
}

static int judge_items(const struct tamis__guards *guards, const char *name, uint64_t items,
                       uint64_t in_force)
{
    if (items < guards->at_least)
        return tamis__fail(TAMIS_EMISMATCH,
                           "the list for '%s' has %" PRIu64 " key%s, and at least %" PRIu64
                           " are asked for; look where the list comes from, or give a smaller "
                           "--at-least (at_least) if so few are right",
                           name, items, tamis__plural(items), guards->at_least);
    const uint64_t fewer = in_force > items ? in_force - items : 0;
    /* Percent of the number, and not a quotient: 29 of 100 keys are no more than 29 %. */
    if (!guards->has_max_shrink || (double)fewer * 100 <= guards->max_shrink * (double)in_force)
        return 0;
    return tamis__fail(TAMIS_EMISMATCH,
                       "the list for '%s' has %" PRIu64 " key%s, and %" PRIu64
                       " are in force: it may shrink by %g %%; look where the list comes from, or "
                       "give --max-shrink %u (max_shrink) if that is right",
                       name, items, tamis__plural(items), in_force, guards->max_shrink,
                       percentage_of(fewer, in_force));
}

int tamis__guards_pass(const struct tamis__guards *guards, struct tamis_store *store,
                       const char *name, uint64_t items)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    uint64_t in_force = 0;
    if (guards->at_least == 0 && !guards->has_max_shrink) return 0;
    int rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__store_get(store, txn, name, &record);
    if (rc == 0) in_force = tamis__change_count(store, &record);
    tamis__catalog_end(txn);
    if (rc < 0 && rc != TAMIS_ENOTFOUND) return rc;
    return judge_items(guards, name, items, in_force);
}

static uint64_t items_of(const struct tamis__edition *edition)
{
    uint64_t items = 0;
    for (uint32_t i = 0; i < edition->count; i++)
        items += tamis__header_items(&edition->drafts[i].header);
    return items;
}

/* ---- One edition ----------------------------------------------------------------------------- */

static void describe_edition(struct tamis__change *change, const struct tamis__edition *edition)
{
    struct tamis__record *after = &change->after;
    const struct tamis__record *before = &change->before;
    const bool is_new = change->is_new;
    const uint64_t exception_count = after->exception_count;
    const int64_t now = tamis__now_ns();
    *after = (struct tamis__record){
        .filter_id = is_new ? 0 : before->filter_id,
        .name_sequence = is_new ? 1 : before->name_sequence,
        .generation = is_new ? 1 : before->last_generation + 1,
        .capacity = edition->capacity,
        .fp_rate = edition->fp_rate,
        .created_at = is_new ? now : before->created_at,
        .published_at = now,
        .checkpointed_at = now,
        .policy = edition->policy,
        .keep = edition->set_keep ? edition->keep
                : is_new          ? TAMIS_KEEP_DEFAULT
                                  : before->keep,
        .exception_count = exception_count,
        .owned = !is_new && before->owned,
    };
    after->last_generation = after->generation;
    after->policy.durable |= before->policy.durable; /* 0 if the filter is new */
    if (!is_new) after->policy.pages = before->policy.pages;
    memcpy(after->name, before->name, sizeof after->name);
    memcpy(after->key_digest, edition->key_digest, sizeof after->key_digest);
}

/* The found exceptions belong to the generation that is about to be made. */
static int take_found(struct tamis__change *change, const struct tamis__exceptions *found)
{
    const uint64_t generation = change->is_new ? 1 : change->before.last_generation + 1;
    int rc = 0;
    for (size_t i = 0; found != NULL && rc == 0 && i < found->count; i++)
        rc = tamis__exceptions_add(&change->set, found->entries[i].key, found->entries[i].bytes,
                                   generation);
    return rc;
}

/* A durable filter stays durable, or is told that it cannot. */
static int check_durable(const struct tamis__record *before, const struct tamis__edition *edition)
{
    const uint32_t kind = edition->drafts[edition->count - 1].header.kind;
    if (!before->policy.durable || !tamis_kind_has(kind, TAMIS_KIND_COUNTS)) return 0;
    return tamis__fail(TAMIS_EMISMATCH,
                       "the filter '%s' is durable, and one of kind %s cannot be; choose another "
                       "name, or drop it first",
                       before->name, tamis_kind_name(kind));
}

/* The exceptions of a filter are forms, and outlast its generations. */
int tamis__check_key_rule(const struct tamis__record *before, const char *key_rule)
{
    if (strcmp(before->policy.key_rule, key_rule) == 0) return 0;
    return tamis__fail(
        TAMIS_EMISMATCH,
        "the filter '%s' has the key rule %s, and a new generation of it cannot have "
        "%s; choose another name, or drop it first",
        before->name, tamis__key_rule_name(before->policy.key_rule),
        tamis__key_rule_name(key_rule));
}

/* Is that what is in force? */
static bool is_over(const struct tamis__change *change, const struct tamis__over *over)
{
    if (change->is_new) return over->generation == 0;
    return over->generation == change->before.generation &&
           over->created_at == change->before.created_at;
}

static int prepare_edition(struct tamis__change *change, const struct tamis__edition *edition)
{
    (void)snprintf(change->before.name, sizeof change->before.name, "%s", edition->name);
    int rc = tamis__change_load(change, edition->name);
    if (rc == 0 && edition->only_over && !is_over(change, &edition->over)) return TAMIS__MOVED;
    if (rc == 0 && !change->is_new && !edition->replaces_any)
        rc = tamis__check_replaceable(&change->before);
    if (rc == 0 && !change->is_new) rc = check_durable(&change->before, edition);
    if (rc == 0 && !change->is_new)
        rc = tamis__check_key_rule(&change->before, edition->policy.key_rule);
    if (rc == 0) (void)tamis__exceptions_drop_found(&change->set);
    if (rc == 0 && edition->by_hand != NULL)
        rc = tamis__exceptions_add_set(&change->set, edition->by_hand);
    if (rc == 0) rc = take_found(change, edition->found);
    if (rc == 0) rc = tamis__exceptions_sort(&change->set);
    return rc < 0 ? rc : tamis__change_stage(change, false);
}

static int publish_once(struct tamis_store *store, struct tamis__edition *edition,
                        struct tamis__published *published)
{
    struct tamis__change change = {
        .store = store, .list = edition->drafts, .list_count = edition->count};
    int rc = prepare_edition(&change, edition);
    if (rc == 0) rc = tamis__change_lock(&change);
    if (rc == 0) {
        const uint64_t in_force = change.is_new ? 0 : tamis__change_count(store, &change.before);
        rc = judge_items(&edition->guards, edition->name, items_of(edition), in_force);
    }
    if (rc == 0) {
        describe_edition(&change, edition);
        rc = tamis__change_commit(&change);
    }
    if (rc == 0) {
        *published = (struct tamis__published){.generation = change.after.generation,
                                               .exceptions = change.after.exception_count,
                                               .size_bytes = tamis__record_bytes(&change.after)};
        if (change.has_index) published->size_bytes += change.index.header.file_bytes;
    }
    tamis__change_end(&change);
    return rc;
}

int tamis__publish_edition(struct tamis_store *store, struct tamis__edition *edition,
                           struct tamis__published *published)
{
    unsigned tries = 0;
    int rc;
    do {
        rc = tamis__change_tried(edition->name, publish_once(store, edition, published), &tries);
    } while (rc == TAMIS__AGAIN);
    if (rc < 0) tamis__drafts_discard(store, edition->drafts, edition->count);
    return rc;
}
