/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages_test.c: the reader of LMDB's pages accepts what LMDB writes and refuses the rest with an
 * offset (store/catalog/pages.c).  A sound catalog that is refused would shut a user out of the
 * store, so most of this is LMDB at work.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "catalog/pages.h"
#include "catalogs.h"

#define PAGE 4096u

static int check_file(const char *path, struct tamis__page_fault *fault)
{
    size_t bytes;
    AUTO_FREE unsigned char *file = catalogs_read_file(path, &bytes);
    *fault = (struct tamis__page_fault){0, ""};
    return tamis__pages_check(file, bytes, fault);
}

static void assert_sound(const char *path)
{
    struct tamis__page_fault fault;
    const int rc = check_file(path, &fault);
    if (rc != 0) fail_msg("refused at byte %zu: %s", (size_t)fault.offset, fault.reason);
}

static int count_one(void *context, const struct tamis__record *record)
{
    uint64_t *count = context;
    (void)record;
    ++*count;
    return 0;
}

static uint64_t count_records(tamis_store *store)
{
    uint64_t count = 0;
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_SHARED);
    assert_done(tamis__catalog_each(txn, "", count_one, &count));
    tamis__catalog_end(txn);
    return count;
}

STORE_CASE(pages_of_a_new_catalog_are_sound)
{
    assert_sound(path);
    catalogs_put_range(store, 1, 1);
    assert_sound(path);
    catalogs_forget_range(store, 1, 1, 1);
    assert_sound(path);
}

/* Branch pages two deep, 60 records on overflow pages, and then a free list longer than a page. */
STORE_CASE(pages_of_3000_filters_and_after_their_drop_are_sound)
{
    catalogs_put_range(store, 0, 3000);
    assert_sound(path);
    const uint64_t full = fixture_size(fixture_join(path, "catalog.mdb"));
    assert_true(full > 500 * PAGE);
    catalogs_forget_range(store, 0, 3000, 2);
    assert_sound(path);
    assert_int_equal(count_records(store), 1500);
    catalogs_forget_range(store, 1, 3000, 2);
    assert_sound(path);
    assert_int_equal(count_records(store), 0);
    catalogs_clear_garbage(store);
    assert_sound(path);
    /* The free list is used: as many again fit the file that is there. */
    const uint64_t before = fixture_size(fixture_join(path, "catalog.mdb"));
    for (uint64_t i = 0; i < 3000; i += 100) {
        catalogs_put_range(store, i, 100);
        assert_sound(path);
    }
    assert_int_equal(count_records(store), 3000);
    assert_true(fixture_size(fixture_join(path, "catalog.mdb")) < before + before / 10);
}

struct entry {
    uint64_t id; /* 0: none */
    unsigned name_bytes;
};

static void name_entry(const struct entry *e, char name[TAMIS_NAME_MAX + 1])
{
    const int used = snprintf(name, TAMIS_NAME_MAX + 1, "%llu-", (unsigned long long)e->id);
    memset(name + used, 'x', TAMIS_NAME_MAX - (size_t)used);
    name[e->name_bytes > (unsigned)used ? e->name_bytes : (unsigned)used] = '\0';
}

static void change_one(struct tamis__catalog_txn *txn, uint64_t *random, struct entry *e,
                       uint64_t *next_id, uint64_t *alive)
{
    static struct tamis__record record;
    char name[TAMIS_NAME_MAX + 1];
    if (e->id != 0 && random_below(random, 3) != 0) { /* a rename is this and the next */
        name_entry(e, name);
        assert_done(tamis__catalog_get(txn, name, &record));
        assert_done(tamis__catalog_forget(txn, &record));
        assert_done(tamis__catalog_put_garbage(txn, record.segments[0].number));
        e->id = 0;
        --*alive;
        return;
    }
    if (e->id == 0) {
        e->id = ++*next_id;
        e->name_bytes = 1 + (unsigned)random_below(random, TAMIS_NAME_MAX);
        ++*alive;
    }
    name_entry(e, name);
    const uint32_t segments =
        random_below(random, 8) == 0 ? 1 + (uint32_t)random_below(random, 64) : 1;
    catalogs_record(&record, name, e->id, segments);
    assert_done(tamis__catalog_put(txn, &record));
}

/* The handle trusts what it wrote itself, so the pages are checked here after each transaction. */
STORE_CASE(pages_are_sound_after_each_of_many_random_transactions)
{
    enum { ENTRIES = 600 };
    const int rounds = FIXTURE_SANITIZED ? 300 : 2500;
    static struct entry entries[ENTRIES];
    uint64_t random = random_seed(), next_id = 0, alive = 0;
    for (int i = 0; i < rounds; i++) {
        struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_EXCLUSIVE);
        const uint64_t changes = 1 + random_below(&random, random_below(&random, 20) ? 4 : 400);
        for (uint64_t j = 0; j < changes; j++)
            change_one(txn, &random, &entries[random_below(&random, ENTRIES)], &next_id, &alive);
        if (random_below(&random, 20) == 0) { /* and now and then the garbage is cleared */
            for (uint64_t id = 1; id <= next_id; id++)
                assert_done(tamis__catalog_forget_garbage(txn, id * 100));
        }
        catalogs_commit(txn);
        assert_sound(path);
        if (i % 16 == 0) assert_int_equal(count_records(store), alive);
    }
    (void)printf("%d transactions, %zu KiB of catalog\n", rounds,
                 (size_t)fixture_size(fixture_join(path, "catalog.mdb")) / 1024);
}

/* ---- Damage ---------------------------------------------------------------------------------- */

/* A catalog of a few pages, whole, and room to damage a copy in. */
struct sample {
    unsigned char *sound, *file;
    size_t bytes;
};

static int make_sample(void **state)
{
    struct sample *s = calloc(1, sizeof *s);
    char *path;
    tamis_store *store = fixture_store(&path);
    catalogs_put_range(store, 0, 60);
    catalogs_forget_range(store, 10, 30, 1);
    catalogs_put_range(store, 100, 3);
    tamis_store_close(store);
    s->sound = catalogs_read_file(path, &s->bytes);
    s->file = malloc(s->bytes);
    free(path);
    *state = s;
    return s->file == NULL;
}

static int drop_sample(void **state)
{
    AUTO_FREE struct sample *s = *state;
    free(s->sound);
    free(s->file);
    return 0;
}
#define SAMPLE_CASE(name) CASE_OF(name, make_sample, drop_sample, const struct sample *s)

static int check(const struct sample *s, struct tamis__page_fault *fault)
{
    *fault = (struct tamis__page_fault){UINT64_MAX, ""};
    return tamis__pages_check(s->file, s->bytes, fault);
}

/* The page that the newer meta page calls the root of the main tree. */
static uint64_t root_of(const struct sample *s)
{
    const bool second = tamis__get64(s->sound + PAGE + 144) > tamis__get64(s->sound + 144);
    return tamis__get64(s->sound + (second ? PAGE : 0) + 128);
}

/* The number of the transaction that left the first free list, the key of that list. */
static uint64_t first_free_of(const struct sample *s)
{
    const bool second = tamis__get64(s->sound + PAGE + 144) > tamis__get64(s->sound + 144);
    const uint64_t page = tamis__get64(s->sound + (second ? PAGE : 0) + 80) * PAGE;
    return page + tamis__get16(s->sound + page + 16) + 8;
}

static void assert_damaged(const struct sample *s, int code, uint64_t from, uint64_t to,
                           const char *words)
{
    struct tamis__page_fault fault;
    assert_int_equal(check(s, &fault), code);
    if (strstr(fault.reason, words) == NULL) fail_msg("no '%s' in: %s", words, fault.reason);
    assert_in_range(fault.offset, from, to);
}

SAMPLE_CASE(pages_damaged_are_refused_with_the_offset)
{
    const uint64_t root = root_of(s) * PAGE, list = first_free_of(s);
    struct tamis__page_fault fault;
    memcpy(s->file, s->sound, s->bytes);
    assert_int_equal(check(s, &fault), 0);
#define DAMAGED(at, value, code, from, to, words)                                                  \
    do {                                                                                           \
        memcpy(s->file, s->sound, s->bytes);                                                       \
        s->file[at] = (unsigned char)(value);                                                      \
        assert_damaged(s, code, from, to, words);                                                  \
    } while (0)
    DAMAGED(16, 0, TAMIS_EFOREIGN, 0, 0, "not an LMDB file");
    DAMAGED(PAGE + 16, 0, TAMIS_EFOREIGN, PAGE, PAGE, "not an LMDB file");
    DAMAGED(20, 9, TAMIS_ECORRUPT, 20, 20, "version is unknown");
    DAMAGED(41, 0x11, TAMIS_ECORRUPT, 40, 40, "page size is impossible");
    DAMAGED(root, 0xEE, TAMIS_ECORRUPT, root, root, "not what its place in the tree demands");
    DAMAGED(root + 10, 4, TAMIS_ECORRUPT, root, root, "not what its place in the tree demands");
    DAMAGED(root + 12, 1, TAMIS_ECORRUPT, root + 12, root + 12, "free space is impossible");
    DAMAGED(root + 15, 0xFF, TAMIS_ECORRUPT, root + 12, root + 12, "free space is impossible");
    DAMAGED(root + 16, 0xFF, TAMIS_ECORRUPT, root + 16, root + 16, "leads outside its page");
    DAMAGED(list, 0, TAMIS_ECORRUPT, list + 8, list + 8, "is of no transaction");
    DAMAGED(list + 7, 1, TAMIS_ECORRUPT, list + 8, list + 8, "of a transaction to come");
#undef DAMAGED
}

/* A buffer of just the file's length, so that ASan sees a read past its end. */
SAMPLE_CASE(pages_truncated_anywhere_are_refused)
{
    for (size_t bytes = 0; bytes < s->bytes; bytes += bytes < 2 * PAGE + 200 ? 7 : 509) {
        struct tamis__page_fault fault = {UINT64_MAX, ""};
        unsigned char *cut = malloc(bytes + !bytes);
        assert_non_null(cut);
        memcpy(cut, s->sound, bytes);
        const int rc = tamis__pages_check(cut, bytes, &fault);
        free(cut);
        assert_int_equal(rc, TAMIS_ECORRUPT);
        assert_true(fault.offset <= s->bytes);
    }
}
