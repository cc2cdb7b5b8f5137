/* SPDX-License-Identifier: BSD-2-Clause */
/* catalogs.c: see catalogs.h. */
#include "catalogs.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void catalogs_record(struct tamis__record *record, const char *name, uint64_t id, uint32_t segments)
{
    memset(record, 0, sizeof *record);
    (void)snprintf(record->name, sizeof record->name, "%s", name);
    record->filter_id = id;
    record->name_sequence = 1;
    record->generation = record->last_generation = record->publication = 1;
    record->keep = TAMIS_KEEP_DEFAULT;
    record->capacity = 1000 + id;
    record->fp_rate = 0.01;
    record->created_at = 1700000000000000000 + (int64_t)id;
    record->published_at = record->created_at + 1;
    record->policy = (struct tamis__policy){.capacity = 1000, .fp_rate = 0.01};
    record->segment_count = segments;
    for (uint32_t i = 0; i < segments; i++) {
        struct tamis__segment_header header;
        fixture_header(&header, i % 2 ? TAMIS_KIND_BLOOM : TAMIS_KIND_BLOCKED, 512 * 20, 6);
        header.number = id * 100 + i;
        header.filter_id = id;
        tamis__listed_segment_from_header(&header, &record->segments[i]);
        record->segments[i].items = id + i;
    }
}

struct tamis__catalog_txn *catalogs_begin(tamis_store *store, enum tamis__lock lock)
{
    struct tamis__catalog_txn *txn = NULL;
    assert_done(tamis__catalog_begin(&store->catalog, lock, &txn));
    return txn;
}

void catalogs_commit(struct tamis__catalog_txn *txn)
{
    const int rc = tamis__catalog_commit(txn);
    tamis__catalog_end(txn); /* also where the commit failed: the next test needs the lock */
    assert_done(rc);
}

static void name_of(uint64_t number, char name[32])
{
    (void)snprintf(name, 32, "f%06" PRIu64, number);
}

void catalogs_put_range(tamis_store *store, uint64_t first, uint64_t count)
{
    static struct tamis__record record;
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_EXCLUSIVE);
    struct tamis__store_record *counters = tamis__catalog_store(txn);
    for (uint64_t i = first; i < first + count; i++) {
        char name[32];
        name_of(i, name);
        catalogs_record(&record, name, i + 1, i % 50 == 0 ? 64 : 1 + (uint32_t)(i % 3));
        if (counters->next_filter_id <= i + 1) counters->next_filter_id = i + 2;
        if (counters->next_segment <= (i + 2) * 100) counters->next_segment = (i + 2) * 100;
        assert_done(tamis__catalog_put(txn, &record));
    }
    catalogs_commit(txn);
}

void catalogs_forget_range(tamis_store *store, uint64_t first, uint64_t count, uint64_t step)
{
    static struct tamis__record record;
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_EXCLUSIVE);
    for (uint64_t i = first; i < first + count; i += step) {
        char name[32];
        name_of(i, name);
        assert_done(tamis__catalog_get(txn, name, &record));
        assert_done(tamis__catalog_forget(txn, &record));
        for (uint32_t j = 0; j < record.segment_count; j++)
            assert_done(tamis__catalog_put_garbage(txn, record.segments[j].number));
    }
    catalogs_commit(txn);
}

struct garbage {
    uint64_t numbers[256];
    size_t count;
};

static int collect(void *context, uint64_t number)
{
    struct garbage *garbage = context;
    garbage->numbers[garbage->count++] = number;
    return garbage->count == sizeof garbage->numbers / sizeof garbage->numbers[0];
}

void catalogs_clear_garbage(tamis_store *store)
{
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_EXCLUSIVE);
    struct garbage garbage;
    do {
        garbage.count = 0;
        assert_done(tamis__catalog_each_garbage(txn, collect, &garbage));
        for (size_t i = 0; i < garbage.count; i++)
            assert_done(tamis__catalog_forget_garbage(txn, garbage.numbers[i]));
    } while (garbage.count > 0);
    catalogs_commit(txn);
}

unsigned char *catalogs_read_file(const char *store_path, size_t *bytes)
{
    const char *file = fixture_join(store_path, "catalog.mdb");
    *bytes = (size_t)fixture_size(file);
    unsigned char *all = malloc(*bytes);
    if (all == NULL) err(1, "malloc");
    fixture_peek(file, 0, all, *bytes);
    return all;
}

void catalogs_damage_key(const char *path, unsigned filter)
{
    char key[16];
    size_t bytes, found = 0;
    const size_t key_bytes = (size_t)snprintf(key, sizeof key, "ff%06u", filter);
    unsigned char *file = catalogs_read_file(path, &bytes);
    for (size_t at = 0; at + key_bytes <= bytes; at++) {
        if (memcmp(file + at, key, key_bytes) != 0) continue;
        const unsigned char last = file[at + key_bytes - 1] ^ 0x40;
        fixture_poke(fixture_join(path, "catalog.mdb"), at + key_bytes - 1, &last, 1);
        found++;
    }
    assert_true(found > 0);
    free(file);
}
