/* SPDX-License-Identifier: BSD-2-Clause */
/* list.c: lists the filters of a store, as the catalog knows them: all at once, one after the
 * other, and summed up. */
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

/* What the catalog says of a filter. */
static int stat_of(const struct listing *listing, const struct tamis__record *record,
                   struct tamis_filter_stat *stat)
{
    struct tamis__trouble trouble;
    const int rc = tamis__catalog_get_trouble(listing->txn, record->filter_id, &trouble);
    if (rc < 0) return rc;
    struct tamis__record now = *record;
    tamis__record_promote(&listing->store->place, &now);
    if (listing->looks) (void)tamis__look_for_trouble(listing->store, &now, &trouble);
    tamis__stat_from_record(listing->store, &now, NULL, stat);
    tamis__stat_set_trouble(stat, trouble);
    return 0;
}

static int list_one(void *context, const struct tamis__record *record)
{
    struct listing *listing = context;
    struct tamis_filter_stat stat;
    const int rc = stat_of(listing, record, &stat);
    return rc < 0 ? rc : pack(listing, &stat);
}

/* Begins a reading of the catalog. */
static int begin(struct listing *listing)
{
    const int rc =
        tamis__catalog_begin(&listing->store->catalog, TAMIS__LOCK_SHARED, &listing->txn);
    if (rc < 0) return rc;
    uint8_t boot[TAMIS__BOOT_ID_BYTES];
    listing->looks = tamis__boot_id(boot) && tamis__catalog_is_of_boot(listing->txn, boot) == 0;
    return 0;
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
    struct listing listing = {.store = store};
    listing.end = &listing.first;
    int rc = begin(&listing);
    if (rc < 0) return rc;
    rc = tamis__catalog_each(listing.txn, prefix ? prefix : "", list_one, &listing);
    tamis__catalog_end(listing.txn); /* before fn, which may be slow: others wait for the lock */
    for (struct block *next, *block = listing.first; block != NULL; block = next) {
        if (rc == 0) rc = tell_block(block, fn, context);
        next = block->next;
        free(block);
    }
    return rc;
}

/* ---- One after the other --------------------------------------------------------------------- */

#define PAGE 32

struct tamis_cursor {
    struct tamis_store *store;
    char prefix[TAMIS_NAME_MAX + 1];
    char last[TAMIS_NAME_MAX + 1]; /* the name that was read last; "": none yet */
    bool is_done;                  /* no name comes after the page */
    size_t at, count;
    struct tamis_filter_stat page[PAGE];
};

/* A page that is being read. */
struct page {
    struct listing listing;
    struct tamis_cursor *cursor;
};

/* Returns 1 if the page is full. */
static int put_on_page(void *context, const struct tamis__record *record)
{
    struct page *page = context;
    struct tamis_cursor *cursor = page->cursor;
    const int rc = stat_of(&page->listing, record, &cursor->page[cursor->count]);
    if (rc < 0) return rc;
    return ++cursor->count == PAGE;
}

static int read_page(struct tamis_cursor *cursor)
{
    struct page page = {.listing = {.store = cursor->store}, .cursor = cursor};
    int rc = begin(&page.listing);
    if (rc < 0) return rc;
    cursor->at = cursor->count = 0;
    rc = *cursor->last == '\0'
             ? tamis__catalog_each(page.listing.txn, cursor->prefix, put_on_page, &page)
             : tamis__catalog_each_after(page.listing.txn, cursor->prefix, cursor->last,
                                         put_on_page, &page);
    tamis__catalog_end(page.listing.txn);
    if (rc < 0) {
        cursor->count = 0;
        return rc;
    }
    cursor->is_done = rc == 0;
    if (cursor->count > 0)
        memcpy(cursor->last, cursor->page[cursor->count - 1].name, sizeof cursor->last);
    return 0;
}

TAMIS_API int tamis_cursor_open(tamis_store *store, const char *prefix, tamis_cursor **cursor)
{
    TAMIS__REFUSE_NULL(store, "store");
    TAMIS__REFUSE_NULL(cursor, "cursor");
    *cursor = NULL;
    struct tamis_cursor *made = calloc(1, sizeof *made);
    if (made == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory for a cursor");
    /* No name begins with a longer prefix. */
    made->is_done = prefix != NULL && strlen(prefix) > TAMIS_NAME_MAX;
    if (prefix != NULL && !made->is_done)
        (void)snprintf(made->prefix, sizeof made->prefix, "%s", prefix);
    made->store = tamis__store_reference(store);
    *cursor = made;
    return 0;
}

TAMIS_API int tamis_cursor_next(tamis_cursor *cursor, struct tamis_filter_stat *stat)
{
    TAMIS__REFUSE_NULL(cursor, "cursor");
    int rc = tamis__check_struct(stat, "struct tamis_filter_stat");
    if (rc == 0 && cursor->at == cursor->count && !cursor->is_done) rc = read_page(cursor);
    if (rc < 0) return rc;
    if (cursor->at == cursor->count) return 0;
    tamis__give_struct(&cursor->page[cursor->at], sizeof *cursor->page, stat);
    cursor->at++;
    return 1;
}

TAMIS_API void tamis_cursor_close(tamis_cursor *cursor)
{
    if (cursor == NULL) return;
    tamis_store_close(cursor->store);
    free(cursor);
}

/* ---- The store ------------------------------------------------------------------------------- */

struct sums {
    struct listing listing;
    struct tamis_store_stat *stat;
};

static int add_up(void *context, const struct tamis__record *record)
{
    struct sums *sums = context;
    struct tamis_filter_stat one;
    const int rc = stat_of(&sums->listing, record, &one);
    if (rc < 0) return rc;
    sums->stat->filters++;
    sums->stat->segments += one.segment_count;
    sums->stat->items += one.items;
    sums->stat->size_bytes += one.size_bytes;
    sums->stat->state |= one.state;
    return 0;
}

TAMIS_API int tamis_store_stat(tamis_store *store, struct tamis_store_stat *stat)
{
    TAMIS__REFUSE_NULL(store, "store");
    struct tamis__file_info file;
    struct tamis_store_stat own = {.size = sizeof own,
                                   .path = store->place.path,
                                   .id = store->store_id,
                                   .read_only = store->read_only};
    struct sums sums = {.listing = {.store = store}, .stat = &own};
    int rc = tamis__check_struct(stat, "struct tamis_store_stat");
    if (rc == 0) rc = begin(&sums.listing);
    if (rc < 0) return rc;
    const struct tamis__store_record *record = tamis__catalog_store(sums.listing.txn);
    own.created_at = record->created_at;
    own.format = record->format;
    rc = tamis__catalog_file(&store->catalog, &file);
    if (rc == 0) rc = tamis__catalog_each(sums.listing.txn, "", add_up, &sums);
    tamis__catalog_end(sums.listing.txn);
    if (rc == 0) rc = tamis__disk_room(store->root_fd, store->place.path, &own.free_bytes);
    if (rc < 0) return rc;
    own.catalog_bytes = file.bytes;
    own.mode = file.mode;
    tamis__give_struct(&own, sizeof own, stat);
    return 0;
}
