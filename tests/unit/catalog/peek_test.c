/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peek_test.c: a record that is read without the lock (store/catalog/peek.c) is one that was in
 * force, or the answer is that only the lock can tell.
 *
 * Seen to fail with is_current() left out of peek_once() (a commit in the middle of a read goes
 * unnoticed), and with the checksum of the id's record ignored.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "catalogs.h"
#include "fixture.h"
#include "points.h"
#include "spawn.h"

#define FILTERS 1000u

static int peek(const tamis_store *store, uint64_t id, struct tamis__record *record)
{
    return tamis__catalog_peek(&store->catalog, id, record, NULL);
}

static void get(tamis_store *store, uint64_t id, struct tamis__record *record)
{
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_SHARED);
    assert_done(tamis__catalog_get_by_id(txn, id, record));
    tamis__catalog_end(txn);
}

static void assert_same(const struct tamis__record *a, const struct tamis__record *b)
{
    unsigned char bytes[2][TAMIS__RECORD_BYTES_MAX];
    const struct tamis__bytes key = {"k", 1};
    assert_string_equal(a->name, b->name);
    const size_t count = tamis__record_encode(a, key, bytes[0]);
    assert_int_equal(tamis__record_encode(b, key, bytes[1]), count);
    assert_memory_equal(bytes[0], bytes[1], count);
}

/* Branch pages, and records on overflow pages.  The exclusive lock is held by another. */
STORE_CASE(peek_reads_what_a_transaction_reads)
{
    static struct tamis__record a, b;
    catalogs_put_range(store, 0, FILTERS);
    catalogs_forget_range(store, 1, FILTERS, 7);
    const int lock = fixture_lock_catalog(path);
    for (uint64_t id = 1; id <= FILTERS; id++)
        assert_int_equal(peek(store, id, &a), (id - 1) % 7 == 1 ? TAMIS_ENOTFOUND : 0);
    assert_int_equal(peek(store, FILTERS + 1, &a), TAMIS_ENOTFOUND);
    assert_int_equal(close(lock), 0);
    for (uint64_t id = 1; id <= FILTERS; id++) {
        if ((id - 1) % 7 == 1) continue;
        get(store, id, &b);
        assert_int_equal(peek(store, id, &a), 0);
        assert_same(&a, &b);
    }
}

/* ---- Commits in between ---------------------------------------------------------------------- */

static void publish(tamis_store *store, uint64_t id, uint64_t publication)
{
    static struct tamis__record record;
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_EXCLUSIVE);
    assert_done(tamis__catalog_get_by_id(txn, id, &record));
    record.publication = publication;
    assert_done(tamis__catalog_put(txn, &record));
    catalogs_commit(txn);
}

static tamis_store *writer;
static unsigned commits, commits_wanted;

static void commit_meanwhile(unsigned point)
{
    if (point == TAMIS__POINT_PEEK_META && commits < commits_wanted)
        publish(writer, 3, 100 + ++commits);
}

STORE_CASE(peek_notices_a_commit_in_the_middle)
{
    static struct tamis__record record;
    catalogs_put_range(store, 0, 60);
    writer = fixture_open(path, 0);
    tamis__point_hook = commit_meanwhile;
    for (commits_wanted = 0; commits_wanted < 5; commits_wanted++) {
        commits = 0;
        assert_int_equal(peek(store, 3, &record), 0);
        if (commits_wanted > 0) assert_int_equal(record.publication, 100 + commits_wanted);
    }
    commits = 0;
    commits_wanted = 1000;
    assert_int_equal(peek(store, 3, &record), TAMIS__PEEK_UNSURE);
    tamis__point_hook = NULL;
    tamis_store_close(writer);
}

/* The first number is that of the last commit. */
static void publish_for_ever(void *context, unsigned index)
{
    uint64_t *shared = context;
    (void)index;
    for (uint64_t publication = 1000;; publication++) {
        publish(writer, 1 + publication % 5, publication);
        __atomic_store_n(shared, publication, __ATOMIC_SEQ_CST);
    }
}

STORE_CASE(peek_beside_a_writer_reads_what_is_in_force)
{
    static struct tamis__record record;
    uint64_t *committed = spawn_shared(sizeof *committed);
    unsigned read = 0;
    catalogs_put_range(store, 0, 200);
    writer = fixture_open(path, 0);
    const pid_t child = spawn_one(publish_for_ever, committed, 0);
    while (read < 2000) {
        const uint64_t before = __atomic_load_n(committed, __ATOMIC_SEQ_CST);
        const int rc = peek(store, 1 + before % 5, &record);
        if (rc == TAMIS__PEEK_UNSURE) continue;
        assert_int_equal(rc, 0);
        if (before != 0) assert_true(record.publication >= before);
        read++;
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(spawn_end(child), SPAWN_KILLED);
    tamis_store_close(writer);
}

/* ---- Damage ---------------------------------------------------------------------------------- */

/* Behind the meta pages nothing but the truth is read, or that it cannot be told. */
STORE_CASE(peek_believes_no_damaged_page)
{
    static struct tamis__record right, record;
    uint64_t random = random_seed(), unsure = 0;
    catalogs_put_range(store, 0, 120);
    get(store, 51, &right);
    const char *file = fixture_join(path, "catalog.mdb");
    AUTO_FREE char *name = strdup(file);
    const uint64_t bytes = fixture_size(name);
    for (unsigned i = 0; i < 20000; i++) {
        const uint64_t at = 8192 + random_below(&random, bytes - 8192);
        unsigned char is, damaged;
        fixture_peek(name, at, &is, 1);
        damaged = (unsigned char)(is ^ (1u << random_below(&random, 8)));
        fixture_poke(name, at, &damaged, 1);
        const int rc = peek(store, 51, &record);
        unsure += rc != 0;
        if (rc == 0) assert_same(&record, &right);
        fixture_poke(name, at, &is, 1);
    }
    assert_true(unsure > 0);
    const unsigned char zeros[8192] = {0};
    fixture_poke(name, 0, zeros, sizeof zeros);
    assert_int_equal(peek(store, 51, &record), TAMIS__PEEK_UNSURE);
}
