/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * key_rule_test.c: filters with a key rule, in every call that takes keys (store/key/).
 *
 * Seen to fail: each case with the forms left out of the call that it is about.
 */
#include "keys.h"

#include "tamis.h"

#define NAMES(...) SPEC(.fp_rate = 1e-9, .key_rule = "name", __VA_ARGS__)
#define KEY(text) ((struct tamis_key){(text), strlen(text)})

static int add(tamis_filter *filter, const char *key)
{
    return tamis_filter_add(filter, key, strlen(key));
}

static int has(tamis_filter *filter, const char *key)
{
    return tamis_filter_contains(filter, key, strlen(key));
}

/* ---- Forms ----------------------------------------------------------------------------------- */

/* The form is the second text, and its own form. */
static void check_form(const char *rule, const char *key, const char *wanted)
{
    char form[1000];
    const char *texts[] = {key, wanted};
    for (int i = 0; i < 2; i++) {
        const int64_t bytes = tamis_key_form(rule, texts[i], strlen(texts[i]), form, sizeof form);
        assert_int_equal(bytes, strlen(wanted));
        assert_memory_equal(form, wanted, strlen(wanted));
    }
}

CASE(name_has_lower_case_and_no_last_dot)
{
    check_form("name", "ADS.Example.", "ads.example");
    check_form("name", "a", "a");
    check_form("name", "_dmarc.X-1.example", "_dmarc.x-1.example");
    check_form("bytes", "ADS.Example.", "ADS.Example.");
    check_form(NULL, "ADS.Example.", "ADS.Example.");
}

CASE(what_is_no_name_stays_as_it_is)
{
    static const char *const texts[] = {"",    ".",   "A..b", ".A",    "A..",
                                        "A b", "A@b", "A/b.", "http:", "\xc3\x84.example"};
    char longest[300];
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        check_form("name", texts[i], texts[i]);
    memset(longest, 'A', sizeof longest);
    longest[64] = '\0'; /* a label of 64 bytes */
    check_form("name", longest, longest);
    for (size_t i = 49; i < 298; i += 50)
        longest[i] = '.';
    longest[64] = 'A';
    longest[253] = '.';
    longest[254] = '\0';
    assert_int_equal(tamis_key_form("name", longest, 254, longest, 0), 253);
    longest[253] = 'A';
    assert_int_equal(tamis_key_form("name", longest, 254, longest, 254), 254);
    assert_int_equal(longest[0], 'A');
}

CASE(form_is_written_whole_or_not_at_all)
{
    char form[4] = "xyz";
    assert_int_equal(tamis_key_form("name", "ABCDE", 5, form, 4), 5);
    assert_string_equal(form, "xyz");
    assert_refused(TAMIS_EINVAL, "there is no key rule 'nam'; this version has",
                   tamis_key_form("nam", "a", 1, form, 4));
    assert_refused(TAMIS_EINVAL, "has no option 'x'", tamis_key_form("name:x", "a", 1, form, 4));
    assert_refused(TAMIS_EINVAL, "NULL", tamis_key_form("name", NULL, 1, form, 4));
}

/* ---- Calls ----------------------------------------------------------------------------------- */

SOUND_CASE(single_calls_and_batches_know_one_key)
{
    static const struct {
        uint32_t flags;
        int64_t window_ns;
    } sorts[] = {{0, 0}, {TAMIS_FILTER_DURABLE, 0}, {0, (int64_t)3600 * 1000000000}};
    for (size_t i = 0; i < sizeof sorts / sizeof sorts[0]; i++) {
        tamis_filter *filter = fixture_create(
            store, "x",
            NAMES(.capacity = 1000, .flags = sorts[i].flags, .window_ns = sorts[i].window_ns));
        const struct tamis_key keys[] = {KEY("B.Example"), KEY("a.EXAMPLE"), KEY("b.example."),
                                         KEY("c d")};
        uint8_t answers[4];
        assert_int_equal(add(filter, "A.example."), 1);
        assert_int_equal(add(filter, "a.Example"), 0);
        assert_done(tamis_filter_prefetch(filter, "A.example", 9));
        assert_int_equal(tamis_filter_add_batch(filter, keys, 4, answers), 2);
        assert_memory_equal(answers, ((uint8_t[]){1, 0, 0, 1}), 4);
        assert_int_equal(has(filter, "B.EXAMPLE."), 1);
        assert_int_equal(has(filter, "C d"), 0);
        assert_int_equal(tamis_filter_contains_batch(filter, keys, 4, answers), 4);
        assert_int_equal(tamis_filter_items(filter), 3);
        assert_done(tamis_filter_close(filter));
        assert_done(tamis_filter_drop(store, "x"));
    }
}

/* More keys than one part of a batch, and one that needs memory of its own. */
SOUND_CASE(long_batch_is_as_its_single_calls)
{
    enum { COUNT = 3000 };
    AUTO_FILTER *filter = fixture_create(store, "x", NAMES(.capacity = 10000));
    static char texts[COUNT][256];
    static struct tamis_key keys[COUNT];
    static uint8_t answers[COUNT];
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "Host%d.%060d.%060d.%060d.Example", i / 2, 1, 2,
                       3);
        keys[i] = KEY(texts[i]);
        texts[i][1] = i % 2 ? 'O' : 'o';
    }
    assert_int_equal(tamis_filter_add_batch(filter, keys, COUNT, answers), COUNT / 2);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(answers[i], i % 2 == 0);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(has(filter, texts[i]), 1);
}

SOUND_CASE(full_filter_answers_the_whole_batch)
{
    enum { COUNT = 2500 };
    AUTO_FILTER *filter =
        fixture_create(store, "x", NAMES(.capacity = 100, .on_full = TAMIS_ON_FULL_REFUSE));
    static char texts[COUNT][16];
    static struct tamis_key keys[COUNT];
    static uint8_t answers[COUNT];
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "N%d", i);
        keys[i] = KEY(texts[i]);
    }
    assert_int_equal(add(filter, "n2400"), 1);
    assert_int_equal(tamis_filter_add_batch(filter, keys, COUNT, answers), TAMIS_EFULL);
    assert_int_equal(answers[2400], 0); /* known, and behind the first refusal */
    assert_int_equal(answers[2499], TAMIS_ANSWER_REFUSED);
}

SOUND_CASE(counts_are_of_forms)
{
    AUTO_FILTER *filter =
        fixture_create(store, "x", NAMES(.capacity = 1000, .kind = TAMIS_KIND_COUNTING));
    const struct tamis_key key = KEY("A.b.");
    uint64_t count;
    uint8_t answer;
    assert_int_equal(add(filter, "a.B"), 1);
    assert_int_equal(add(filter, "A.B"), 0);
    assert_int_equal(tamis_filter_count(filter, "a.b", 3), 2);
    assert_int_equal(tamis_filter_count_batch(filter, &key, 1, &count), 1);
    assert_int_equal(count, 2);
    assert_int_equal(tamis_filter_remove(filter, "A.b", 3), 1);
    assert_int_equal(tamis_filter_remove_batch(filter, &key, 1, &answer), 1);
    assert_int_equal(has(filter, "a.b"), 0);
}

SOUND_CASE(exceptions_are_forms)
{
    AUTO_FILTER *filter =
        fixture_create(store, "x", NAMES(.capacity = 1000, .kind = TAMIS_KIND_BLOCKED));
    const struct tamis_key key = KEY("A.Example."), other = KEY("a.EXAMPLE");
    uint8_t answer;
    assert_int_equal(add(filter, "a.example"), 1);
    assert_int_equal(tamis_filter_except(store, "x", &key, 1), 1);
    assert_int_equal(tamis_filter_except(store, "x", &other, 1), 0);
    assert_int_equal(has(filter, "a.eXample"), 0);
    assert_int_equal(tamis_filter_unexcept(store, "x", &other, 1, &answer), 1);
    assert_int_equal(answer, 1);
    assert_int_equal(has(filter, "a.eXample"), 1);
}

static void build(tamis_store *store, uint32_t kind)
{
    const struct tamis_filter_spec filter = {.size = sizeof filter,
                                             .kind = kind,
                                             .fp_rate = kind == TAMIS_KIND_FUSE ? 1e-9 : 1e-6,
                                             .key_rule = "name"};
    const struct tamis_build_spec spec = {.size = sizeof spec, .filter = &filter};
    struct tamis_build_result result = {.size = sizeof result};
    const struct tamis_key keys[] = {KEY("Bad.Example."), KEY("bad.example"), KEY("x y")},
                           good = KEY("GOOD.bad.example"), against = KEY("BAD.example");
    tamis_build *made;
    assert_done(tamis_build_begin(store, "list", &spec, &made));
    assert_done(tamis_build_add(made, keys, 3));
    assert_done(tamis_build_except(made, &good, 1));
    assert_done(tamis_build_against(made, &against, 1));
    assert_int_equal(tamis_build_publish(made, &result), 1);
    tamis_build_close(made);
    assert_int_equal(result.distinct, 2);
    assert_int_equal(result.conflicts, 1);
}

SOUND_CASE(build_takes_forms_and_keeps_the_rule)
{
    static const uint32_t kinds[] = {TAMIS_KIND_FUSE, TAMIS_KIND_BLOCKED, TAMIS_KIND_BLOOM};
    tamis_build *made;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        build(store, kinds[i]);
        tamis_filter *filter = fixture_opened(store, "list", 0);
        assert_string_equal(fixture_stat(filter).key_rule, "name");
        assert_int_equal(has(filter, "BAD.example."), 1);
        assert_int_equal(has(filter, "X y"), 0);
        size_t at = 99;
        assert_int_equal(tamis_filter_contains_name(filter, "A.b.Bad.example.", 16, &at), 1);
        assert_int_equal(at, 4);
        assert_int_equal(tamis_filter_contains_name(filter, "a.Good.Bad.example.", 19, &at), 0);
        assert_done(tamis_filter_close(filter));
    }
    const struct tamis_filter_spec bytes = {.size = sizeof bytes, .key_rule = "bytes"};
    const struct tamis_build_spec other = {.size = sizeof other, .filter = &bytes};
    assert_refused(TAMIS_EMISMATCH, "has the key rule name, and a new generation of it cannot",
                   tamis_build_begin(store, "list", &other, &made));
    assert_done(tamis_filter_rollback(store, "list", 0));
    AUTO_FILTER *filter = fixture_opened(store, "list", 0);
    assert_int_equal(has(filter, "BAD.example."), 1);
}

/* ---- Names and their parents ----------------------------------------------------------------- */

/* Where the name is found; -1: it is not. */
static int found_at(tamis_filter *filter, const char *name)
{
    size_t at = 99;
    const int rc = tamis_filter_contains_name(filter, name, strlen(name), &at);
    assert_done(rc);
    return rc == 1 ? (int)at : -1;
}

SOUND_CASE(nearest_of_name_and_parents_decides)
{
    AUTO_FILTER *filter = fixture_create(store, "x", NAMES(.capacity = 1000, .seed = 1));
    const struct tamis_key pass = KEY("good.bad.example");
    assert_int_equal(add(filter, "bad.example"), 1);
    assert_int_equal(add(filter, "worse.good.bad.example"), 1);
    assert_int_equal(add(filter, "zip"), 1);
    assert_int_equal(tamis_filter_except(store, "x", &pass, 1), 1);
    assert_int_equal(found_at(filter, "bad.example"), 0);
    assert_int_equal(found_at(filter, "BAD.example."), 0);
    assert_int_equal(found_at(filter, "a.b.BAD.example."), 4);
    assert_int_equal(found_at(filter, "good.bad.example"), -1);
    assert_int_equal(found_at(filter, "a.good.bad.example"), -1);
    assert_int_equal(found_at(filter, "a.worse.good.bad.example"), 2);
    assert_int_equal(found_at(filter, "verybad.example"), -1);
    assert_int_equal(found_at(filter, "example"), -1);
    assert_int_equal(found_at(filter, "files.ZIP"), 6);
    assert_int_equal(tamis_filter_contains_name(filter, "zip", 3, NULL), 1);
    assert_refused(TAMIS_EINVAL, "NULL", tamis_filter_contains_name(filter, NULL, 3, NULL));
}

SOUND_CASE(only_names_have_parents)
{
    AUTO_FILTER *filter = fixture_create(store, "x", NAMES(.capacity = 1000, .seed = 1));
    AUTO_FILTER *bytes = fixture_create(store, "y", SPEC(.capacity = 10, .fp_rate = 1e-9));
    char most[254];
    for (size_t i = 0; i < sizeof most - 1; i++)
        most[i] = i % 2 ? '.' : 'a';
    most[253] = '\0';
    assert_int_equal(add(filter, "2.1"), 1);
    assert_int_equal(add(filter, "b"), 1);
    assert_int_equal(found_at(filter, "192.0.2.1"), -1);
    assert_int_equal(found_at(filter, "a b.b"), -1);
    assert_int_equal(found_at(filter, "a..b"), -1);
    assert_int_equal(found_at(filter, ""), -1);
    assert_int_equal(found_at(filter, most), -1); /* 127 labels */
    assert_int_equal(add(filter, "a.a"), 1);
    assert_int_equal(found_at(filter, most), 250);
    assert_int_equal(add(bytes, "B.example"), 1);
    assert_int_equal(found_at(bytes, "a.B.example"), 2);
    assert_int_equal(found_at(bytes, "a.b.example"), -1);
}

/* ---- Several filters ------------------------------------------------------------------------- */

SOUND_CASE(several_filters_answer_as_each_alone)
{
    enum { COUNT = 2000, FILTERS = 6 };
    static char texts[COUNT][16];
    static struct tamis_key keys[COUNT];
    static uint8_t all[FILTERS * COUNT], one[COUNT];
    tamis_filter *filters[FILTERS] = {
        fixture_create(store, "a", SPEC(.capacity = 3000)),
        fixture_create(store, "b", NAMES(.capacity = 1000, .seed = 0)),
        fixture_create(store, "c", SPEC(.capacity = 100)), /* which grows */
        fixture_create(store, "d", NAMES(.capacity = 1000, .seed = 7)),
        fixture_create(store, "e", SPEC(.m_bits = 100000, .hash_set = "php:js,bkdr")),
    };
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "%c%d", i % 3 ? 'N' : 'n', i);
        keys[i] = KEY(texts[i]);
    }
    filters[5] = filters[0]; /* one may come twice */
    for (int f = 0; f < 5; f++)
        assert_done(tamis_filter_add_batch(filters[f], keys + f * 100, 500, NULL));
    assert_int_equal(tamis_filter_except(store, "d", keys + 400, 10), 10);
    const int64_t ones = tamis_filters_contains_batch(filters, FILTERS, keys, COUNT, all);
    int64_t sum = 0;
    for (int f = 0; f < FILTERS; f++) {
        sum += tamis_filter_contains_batch(filters[f], keys, COUNT, one);
        assert_memory_equal(one, all + f * COUNT, COUNT);
    }
    assert_int_equal(ones, sum);
    assert_int_equal(tamis_filters_contains_batch(NULL, 0, keys, COUNT, NULL), 0);
    assert_int_equal(tamis_filters_contains_batch(filters, FILTERS, NULL, 0, NULL), 0);
    for (int f = 0; f < 5; f++)
        assert_done(tamis_filter_close(filters[f]));
}

/* ---- The rule goes with the filter ----------------------------------------------------------- */

SOUND_CASE(what_cannot_carry_the_rule_is_refused)
{
    struct tamis_comparison comparison = {.size = sizeof comparison};
    tamis_filter *again;
    AUTO_FILTER *filter =
        fixture_create(store, "x", SPEC(.m_bits = 1024, .k = 3, .key_rule = "name"));
    AUTO_FILTER *plain = fixture_create(store, "y", SPEC(.m_bits = 1024, .k = 3));
    assert_refused(TAMIS_EUNSUPPORTED, "hashed the key without that",
                   tamis_filter_set_bit(filter, 0, 7));
    assert_refused(TAMIS_EMISMATCH, "differ in key rule (name and bytes)",
                   tamis_filter_compare(filter, plain, &comparison));
    assert_refused(TAMIS_EMISMATCH, "exists with key rule name, not bytes",
                   tamis_filter_open_or_create(store, "x", SPEC(.m_bits = 1024, .k = 3), &again));
    assert_refused(TAMIS_EINVAL, "there is no key rule",
                   tamis_filter_create(store, "z", SPEC(.capacity = 9, .key_rule = "x"), NULL));
}

SOUND_CASE(filter_like_another_has_its_rule)
{
    AUTO_FILTER *filter = fixture_create(store, "x", NAMES(.capacity = 1000));
    struct tamis_filter_spec spec = {.size = sizeof spec};
    char hash_set[TAMIS_HASH_SET_NAME_MAX + 1];
    assert_done(tamis_filter_like(filter, &spec, hash_set));
    assert_string_equal(spec.key_rule, "name");
    AUTO_FILTER *like = fixture_create(store, "y", &spec);
    assert_int_equal(add(like, "A"), 1);
    assert_int_equal(add(like, "a"), 0);
    assert_string_equal(fixture_stat(like).key_rule, "name");
}

/* The segments say the rule, so that a catalog which is made anew has it. */
STORE_CASE(rule_survives_the_catalog)
{
    AUTO_FILTER *filter = fixture_create(store, "x", NAMES(.capacity = 10));
    for (int i = 0; i < 1000; i++) { /* it grows */
        char text[16];
        (void)snprintf(text, sizeof text, "Host%d", i);
        assert_int_equal(add(filter, text), 1);
    }
    assert_done(tamis_filter_sync(filter));
    assert_done(tamis_store_repair(path, TAMIS_REPAIR_REBUILD, NULL, NULL));
    AUTO_STORE *anew = fixture_open(path, 0);
    AUTO_FILTER *other = fixture_opened(anew, "x", 0);
    assert_string_equal(fixture_stat(other).key_rule, "name");
    assert_int_equal(has(other, "host7."), 1);
    assert_int_equal(add(other, "HOST999"), 0);
    assert_int_equal(fixture_problems(path), 0);
}

/* A header whose rule was changed by one bit is not believed. */
STORE_CASE(damaged_rule_is_refused)
{
    tamis_filter *filter = fixture_create(store, "x", NAMES(.capacity = 1000, .seed = 3));
    const char *file = fixture_segment_path(path, fixture_segment_stat(filter, 0).number);
    assert_done(tamis_filter_close(filter));
    const size_t at =
        offsetof(struct tamis__segment_header, items) + offsetof(struct tamis__stripe, key_rule);
    fixture_poke(file, at, "same", 4);
    assert_refused(TAMIS_ECORRUPT, "damaged key rule", tamis_filter_open(store, "x", 0, &filter));
}
