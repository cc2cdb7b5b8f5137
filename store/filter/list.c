/* SPDX-License-Identifier: BSD-2-Clause */
/* list.c: lists the filters of a store, as the catalog knows them. */
#include "filter/stat.h"
#include "txn/recover.h"
#include "txn/spares.h"

/*
 * What is kept of a filter while the catalog's lock is held: the lengths of its name and of its key
 * rule, these two, and the members of its stat from hash_set on that the catalog can tell.  They
 * are packed into blocks: a whole stat has more than a kilobyte, and there may be a million of
 * them.
 */
#define FIRST_TOLD offsetof(struct tamis_filter_stat, hash_set)
#define TOLD_BYTES (offsetof(struct tamis_filter_stat, imported_at) - FIRST_TOLD)
#define BLOCK_BYTES ((size_t)1 << 20)

struct told {
    uint16_t name_bytes, rule_bytes;
};

struct block {
    struct block *next;
    size_t used;
    unsigned char bytes[BLOCK_BYTES - 2 * sizeof(size_t)];
};

struct listing {
    struct tamis_store *store;
    struct tamis__catalog_txn *txn;
    bool looks; /* reads the headers: no writer has recovered since the boot */
    struct block *first, *last, **end; /* where the next one is put */
};

/* Returns room for that many bytes; NULL: there is no memory. */
static unsigned char *take_room(struct listing *listing, size_t bytes)
{
    struct block *block = listing->last;
    if (block == NULL || bytes > sizeof block->bytes - block->used) {
        block = malloc(sizeof *block);
        if (block == NULL) return NULL;
        block->next = NULL;
        block->used = 0;
        *listing->end = block;
        listing->end = &block->next;
        listing->last = block;
    }
    block->used += bytes;
    return block->bytes + block->used - bytes;
}

static int pack(struct listing *listing, const struct tamis_filter_stat *stat)
{
    const size_t name_bytes = strlen(stat->name), rule_bytes = strlen(stat->key_rule);
    const struct told told = {(uint16_t)name_bytes, (uint16_t)rule_bytes};
    unsigned char *to = take_room(listing, sizeof told + name_bytes + rule_bytes + TOLD_BYTES);
    if (to == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory listing the filters");
    memcpy(to, &told, sizeof told);
    to += sizeof told;
    memcpy(to, stat->name, name_bytes);
    memcpy(to + name_bytes, stat->key_rule, rule_bytes);
    memcpy(to + name_bytes + rule_bytes, (const unsigned char *)stat + FIRST_TOLD, TOLD_BYTES);
    return 0;
}

/* Returns how many bytes it had. */
static size_t unpack(const unsigned char *from, struct tamis_filter_stat *stat)
{
    struct told told;
    memcpy(&told, from, sizeof told);
    const size_t name_bytes = told.name_bytes, rule_bytes = told.rule_bytes;
    *stat = (struct tamis_filter_stat){.size = sizeof *stat};
    from += sizeof told;
    memcpy(stat->name, from, name_bytes);
    memcpy(stat->key_rule, from + name_bytes, rule_bytes);
    memcpy((unsigned char *)stat + FIRST_TOLD, from + name_bytes + rule_bytes, TOLD_BYTES);
    return sizeof told + name_bytes + rule_bytes + TOLD_BYTES;
}

static int list_one(void *context, const struct tamis__record *record)
{
    struct listing *listing = context;
    struct tamis_filter_stat stat;
    struct tamis__trouble trouble;
    const int rc = tamis__catalog_get_trouble(listing->txn, record->filter_id, &trouble);
    if (rc < 0) return rc;
    struct tamis__record now = *record;
    tamis__record_promote(&listing->store->place, &now);
    if (listing->looks) (void)tamis__look_for_trouble(listing->store, &now, &trouble);
    tamis__stat_from_record(listing->store, &now, NULL, &stat);
    tamis__stat_set_trouble(&stat, trouble);
    return pack(listing, &stat);
}

/* Tells of the filters of a block, until fn returns something else than 0. */
static int tell_block(const struct block *block, tamis_list_fn *fn, void *context)
{
    struct tamis_filter_stat stat;
    int rc = 0;
    for (size_t at = 0; rc == 0 && at < block->used;) {
        at += unpack(block->bytes + at, &stat);
        rc = fn(context, &stat);
    }
    return rc;
}

TAMIS_API int tamis_store_list(tamis_store *store, const char *prefix, tamis_list_fn *fn,
                               void *context)
{
    TAMIS__REFUSE_NULL(store, "store");
    TAMIS__REFUSE_NULL(fn, "fn");
    struct tamis__catalog_txn *txn;
    struct listing listing = {.store = store};
    listing.end = &listing.first;
    int rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    uint8_t boot[TAMIS__BOOT_ID_BYTES];
    listing.txn = txn;
    listing.looks = tamis__boot_id(boot) && tamis__catalog_is_of_boot(txn, boot) == 0;
    rc = tamis__catalog_each(txn, prefix ? prefix : "", list_one, &listing);
    tamis__catalog_end(txn); /* before fn, which may be slow: others wait for the lock */
    for (struct block *next, *block = listing.first; block != NULL; block = next) {
        if (rc == 0) rc = tell_block(block, fn, context);
        next = block->next;
        free(block);
    }
    return rc;
}
