/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * repair_matrix_test.c: no repair loses what is there.
 *
 * Each file of a store in turn is away, truncated, or unreadable for a while.  Each sequence of up
 * to four of verify, doctor, repair and repair --rebuild runs, and the file is back before, between
 * or behind them.  After each command every sound segment is in segments/ or lost/, byte for byte.
 * Once the file is back, one more repair, with --rebuild if it says so, and the restoring of what
 * is in lost/, give the store of before: each filter, each generation, each exception.
 *
 * Sequences that lead to the same files are followed once: a command that changes nothing ends its
 * branch.  Each run takes sequences of up to two, and three sorts of damage; TAMIS_TEST_LONG=1
 * takes all, in one to two minutes.
 */
#include "fixture.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "editions.h"
#include "os/io.h"
#include "riches.h"
#include "rounds.h"
#include "tamis.h"

#define STATES_MAX 4096u

enum damage { AWAY, TRUNCATED, EMPTY, DENIED, BROKEN_DISK, NO_DESCRIPTORS, NO_MEMORY, DAMAGES };
static const char *const damage_names[] = {"away", "truncated", "empty", "EACCES",
                                           "EIO",  "EMFILE",    "ENOMEM"};
static const int damage_errors[] = {0, 0, 0, EACCES, EIO, EMFILE, ENOMEM};

enum command { VERIFY, DOCTOR, REPAIR, REBUILD, COMMANDS };
static const char *const command_names[] = {"verify", "doctor", "repair", "repair --rebuild"};

static struct {
    char *sound, *kept; /* the store of before; its copy of the file that is damaged */
    char *portrait;
    char file[280]; /* path in the store of what is damaged */
    enum damage damage;
    bool is_damaged;
    char story[400]; /* what was done, for messages */
    struct {
        uint64_t digest;
        unsigned left;
        bool is_damaged;
    } seen[STATES_MAX];
    size_t seen_count;
    uint64_t nodes;
} now;

/* ---- Files ----------------------------------------------------------------------------------- */

typedef void file_fn(void *context, const char *name);

static void each_file(const char *store, const char *directory, file_fn *fn, void *context)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", store, directory);
    DIR *dir = opendir(path);
    if (dir == NULL) return;
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char name[600];
        struct stat st;
        (void)snprintf(name, sizeof name, "%s%s%s", directory, *directory ? "/" : "",
                       entry->d_name);
        (void)snprintf(path, sizeof path, "%s/%s", store, name);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) fn(context, name);
    }
    (void)closedir(dir);
}

static const char *const directories[] = {"", "segments", "logs", "lost"};

static void each_file_of_all(const char *store, file_fn *fn, void *context)
{
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++)
        each_file(store, directories[i], fn, context);
}

/* The digest of a file from an offset on; 0: there is no file. */
static uint64_t digest_of(const char *store, const char *name, long from)
{
    static char buffer[1 << 16];
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", store, name);
    FILE *in = fopen(path, "rb");
    if (in == NULL) return 0;
    assert_int_equal(fseek(in, from, SEEK_SET), 0);
    uint64_t digest = 1;
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, in)) > 0;)
        digest = XXH3_64bits_withSeed(buffer, got, digest);
    (void)fclose(in);
    return digest;
}

struct total {
    const char *store;
    uint64_t digest; /* of all files, in any order */
};

static void add_digest(void *context, const char *name)
{
    struct total *total = context;
    const uint64_t parts[] = {XXH3_64bits(name, strlen(name)), digest_of(total->store, name, 0)};
    total->digest += XXH3_64bits(parts, sizeof parts);
}

static uint64_t digest_all(const char *store)
{
    struct total total = {.store = store};
    each_file_of_all(store, add_digest, &total);
    return total.digest;
}

/* ---- What must hold -------------------------------------------------------------------------- */

struct search {
    const char *store;
    uint64_t digest;
    long from;
    bool found;
};

static void look_for_digest(void *context, const char *name)
{
    struct search *search = context;
    if (!search->found)
        search->found = digest_of(search->store, name, search->from) == search->digest;
}

/* Where the data of a sound segment begin, whose header may change; of a log 0. */
static long data_of(const char *name)
{
    if (strncmp(name, "segments/", 9) != 0) return 0;
    const struct tamis__segment_header h = fixture_header_of(fixture_join(now.sound, name));
    return tamis__header_is_one_page(&h) ? (long)h.data_offset : TAMIS__HEADER_BYTES;
}

/* Is the sound file still in the store, with its data as they were?  (Broken: of a file of one page
 * nothing was compared.) */
static void check_kept(void *context, const char *name)
{
    const char *store = context;
    if (strncmp(name, "segments/", 9) != 0 && strncmp(name, "logs/", 5) != 0) return;
    if (now.is_damaged && strcmp(name, now.file) == 0) return;
    struct search search = {.store = store, .from = data_of(name)};
    search.digest = digest_of(now.sound, name, search.from);
    look_for_digest(&search, name);
    if (!search.found) each_file(store, "lost", look_for_digest, &search);
    if (!search.found) fail_msg("%s: %s is gone", now.story, name);
}

static int restore_one(void *context, const struct tamis_lost_file *file)
{
    if (strcmp(file->from, "catalog.mdb") == 0) return 0; /* an older one stays in lost/ */
    if (tamis_store_restore_lost(context, file->name) < 0 &&
        strstr(tamis_last_error(), "nothing was ever added") == NULL)
        fail_msg("%s: %s is not restored: %s", now.story, file->name, tamis_last_error());
    return 0;
}

/* Takes the digits behind "items " out of a part of a portrait. */
static void remove_items(char *at, const char *end)
{
    if (at == NULL || end == NULL) return;
    for (at = strstr(at, "items "); at != NULL && at < end; at = strstr(at, "items ")) {
        at += strlen("items ");
        const size_t digits = strspn(at, "0123456789");
        memmove(at, at + digits, strlen(at + digits) + 1);
    }
}

/* The portrait without the state: a filter that lacked a part is unclean until its owner accepts.
 */
static char *portrait_of(const char *store)
{
    char *text = NULL;
    if (riches_try_portrait(store, &text) < 0)
        fail_msg("%s: it cannot be asked: %s\n%s", now.story, tamis_last_error(), text);
    for (char *at = text; (at = strstr(at, "state ")) != NULL; at += 6)
        at[6] = 'S';
    remove_items(strstr(text, "durable: "), strstr(text, "empty: "));
    return text;
}

/* Fails with the first line that differs. */
static void compare_portraits(const char *is)
{
    const char *was = now.portrait;
    size_t same = 0;
    while (was[same] != '\0' && was[same] == is[same])
        same++;
    if (was[same] == is[same]) return;
    while (same > 0 && was[same - 1] != '\n')
        same--;
    fail_msg("%s: it was:\n%.*s\nand is:\n%.*s", now.story, (int)strcspn(was + same, "\n"),
             was + same, (int)strcspn(is + same, "\n"), is + same);
}

static int note_advice(void *context, const struct tamis_repair_step *step)
{
    if (step->error != 0 && strstr(step->what, "'tamis repair --rebuild'") != NULL)
        *(bool *)context = true;
    return 0;
}

static void check_whole(const char *store)
{
    AUTO_FREE char *copy = scratch_path("whole");
    scratch_copy(store, copy);
    /* If an earlier generation was put in force, the repair says what brings the later one back. */
    bool by_rebuild = false;
    if (tamis_store_repair(copy, 0, note_advice, &by_rebuild) < 0 ||
        (by_rebuild && tamis_store_repair(copy, TAMIS_REPAIR_REBUILD, NULL, NULL) < 0))
        fail_msg("%s: the last repair: %s", now.story, tamis_last_error());
    assert_true(tamis_store_lost(copy, restore_one, copy) >= 0);
    if (fixture_problems(copy) != 0) fail_msg("%s: there are problems", now.story);
    AUTO_FREE char *portrait = portrait_of(copy);
    compare_portraits(portrait);
    scratch_remove(copy);
}

/* ---- Commands -------------------------------------------------------------------------------- */

static unsigned refused;

static int refuse_file(const char *verb, const char *what)
{
    const size_t bytes = strlen(what), end = strlen(now.file);
    const char *tail = strrchr(now.file, '/');
    const bool is_it = (bytes >= end && strcmp(what + bytes - end, now.file) == 0) ||
                       (tail != NULL && strstr(what, tail) != NULL);
    const char *refuses = damage_errors[now.damage] == EIO ? "read" : "open";
    if (!is_it || strcmp(verb, refuses) != 0) return 0;
    refused++;
    return damage_errors[now.damage];
}

static int64_t verify(const char *store, unsigned flags)
{
    tamis_store *opened;
    int64_t rc = tamis_store_open(store, flags, &opened);
    if (rc < 0) return rc;
    rc = tamis_store_verify(opened, NULL, NULL, NULL);
    tamis_store_close(opened);
    return rc;
}

static int64_t run(const char *store, enum command command)
{
    if (command == VERIFY) return verify(store, 0);
    if (command == DOCTOR) {
        (void)verify(store, TAMIS_OPEN_READ_ONLY);
        return tamis_store_repair(store, TAMIS_REPAIR_DRY_RUN, NULL, NULL);
    }
    return tamis_store_repair(store, command == REBUILD ? TAMIS_REPAIR_REBUILD : 0, NULL, NULL);
}

/* Runs a command while the file may be unreadable.  A repair is then refused, names the file, and
 * changes nothing. */
static void run_and_check(char *store, enum command command)
{
    const uint64_t before = digest_all(store);
    const bool is_unreadable = now.is_damaged && now.damage >= DENIED;
    if (is_unreadable) tamis__io_hook = refuse_file;
    refused = 0;
    const int64_t rc = run(store, command);
    tamis__io_hook = NULL;
    if (refused > 0 && command >= REPAIR) {
        const char *slash = strrchr(now.file, '/'), *name = slash ? slash + 1 : now.file;
        if (rc >= 0 || strstr(tamis_last_error(), name) == NULL ||
            strstr(tamis_last_error(), "nothing was changed") == NULL)
            fail_msg("%s: it ran although it could not read: %s", now.story, tamis_last_error());
    }
    if ((command == DOCTOR || (refused > 0 && command >= REPAIR)) && digest_all(store) != before)
        fail_msg("%s: the store was changed", now.story);
    each_file_of_all(now.sound, check_kept, store);
}

/* ---- Damage ---------------------------------------------------------------------------------- */

static void do_damage(const char *store)
{
    char path[4096];
    struct stat st;
    (void)snprintf(path, sizeof path, "%s/%s", store, now.file);
    assert_int_equal(stat(path, &st), 0);
    if (now.damage == AWAY) assert_int_equal(unlink(path), 0);
    if (now.damage == TRUNCATED) assert_int_equal(truncate(path, st.st_size / 2), 0);
    if (now.damage == EMPTY) assert_int_equal(truncate(path, 0), 0);
}

static void bring_back(const char *store)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", store, now.file);
    if (now.damage >= DENIED) return;
    (void)unlink(path);
    scratch_copy(now.kept, path);
}

/* ---- The tree -------------------------------------------------------------------------------- */

static bool is_new(const char *store, unsigned left)
{
    const uint64_t digest = digest_all(store);
    for (size_t i = 0; i < now.seen_count; i++)
        if (now.seen[i].digest == digest && now.seen[i].is_damaged == now.is_damaged) {
            if (now.seen[i].left >= left) return false;
            now.seen[i].left = left;
            return true;
        }
    assert_true(now.seen_count < STATES_MAX);
    now.seen[now.seen_count].digest = digest;
    now.seen[now.seen_count].left = left;
    now.seen[now.seen_count++].is_damaged = now.is_damaged;
    return true;
}

static void walk(char *store, unsigned left); /* NOLINT(misc-no-recursion) */

/* NOLINTNEXTLINE(misc-no-recursion): four levels deep, and one for the file that comes back */
static void branch(char *store, unsigned left, int command)
{
    AUTO_FREE char *copy = scratch_path("branch");
    const size_t told = strlen(now.story);
    const bool was_damaged = now.is_damaged;
    (void)snprintf(now.story + told, sizeof now.story - told, ", %s",
                   command < 0 ? "back" : command_names[command]);
    if (command == DOCTOR) { /* it changes nothing, so nothing follows that is not followed */
        run_and_check(store, DOCTOR);
        now.story[told] = '\0';
        return;
    }
    scratch_copy(store, copy);
    if (command < 0) {
        bring_back(copy);
        now.is_damaged = false;
    } else {
        run_and_check(copy, (enum command)command);
    }
    if (is_new(copy, command < 0 ? left : left - 1)) walk(copy, command < 0 ? left : left - 1);
    now.is_damaged = was_damaged;
    now.story[told] = '\0';
    scratch_remove(copy);
}

/* NOLINTNEXTLINE(misc-no-recursion): see branch() */
static void walk(char *store, unsigned left)
{
    now.nodes++;
    if (now.is_damaged)
        branch(store, left, -1);
    else
        check_whole(store);
    for (int command = 0; left > 0 && command < COMMANDS; command++)
        branch(store, left, command);
}

static void walk_file(void *context, const char *name)
{
    (void)context;
    AUTO_FREE char *store = scratch_path("damaged");
    (void)snprintf(now.file, sizeof now.file, "%s", name);
    (void)snprintf(now.story, sizeof now.story, "%s %s", name, damage_names[now.damage]);
    now.kept = strdup(fixture_join(now.sound, name));
    now.seen_count = 0;
    scratch_copy(now.sound, store);
    do_damage(store);
    now.is_damaged = true;
    walk(store, rounds(2, 4));
    scratch_remove(store);
    free(now.kept);
}

/* ---- The store ------------------------------------------------------------------------------- */

static void add_and_die(void *context)
{
    tamis_store *store = fixture_open(context, 0);
    tamis_filter *filter = fixture_opened(store, "durable", 0);
    for (uint64_t key = 0; key < 100; key++)
        assert_int_equal(tamis_filter_add(filter, &key, sizeof key), 1);
    _exit(3);
}

static void fill(tamis_store *store, const char *name, const struct tamis_filter_spec *spec,
                 uint64_t count)
{
    AUTO_FILTER *filter = fixture_create(store, name, spec);
    for (uint64_t key = 0; key < count; key++)
        assert_true(tamis_filter_add(filter, &key, sizeof key) >= 0);
}

/* Generations 1 to 3, of which 2 are left, with exceptions. */
static void publish(tamis_store *store)
{
    const uint64_t numbers[] = {2001, 777};
    const struct tamis_key keys[] = {{&numbers[0], 8}, {&numbers[1], 8}};
    for (uint64_t g = 0; g < 3; g++)
        assert_done(editions_publish(store, "list", g * 1000, 1000, NULL, NULL));
    assert_int_equal(tamis_filter_except(store, "list", keys, 2), 2);
    riches_publish_fuse(store, "static", 0, 1000);
    riches_publish_fuse(store, "static", 500, 2000);
}

/* Filters whose files differ in what a repair makes of them; small, as each is copied thousands of
 * times. */
static void make_store(void)
{
    tamis_store *store = fixture_store(&now.sound);
    fill(store, "plain", SPEC(.capacity = 1000), 500);
    fill(store, "empty", SPEC(.capacity = 1000), 0);
    fill(store, "grown", SPEC(.capacity = 100, .fp_rate = 0.5), 10000);
    fill(store, "window", SPEC(.window_items = 100, .slices = 2), 250);
    fill(store, "counting", SPEC(.capacity = 500, .kind = TAMIS_KIND_COUNTING), 200);
    publish(store);
    assert_done(tamis_filter_create(store, "durable",
                                    SPEC(.capacity = 1000, .flags = TAMIS_FILTER_DURABLE), NULL));
    tamis_store_close(store);
    assert_int_equal(fixture_child(add_and_die, now.sound), 3);
    now.portrait = portrait_of(now.sound);
}

static void walk_all(enum damage damage)
{
    make_store();
    now.damage = damage;
    now.nodes = 0;
    each_file_of_all(now.sound, walk_file, NULL);
    printf("%s: %llu states of the store\n", damage_names[damage], (unsigned long long)now.nodes);
    scratch_remove(now.sound);
    free(now.sound);
    free(now.portrait);
}

CASE(a_file_that_was_away_is_back)
{
    walk_all(AWAY);
}

CASE(a_file_that_could_not_be_read_is_back)
{
    walk_all(DENIED);
    for (int damage = BROKEN_DISK; rounds_are_long() && damage < DAMAGES; damage++)
        walk_all((enum damage)damage);
}

CASE(a_file_that_was_truncated_is_back)
{
    if (rounds_are_long()) walk_all(TRUNCATED);
    walk_all(EMPTY);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
