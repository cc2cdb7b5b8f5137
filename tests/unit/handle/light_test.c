/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small filters that are asked without being open (handle/light.c,
 * docs/decisions/0028-light-handles.md).
 *
 * Broken to see it fail: a question that does not compare the seal; a seal without the epoch; one
 * that does not look at `next`, or takes a filter that refuses for one that has grown; a light
 * handle that has the epoch of the sheet, and not that of the view; a look at the catalog that does
 * not compare the time of creation; no look at the tail, or at the magic; a broken drawer that
 * stays mapped; a cabinet that never gives a drawer back.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "builds.h"
#include "filter/points.h"
#include "fixture.h"
#include "handle/points.h"
#include "hooks.h"
#include "segment/sheet.h"
#include "txn/points.h"

#define KEYS 20u /* that a filter has at first */
#define NONE 2   /* no answer: the filter must be opened */

static const char *name_of(unsigned i)
{
    static char name[32];
    (void)snprintf(name, sizeof name, "user/%04u", i);
    return name;
}

static void make(tamis_store *store, unsigned i)
{
    struct tamis_key keys[KEYS];
    unsigned numbers[KEYS];
    for (unsigned k = 0; k < KEYS; k++) {
        numbers[k] = i * 1000 + k;
        keys[k] = (struct tamis_key){&numbers[k], sizeof numbers[k]};
    }
    const struct tamis_filled filled = {
        .name = name_of(i),
        .spec = SPEC(.capacity = 100, .fp_rate = 0.01, .flags = TAMIS_FILTER_IN_DRAWER),
        .keys = keys,
        .key_count = i % 8 == 7 ? 0 : KEYS};
    assert_done(tamis_filter_create_filled(store, &filled, 1));
}

static void add_one(tamis_store *store, unsigned i, unsigned key)
{
    AUTO_FILTER *filter = fixture_opened(store, name_of(i), 0);
    assert_done(tamis_filter_add(filter, &key, sizeof key));
}

/* 1, 0 or NONE. */
static int ask(tamis_cabinet *cabinet, const struct tamis_light *light, unsigned key)
{
    uint8_t answer = 99;
    const int rc =
        tamis_light_ask(cabinet, light, &(struct tamis_key){&key, sizeof key}, 1, &answer);
    assert_done(rc);
    return rc == 1 ? answer : NONE;
}

static tamis_cabinet *cabinet_of(tamis_store *store, uint32_t most)
{
    tamis_cabinet *cabinet = NULL;
    assert_done(tamis_cabinet_open(store, most, &cabinet));
    return cabinet;
}

static struct tamis_light found(tamis_cabinet *cabinet, unsigned i)
{
    struct tamis_light light;
    assert_int_equal(tamis_light_find(cabinet, name_of(i), 0, &light), 1);
    return light;
}

static struct tamis_light of_open(tamis_store *store, unsigned i)
{
    struct tamis_light light;
    AUTO_FILTER *filter = fixture_opened(store, name_of(i), TAMIS_READ_ONLY);
    assert_int_equal(tamis_light_of(filter, &light), 1);
    return light;
}

static uint64_t number_of(tamis_store *store, unsigned i)
{
    AUTO_FILTER *filter = fixture_opened(store, name_of(i), TAMIS_READ_ONLY);
    return fixture_segment_stat(filter, 0).number;
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* Of all sorts that go into a drawer, keys and strangers; both ways to a light handle are one. */
STORE_CASE(light_handles_answer_as_open_ones)
{
    static const struct tamis_filter_spec specs[] = {
        SPEC_FIELD(.capacity = 100, .flags = TAMIS_FILTER_IN_DRAWER),
        SPEC_FIELD(.capacity = 2000, .fp_rate = 0.01, .flags = TAMIS_FILTER_IN_DRAWER),
        SPEC_FIELD(.capacity = 100, .fp_rate = 0.0001, .flags = TAMIS_FILTER_IN_DRAWER),
        SPEC_FIELD(.m_bits = 777, .k = 3, .flags = TAMIS_FILTER_IN_DRAWER),
        SPEC_FIELD(.capacity = 50, .kind = TAMIS_KIND_BLOOM, .flags = TAMIS_FILTER_IN_DRAWER),
    };
    enum { ASKED = 3000 };
    static unsigned numbers[ASKED];
    static struct tamis_key keys[ASKED];
    static uint8_t is[ASKED], wanted[ASKED];
    tamis_cabinet *cabinet = cabinet_of(store, 8);
    for (unsigned k = 0; k < ASKED; k++) {
        numbers[k] = k;
        keys[k] = (struct tamis_key){&numbers[k], sizeof numbers[k]};
    }
    for (unsigned i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        struct tamis_light light;
        assert_done(tamis_filter_create(store, name_of(i), &specs[i], NULL));
        AUTO_FILTER *filter = fixture_opened(store, name_of(i), 0);
        for (unsigned k = 0; k < 45; k++)
            assert_done(tamis_filter_add(filter, &numbers[k], sizeof numbers[k]));
        assert_int_equal(tamis_light_of(filter, &light), 1);
        const struct tamis_light again = found(cabinet, i);
        assert_memory_equal(&light, &again, sizeof light);
        assert_done(tamis_filter_contains_batch(filter, keys, ASKED, wanted));
        assert_int_equal(tamis_light_ask(cabinet, &light, keys, ASKED, is), 1);
        assert_memory_equal(is, wanted, ASKED);
        for (unsigned k = 0; k < 45; k++)
            assert_int_equal(is[k], 1);
    }
    tamis_cabinet_close(cabinet);
}

STORE_CASE(light_handles_are_of_small_filters_alone)
{
    struct tamis_light light = {1, 1};
    tamis_cabinet *cabinet = cabinet_of(store, 8);
    make(store, 1);
    AUTO_FILTER *file = fixture_filter(store, "file", 1000);
    assert_int_equal(tamis_light_of(file, &light), 0);
    assert_int_equal(light.sheet | light.seal, 0);
    assert_int_equal(ask(cabinet, &light, 1), NONE);
    assert_int_equal(tamis_light_find(cabinet, "file", 0, &light), 0);
    assert_int_equal(tamis_light_find(cabinet, "nowhere", 0, &light), 0);
    assert_int_equal(tamis_light_find(cabinet, name_of(1), 1, &light), 0);
    AUTO_FILTER *one = fixture_opened(store, name_of(1), 0);
    assert_int_equal(tamis_light_find(cabinet, name_of(1), tamis_filter_created_at(one), &light),
                     1);
    for (unsigned key = 0; key < 1000; key++) /* it grows out of the drawer */
        assert_done(tamis_filter_add(one, &key, sizeof key));
    assert_int_equal(tamis_light_of(one, &light), 0);
    assert_int_equal(tamis_light_find(cabinet, name_of(1), 0, &light), 0);
    const int lock = fixture_lock_catalog(path);
    assert_true(lock >= 0);
    assert_int_equal(tamis_light_find(cabinet, "file", 0, &light), 0); /* it does not wait */
    assert_int_equal(close(lock), 0);
    tamis_cabinet_close(cabinet);
}

/* ---- What others do -------------------------------------------------------------------------- */

/* What another process does to filter 1, and what a light handle of before says of key 1000, which
 * the filter has, then; and whether a new one can be had. */
struct deed {
    const char *what;
    void (*does)(tamis_store *store);
    int answer;
    int again;
};

static void adds(tamis_store *store)
{
    add_one(store, 1, 5);
}
static void renames(tamis_store *store)
{
    assert_done(tamis_filter_rename(store, name_of(1), "another"));
    assert_done(tamis_filter_rename(store, "another", name_of(1)));
}
static void drops(tamis_store *store)
{
    assert_done(tamis_filter_drop(store, name_of(1)));
}
static void drops_and_makes(tamis_store *store)
{
    drops(store);
    make(store, 1);
}
static void grows(tamis_store *store)
{
    AUTO_FILTER *filter = fixture_opened(store, name_of(1), 0);
    for (unsigned key = 5000; key < 5200; key++)
        assert_done(tamis_filter_add(filter, &key, sizeof key));
    assert_true(fixture_stat(filter).segment_count > 1);
}
static void excepts(tamis_store *store)
{
    const unsigned key = 1000;
    assert_int_equal(
        tamis_filter_except(store, name_of(1), &(struct tamis_key){&key, sizeof key}, 1), 1);
}
static void excepts_and_takes_back(tamis_store *store)
{
    const unsigned key = 1000;
    excepts(store);
    assert_int_equal(
        tamis_filter_unexcept(store, name_of(1), &(struct tamis_key){&key, sizeof key}, 1, NULL),
        1);
}
static void builds(tamis_store *store)
{
    const struct builds_keys keys = {.family = 'b', .count = 50, .times = 1};
    const struct tamis_build_spec spec = {.size = sizeof spec,
                                          .filter = SPEC(.kind = TAMIS_KIND_BLOCKED)};
    assert_done(builds_run(store, name_of(1), &spec, &keys, NULL));
}
static void sets_pages(tamis_store *store)
{
    assert_done(tamis_filter_set_pages(store, name_of(1), TAMIS_PAGES_SMALL));
}
static void dies_at_epoch_of_drop(tamis_store *store)
{
    hooks_signal_at(TAMIS__POINT_DROP_EPOCH, SIGKILL, 0);
    drops(store);
}
static void dies_behind_drop(tamis_store *store)
{
    hooks_signal_at(TAMIS__POINT_DROP_UNLINK, SIGKILL, 0);
    drops(store);
}
static void dies_at_epoch_of_exceptions(tamis_store *store)
{
    hooks_signal_at(TAMIS__POINT_PUBLISH_EPOCH, SIGKILL, 0);
    excepts(store);
}
static void dies_at_words_of_exceptions(tamis_store *store)
{
    hooks_signal_at(TAMIS__POINT_PUBLISH_WORD, SIGKILL, 0);
    excepts(store);
}

static const struct deed deeds[] = {
    {"adds", adds, 1, 1},
    {"renames", renames, 1, 1},
    {"drops", drops, NONE, 0},
    {"drops and makes", drops_and_makes, NONE, 1},
    {"grows", grows, NONE, 0},
    {"excepts", excepts, NONE, 0},
    {"excepts and takes back", excepts_and_takes_back, NONE, 0},
    {"builds", builds, NONE, 0},
    {"sets pages", sets_pages, NONE, 1},
    {"dies at the epoch of a drop", dies_at_epoch_of_drop, NONE, 1},
    {"dies behind a drop", dies_behind_drop, NONE, 0},
    {"dies at the epoch of exceptions", dies_at_epoch_of_exceptions, NONE, 1},
    {"dies at the words of exceptions", dies_at_words_of_exceptions, NONE, 0},
};

static const struct deed *deed;

static void do_it(void *path)
{
    tamis_store *store = fixture_open(path, 0);
    deed->does(store);
    tamis_store_close(store);
    _exit(0);
}

/* Filter 1 for a deed; the drawer has others, so that it stays. */
static void prepare(tamis_store *store)
{
    for (unsigned i = 0; i < 4; i++)
        make(store, i);
}

static void drop_all(tamis_store *store)
{
    for (unsigned i = 0; i < 4; i++)
        (void)!tamis_filter_drop(store, name_of(i));
}

STORE_CASE(light_handles_see_what_other_processes_do)
{
    for (deed = deeds; deed < deeds + sizeof deeds / sizeof deeds[0]; deed++) {
        struct tamis_light again;
        tamis_cabinet *cabinet = cabinet_of(store, 8);
        prepare(store);
        AUTO_FILTER *sleeper = fixture_opened(store, name_of(1), TAMIS_READ_ONLY);
        const struct tamis_light light = found(cabinet, 1), other = found(cabinet, 2);
        assert_int_equal(ask(cabinet, &light, 1000), 1);
        assert_int_equal(ask(cabinet, &light, 5), 0);
        (void)fixture_child(do_it, path);
        if (ask(cabinet, &light, 1000) != deed->answer) fail_msg("who %s is not seen", deed->what);
        if (deed->answer == 1) assert_int_equal(ask(cabinet, &light, 5), deed->does == adds);
        /* A handle that slept over it has the list of before, and says so. */
        assert_done(tamis_light_of(sleeper, &again));
        if (ask(cabinet, &again, 1000) != deed->answer) fail_msg("a sleeper: %s", deed->what);
        assert_int_equal(ask(cabinet, &other, 2000), 1);
        if (tamis_light_find(cabinet, name_of(1), 0, &again) != deed->again)
            fail_msg("found again: %s", deed->what);
        if (deed->again) assert_int_equal(ask(cabinet, &again, 1000), 1);
        tamis_cabinet_close(cabinet);
        drop_all(store);
    }
}

/* The same between the look at the words and that at the bits: the answer is that of before. */
static char *store_path;

static void do_it_meanwhile(unsigned point)
{
    if (point != TAMIS__POINT_LIGHT_LOOKED) return;
    tamis__point_hook = NULL;
    (void)fixture_child(do_it, store_path);
}

STORE_CASE(light_questions_that_have_begun_are_answered)
{
    store_path = path;
    for (deed = deeds; deed < deeds + sizeof deeds / sizeof deeds[0]; deed++) {
        tamis_cabinet *cabinet = cabinet_of(store, 8);
        prepare(store);
        const struct tamis_light light = found(cabinet, 1);
        tamis__point_hook = do_it_meanwhile;
        assert_int_equal(ask(cabinet, &light, 1000), 1);
        assert_int_equal(ask(cabinet, &light, 1000), deed->answer);
        tamis_cabinet_close(cabinet);
        drop_all(store);
    }
}

/* A filter that refuses keys is the same list. */
STORE_CASE(light_handles_answer_of_a_filter_that_is_full)
{
    unsigned key = 0;
    tamis_cabinet *cabinet = cabinet_of(store, 8);
    assert_done(tamis_filter_create(
        store, name_of(0),
        SPEC(.capacity = 100, .on_full = TAMIS_ON_FULL_REFUSE, .flags = TAMIS_FILTER_IN_DRAWER),
        NULL));
    const struct tamis_light light = found(cabinet, 0);
    AUTO_FILTER *filter = fixture_opened(store, name_of(0), 0);
    while (key < 1000 && tamis_filter_add(filter, &key, sizeof key) >= 0)
        key++;
    for (unsigned i = 0; i < key; i++)
        assert_int_equal(ask(cabinet, &light, i), 1);
    tamis_cabinet_close(cabinet);
}

/* ---- Two processes --------------------------------------------------------------------------- */

#define ROUNDS (FIXTURE_SANITIZED ? 40u : 400u)
#define RUNS_MAX 20u

/* Does all of the deeds that no kill ends, in a mixed order. */
static void do_all(void *path)
{
    static void (*const what[])(tamis_store *) = {adds,    renames, drops_and_makes,
                                                  excepts, adds,    drops_and_makes};
    tamis_store *store = fixture_open(path, 0);
    for (unsigned i = 0; i < ROUNDS; i++)
        if (what[i % 6] == excepts) {
            excepts_and_takes_back(store);
        } else {
            what[i % 6](store);
        }
    tamis_store_close(store);
    _exit(0);
}

/* Filter 1 always has key 1000, but while it is an exception, and never 6; what has no answer is
 * looked for anew. */
STORE_CASE(light_handles_are_right_beside_a_process_that_changes_all)
{
    unsigned long answers = 0, misses = 0;
    tamis_cabinet *cabinet = cabinet_of(store, 8);
    prepare(store);
    struct tamis_light light = found(cabinet, 1), still = found(cabinet, 2);
    /* On a busy machine one of the two may not run while the other one does. */
    for (unsigned run = 0; run < RUNS_MAX && (answers == 0 || misses == 0); run++) {
        int status = 0;
        const pid_t child = fork();
        if (child == 0) do_all(path);
        while (waitpid(child, &status, WNOHANG) == 0) {
            const int has = ask(cabinet, &light, 1000), stranger = ask(cabinet, &light, 6);
            assert_int_equal(has == 0 || stranger == 1, 0);
            assert_int_equal(ask(cabinet, &still, 2000), 1);
            answers += has == 1;
            if (has != NONE) continue;
            misses++;
            (void)!tamis_light_find(cabinet, name_of(1), 0, &light);
        }
        assert_int_equal(status, 0);
    }
    print_message("%lu answers, %lu questions without one\n", answers, misses);
    assert_true(answers > 0 && misses > 0);
    tamis_cabinet_close(cabinet);
}

/* ---- Files that are cut or exchanged --------------------------------------------------------- */

static void on_sigbus(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)context;
    if (!tamis_sigbus_mend(info->si_addr)) _exit(99);
}

/* Cuts the drawer at each 64th byte, from the end on, and makes it as long as it was again, or not;
 * a filter that is not whole is never said to lack its key. */
static bool is_undone;

static void look_at_cuts(void *path)
{
    struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};
    tamis_store *store = fixture_open(path, 0);
    struct tamis_light lights[24];
    const uint64_t number = number_of(store, 0);
    (void)sigaction(SIGBUS, &action, NULL);
    tamis_cabinet *cabinet = cabinet_of(store, 8);
    for (unsigned i = 0; i < 24; i++)
        lights[i] = found(cabinet, i);
    const uint64_t end = tamis__sheet_offset(number) + 24 * 512;
    for (uint64_t at = end; at > tamis__sheet_offset(number) - 64; at -= 64) {
        if (truncate(fixture_segment_path(path, number), (off_t)at) != 0) _exit(3);
        if (is_undone && truncate(fixture_segment_path(path, number), TAMIS__DRAWER_BYTES) != 0)
            _exit(3);
        for (unsigned i = 0; i < 24; i++) {
            const bool is_whole = tamis__sheet_offset(number) + (i + 1) * 512 <= at;
            const int answer = ask(cabinet, &lights[i], i % 8 == 7 ? 1 : i * 1000);
            if (answer != NONE && answer != (i % 8 != 7)) _exit(4);
            /* A key that seems to be absent shows that the drawer has lost its end. */
            if (is_whole && answer == NONE && at == end && (is_undone || i < 7)) _exit(5);
        }
    }
    for (unsigned i = 0; i < 24; i++)
        if (ask(cabinet, &lights[i], i * 1000) != NONE) _exit(6);
    _exit(0);
}

STORE_CASE(light_handles_never_lose_keys_in_a_file_that_is_cut)
{
    for (unsigned i = 0; i < 24; i++)
        make(store, i);
    is_undone = false;
    assert_int_equal(fixture_child(look_at_cuts, path), 0);
}

STORE_CASE(light_handles_never_lose_keys_in_a_file_that_was_cut)
{
    for (unsigned i = 0; i < 24; i++)
        make(store, i);
    is_undone = true;
    assert_int_equal(fixture_child(look_at_cuts, path), 0);
}

/* The file is cut while it is asked: the guard notes it. */
static off_t cut_at;

static void cut_meanwhile(unsigned point)
{
    if (point != TAMIS__POINT_LIGHT_LOOKED) return;
    tamis__point_hook = NULL;
    if (truncate(store_path, cut_at) != 0) _exit(3);
    if (is_undone && truncate(store_path, TAMIS__DRAWER_BYTES) != 0) _exit(3);
}

static void look_while_cut(void *path)
{
    struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};
    tamis_store *store = fixture_open(path, 0);
    (void)sigaction(SIGBUS, &action, NULL);
    tamis_cabinet *cabinet = cabinet_of(store, 8);
    const struct tamis_light light = found(cabinet, 7), full = found(cabinet, 6);
    store_path = strdup(fixture_segment_path(path, number_of(store, 0)));
    add_one(store, 7, 1); /* without a tail */
    tamis__point_hook = cut_meanwhile;
    if (ask(cabinet, &light, 1) != NONE) _exit(4);
    if (ask(cabinet, &full, 6000) != NONE) _exit(5);
    if (tamis_cabinet_tidy(cabinet, 0, 0) != is_undone) _exit(6);
    _exit(0);
}

STORE_CASE(light_questions_notice_a_page_that_is_cut)
{
    for (unsigned i = 0; i < 8; i++)
        make(store, i);
    cut_at = 7000; /* within the page, before the sheet of 7 */
    is_undone = false;
    assert_int_equal(fixture_child(look_while_cut, path), 0);
}

STORE_CASE(light_questions_notice_a_page_that_was_cut)
{
    for (unsigned i = 0; i < 8; i++)
        make(store, i);
    cut_at = 7000;
    is_undone = true;
    assert_int_equal(fixture_child(look_while_cut, path), 0);
}

STORE_CASE(light_questions_notice_the_end_of_a_file)
{
    for (unsigned i = 0; i < 8; i++)
        make(store, i);
    cut_at = 4096;
    is_undone = false;
    assert_int_equal(fixture_child(look_while_cut, path), 0);
}

/* Another file under the name of the drawer, with each word of the constants another one: what was
 * mapped before answers, and what is mapped anew does not. */
STORE_CASE(light_handles_know_their_sheet)
{
    static const uint64_t bad = 0x0101010101010101;
    for (unsigned i = 0; i < 2; i++)
        make(store, i);
    const uint64_t number = number_of(store, 1);
    AUTO_FREE char *file = strdup(fixture_segment_path(path, number));
    tamis_cabinet *cabinet = cabinet_of(store, 8);
    const struct tamis_light light = found(cabinet, 1);
    for (uint64_t at = 0; at < offsetof(struct tamis__sheet, checksum); at += 8) {
        uint64_t was;
        const uint64_t offset = tamis__sheet_offset(number) + at;
        fixture_peek(file, offset, &was, sizeof was);
        fixture_poke(file, offset, &(uint64_t){was ^ bad}, sizeof was);
        assert_int_equal(ask(cabinet, &light, 1000), NONE);
        fixture_poke(file, offset, &was, sizeof was);
        assert_int_equal(ask(cabinet, &light, 1000), 1);
    }
    /* The sheet of a filter that was dropped, in the place of which somebody wrote another one. */
    tamis_cabinet_forget(cabinet, number);
    unsigned char sheet[512];
    fixture_peek(file, tamis__sheet_offset(number) - 512, sheet, sizeof sheet);
    fixture_poke(file, tamis__sheet_offset(number), sheet, sizeof sheet);
    assert_int_equal(ask(cabinet, &light, 1000), NONE);
    tamis_cabinet_close(cabinet);
}

/* ---- The cabinet ----------------------------------------------------------------------------- */

#define LARGE 64u /* filters, of which a drawer has 63 */

static void make_large(tamis_store *store, unsigned i)
{
    const unsigned key = i * 1000;
    assert_done(tamis_filter_create(
        store, name_of(i), SPEC(.capacity = 2000, .fp_rate = 0.01, .flags = TAMIS_FILTER_IN_DRAWER),
        NULL));
    AUTO_FILTER *filter = fixture_opened(store, name_of(i), TAMIS_NO_SYNC);
    assert_done(tamis_filter_add(filter, &key, sizeof key));
}

STORE_CASE(cabinets_have_few_drawers_and_give_them_back)
{
    struct tamis_light lights[4 * LARGE];
    tamis_cabinet *cabinet = cabinet_of(store, 2);
    const int descriptors = fixture_descriptors();
    for (unsigned i = 0; i < 4 * LARGE; i++)
        make_large(store, i);
    for (unsigned i = 0; i < 4 * LARGE; i++)
        lights[i] = i % 2 ? found(cabinet, i) : of_open(store, i);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < 4 * LARGE; i++) {
            const unsigned one = i * 37 % (4 * LARGE);
            assert_int_equal(ask(cabinet, &lights[one], one * 1000), 1);
            assert_int_equal(ask(cabinet, &lights[one], 7), 0);
        }
    assert_int_equal(tamis_cabinet_tidy(cabinet, 100, 0), 2);
    assert_int_equal(fixture_descriptors(), descriptors);
    /* One of the two is asked between two looks. */
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(ask(cabinet, &lights[0], 0), 1);
        assert_int_equal(ask(cabinet, &lights[4 * LARGE - 1], (4 * LARGE - 1) * 1000), 1);
    }
    assert_int_equal(tamis_cabinet_tidy(cabinet, 100, 1), 2);
    assert_int_equal(ask(cabinet, &lights[0], 0), 1);
    assert_int_equal(tamis_cabinet_tidy(cabinet, 100, 1), 1);
    /* Its filters go, and so does the drawer. */
    for (unsigned i = 0; i < LARGE; i++)
        assert_done(tamis_filter_drop(store, name_of(i)));
    assert_int_equal(ask(cabinet, &lights[0], 0), NONE);
    assert_int_equal(tamis_cabinet_tidy(cabinet, 1, 0) + tamis_cabinet_tidy(cabinet, 1, 0), 1);
    assert_int_equal(tamis_cabinet_tidy(cabinet, 0, 0), 0);
    assert_int_equal(ask(cabinet, &lights[2 * LARGE], 2 * LARGE * 1000), 1);
    tamis_cabinet_forget(cabinet, number_of(store, 2 * LARGE));
    tamis_cabinet_forget(cabinet, 17);
    assert_int_equal(tamis_cabinet_tidy(cabinet, 0, 0), 0);
    tamis_cabinet_close(cabinet);
    tamis_cabinet_close(NULL);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
