/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * faults_test.c: each operation with its 1st, 2nd, ... system call failing, and then with its 1st,
 * 2nd, ... allocation failing, until a run passes untouched.  After each: success, or an error with
 * a sentence; no descriptor lost; a sound store; the old state or the new; and the operation then
 * succeeds.
 */
#include "fixture.h"
#include "handle/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "catalogs.h"
#include "faults.h"

static const struct tamis_filter_spec plain = {.size = sizeof plain, .capacity = 100};

/* A store with the filter "old" in it, and a handle on each. */
struct stage {
    char *path;
    tamis_store *store;
    tamis_filter *filter;
};

/* ---- Operations: below 0 an error; what they open they close --------------------------------- */

static int64_t open_and_close_store(const char *path, unsigned flags)
{
    tamis_store *store;
    const int rc = tamis_store_open(path, flags, &store);
    if (rc == 0) tamis_store_close(store);
    return rc;
}

static int64_t op_open_store(struct stage *s)
{
    return open_and_close_store(s->path, 0);
}

static int64_t op_open_store_read_only(struct stage *s)
{
    return open_and_close_store(s->path, TAMIS_READ_ONLY);
}

static int64_t op_make_store(struct stage *s)
{
    static char
        made[4096]; /* before the faults count: what the test itself needs is not at issue */
    (void)snprintf(made, sizeof made, "%s-made", s->path);
    return open_and_close_store(made, TAMIS_CREATE);
}

static int64_t op_check(struct stage *s)
{
    return tamis_filter_check(s->path, "new", &plain);
}

static int64_t op_create(struct stage *s)
{
    return tamis_filter_create(s->store, "new", &plain, NULL);
}

static int64_t op_create_and_open(struct stage *s)
{
    tamis_filter *filter = NULL;
    const int rc = tamis_filter_create(s->store, "new", &plain, &filter);
    if (rc == 0) (void)tamis_filter_close(filter);
    return rc;
}

static int64_t op_open_or_create(struct stage *s)
{
    tamis_filter *filter = NULL;
    const int rc = tamis_filter_open_or_create(s->store, "new", &plain, &filter);
    if (rc == 0) (void)tamis_filter_close(filter);
    return rc;
}

static int64_t op_open(struct stage *s)
{
    tamis_filter *filter = NULL;
    const int rc = tamis_filter_open(s->store, "old", 0, &filter);
    if (rc == 0) (void)tamis_filter_close(filter);
    return rc;
}

static int64_t op_add_and_sync(struct stage *s)
{
    const int rc = tamis_filter_add(s->filter, "another", 7);
    return rc < 0 ? rc : tamis_filter_sync(s->filter);
}

static int64_t op_close(struct stage *s)
{
    tamis_filter *filter = NULL;
    int rc = tamis_filter_open(s->store, "old", 0, &filter);
    if (rc < 0) return rc;
    rc = tamis_filter_add(filter, "another", 7);
    const int closed = tamis_filter_close(filter);
    return rc < 0 ? rc : closed;
}

/* The epoch has moved: the call must look into the catalog before it answers. */
static int64_t op_ask_after_epoch(struct stage *s)
{
    int rc = tamis__segment_raise_epoch(&s->filter->store->place,
                                        s->filter->view->segments[0].segment.header->number);
    if (rc < 0) return rc;
    rc = tamis_filter_contains(s->filter, "key", 3);
    return rc == 0 ? TAMIS_ECORRUPT : rc; /* it is there, so 0 is a lie */
}

static int64_t op_stat(struct stage *s)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    return tamis_filter_stat(s->filter, &stat);
}

static int64_t op_drop(struct stage *s)
{
    return tamis_filter_drop(s->store, "old");
}

static int64_t op_rename(struct stage *s)
{
    return tamis_filter_rename(s->store, "old", "renamed");
}

static int count_names(void *context, const struct tamis_filter_stat *stat)
{
    ++*(int *)context;
    return *stat->name == '\0';
}

static int64_t op_list(struct stage *s)
{
    int names = 0;
    const int rc = tamis_store_list(s->store, NULL, count_names, &names);
    return rc == 0 && names != 1 ? TAMIS_ECORRUPT : rc; /* a short list is a lie */
}

static int ignore_problem(void *context, const struct tamis_problem *problem)
{
    (void)context;
    return problem->error == 0 || *problem->reason == '\0'; /* a file that cannot be read is told */
}

static int64_t op_verify(struct stage *s)
{
    return tamis_store_verify(s->store, NULL, ignore_problem, NULL);
}

static const struct operation {
    const char *name;
    int64_t (*run)(struct stage *stage);
    const char *after; /* the names that are there once it is done */
} operations[] = {
    {"open store", op_open_store, "old "},
    {"open store read-only", op_open_store_read_only, "old "},
    {"make store", op_make_store, "old "},
    {"check", op_check, "old "},
    {"create", op_create, "new old "},
    {"create and open", op_create_and_open, "new old "},
    {"open or create", op_open_or_create, "new old "},
    {"open", op_open, "old "},
    {"add and sync", op_add_and_sync, "old "},
    {"open, add and close", op_close, "old "},
    {"ask after epoch", op_ask_after_epoch, "old "},
    {"stat", op_stat, "old "},
    {"drop", op_drop, ""},
    {"rename", op_rename, "renamed "},
    {"list", op_list, "old "},
    {"verify", op_verify, "old "},
};
#define OPERATIONS (sizeof operations / sizeof operations[0])

/* ---- One fault ------------------------------------------------------------------------------- */

static void set_stage(struct stage *s)
{
    s->store = fixture_store(&s->path);
    s->filter = fixture_filter(s->store, "old", 100);
    assert_int_equal(tamis_filter_add(s->filter, "key", 3), 1);
}

static void clear_stage(struct stage *s)
{
    (void)tamis_filter_close(s->filter);
    tamis_store_close(s->store);
    scratch_remove(s->path);
    free(s->path);
}
#define AUTO_STAGE __attribute__((cleanup(clear_stage))) struct stage

static int note_name(void *context, const struct tamis_filter_stat *stat)
{
    strcat(strcat(context, stat->name), " ");
    return 0;
}

static const char *names_in(const struct stage *s)
{
    static char names[256];
    *names = '\0';
    assert_done(tamis_store_list(s->store, NULL, note_name, names));
    return names;
}

/* The count that the catalog has must be the segment's once all is closed. */
static void assert_counts_agree(struct stage *s)
{
    static struct tamis__record record;
    const int64_t items = tamis_filter_items(s->filter);
    assert_done(tamis_filter_sync(s->filter));
    struct tamis__catalog_txn *txn = catalogs_begin(s->store, TAMIS__LOCK_SHARED);
    assert_done(tamis__catalog_get_by_id(txn, s->filter->filter_id, &record));
    tamis__catalog_end(txn);
    assert_int_equal(record.segments[0].items, items);
}

static int words_in(const char *text)
{
    int words = 0;
    for (; *text != '\0'; text++)
        words += *text == ' ';
    return words;
}

typedef void arm_fn(unsigned nth, int error_number);

static char last_run[2048];

static int print_last_run(void **state)
{
    (void)state;
    print_message("the last run: %s\n", last_run); /* where a test failed, that is why */
    return 0;
}

/* Run with the nth call failing.  False once the run does not come as far as that. */
static bool run_with_fault(const struct operation *op, arm_fn *arm, unsigned nth, int error_number)
{
    AUTO_STAGE s;
    set_stage(&s);
    const int descriptors = fixture_descriptors();
    (void)tamis__fail(0, "%s", "");
    arm(nth, error_number);
    int64_t rc = op->run(&s);
    const bool reached = faults_disarm();
    const bool told = *tamis_last_error() != '\0';
    (void)snprintf(last_run, sizeof last_run, "%s, call %u (%s), errno %d: %s", op->name, nth,
                   reached ? faults_where() : "not reached", error_number,
                   rc < 0 ? tamis_last_error() : "done");
    assert_true(rc >= 0 || told);
    assert_true(reached || rc >= 0);
    assert_int_equal(fixture_descriptors(), descriptors);
    assert_int_equal(fixture_problems(s.path), 0);
    const char *names = names_in(&s);
    assert_string_equal(names, rc < 0 ? "old " : op->after);
    if (rc < 0) {
        rc = op->run(&s);
        if (rc < 0) fail_msg("and then: %s", tamis_last_error());
        assert_string_equal(names_in(&s), op->after);
    }
    assert_int_equal(fixture_problems(s.path), 0);
    /* What could not be removed is noted, and gone with the next writer. */
    assert_done(tamis_filter_create(s.store, "next", &plain, NULL));
    assert_int_equal(fixture_files(s.path, "segments"), words_in(op->after) + 1);
    assert_int_equal(fixture_files(s.path, "staging"), 0);
    if (*op->after != '\0') assert_counts_agree(&s);
    return reached;
}

/* ---- The loops ------------------------------------------------------------------------------- */

/* Returns how many calls the operation makes. */
static unsigned fail_each(const struct operation *op, arm_fn *arm, int error_number)
{
    unsigned nth = 1;
    while (run_with_fault(op, arm, nth, error_number))
        nth++;
    return nth - 1;
}

CASE_WITH(faults_in_any_system_call_are_survived, NULL, print_last_run)
{
    static const int errors[] = {ENOSPC, EIO, EMFILE, EACCES, ENOMEM};
    for (size_t i = 0; i < OPERATIONS; i++)
        for (size_t j = 0; j < (FIXTURE_SANITIZED ? 2 : sizeof errors / sizeof errors[0]); j++) {
            const unsigned calls = fail_each(&operations[i], faults_arm_calls, errors[j]);
            if (j == 0) (void)printf("%s: %u system calls\n", operations[i].name, calls);
            assert_true(calls > 1);
        }
}

static void arm_memory(unsigned nth, int error_number)
{
    (void)error_number;
    faults_arm_memory(nth);
}

CASE_WITH(faults_in_any_allocation_are_survived, NULL, print_last_run)
{
    for (size_t i = 0; i < OPERATIONS; i++) {
        const unsigned calls = fail_each(&operations[i], arm_memory, ENOMEM);
        (void)printf("%s: %u allocations\n", operations[i].name, calls);
        assert_true(calls > 0);
    }
}

/* A signal that interrupts: the call is made again, and the operation does not notice. */
CASE(faults_that_are_interruptions_are_not_noticed)
{
    static const char *const verbs[] = {"lock", "allocate"};
    unsigned reached = 0;
    for (size_t i = 0; i < OPERATIONS; i++)
        for (size_t j = 0; j < 2; j++)
            for (unsigned nth = 1;; nth++) {
                struct stage s;
                set_stage(&s);
                faults_arm_verb(nth, EINTR, verbs[j]);
                const int64_t rc = operations[i].run(&s);
                const bool was_reached = faults_disarm();
                if (rc < 0) fail_msg("%s: %s", operations[i].name, tamis_last_error());
                assert_string_equal(names_in(&s), operations[i].after);
                clear_stage(&s);
                if (!was_reached) break;
                reached++;
            }
    assert_true(reached > OPERATIONS);
}

/* What tells the user something only he can mend has its own code, and the mend. */
CASE(faults_are_told_by_code_and_mend)
{
    static const struct {
        int error_number, code;
        const char *words;
    } cases[] = {
        {EACCES, TAMIS_EACCESS, "for permission"},
        {EPERM, TAMIS_EACCESS, "forbids it"},
        {EROFS, TAMIS_EREADONLY, "mounted read-only"},
        {ENOSPC, TAMIS_ENOSPACE, "free some room"},
        {EDQUOT, TAMIS_ENOSPACE, "quota is used up"},
        {EFBIG, TAMIS_ENOSPACE, "ulimit -f"},
        {ENOMEM, TAMIS_ENOMEM, "free some memory"},
        {EMFILE, TAMIS_ELIMIT, "ulimit -n"},
        {ENFILE, TAMIS_ELIMIT, "table of open files is full"},
        {ENOLCK, TAMIS_ELIMIT, "no lock to give"},
        {EIO, TAMIS_EIO, "look at the disk"},
        {EUCLEAN, TAMIS_ESYSTEM, "cannot open"},
    };
    AUTO_STAGE s;
    set_stage(&s);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        faults_arm_verb(1, cases[i].error_number, "open");
        const int64_t rc = op_open_store(&s);
        assert_true(faults_disarm());
        assert_refused(cases[i].code, cases[i].words, rc);
        assert_non_null(strstr(tamis_last_error(), s.path)); /* what it was tried on */
    }
}

/* A disk that fills up while the blocks are reserved: both numbers, nothing left behind. */
CASE(faults_disk_full_at_allocation_tells_both_numbers)
{
    AUTO_STAGE s;
    set_stage(&s);
    faults_arm_verb(1, ENOSPC, "allocate");
    const int64_t rc = op_create(&s);
    assert_true(faults_disarm());
    assert_refused(TAMIS_ENOSPACE, "needs 8.0 KiB (8192 bytes), but its file system has", rc);
    assert_int_equal(fixture_files(s.path, "staging"), 0);
}

CASES_PREPARE
{
    scratch_in_memory();
}
