/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * idn_test.c: the option `idn` of the key rules `name` and `url` (store/key/idn.c).
 *
 * The forms are facts of UTS 46 and of the URL standard.  A build without libidn2 runs the cases of
 * its refusals alone.
 */
#include "forms.h"
#include "key/rule.h"
#include "keys.h"
#include "random.h"

/* ---- The version of libidn2 ------------------------------------------------------------------ */

/* This stands in the place of libidn2's own function.  The cases change what it says. */
static const char *release = "2.3.3";

const char *idn2_check_version(const char *wanted);
const char *idn2_check_version(const char *wanted)
{
    (void)wanted;
    return release;
}

static char form[FORM_BYTES];

static bool has_idn(void)
{
    return tamis_key_form("name:idn", "a", 1, form, sizeof form) == 1;
}

/* A case that needs libidn2. */
#define IDN_CASE(name)                                                                             \
    static void name##_with_idn(tamis_store *store);                                               \
    STORE_CASE(name)                                                                               \
    {                                                                                              \
        release = "2.3.3";                                                                         \
        if (!has_idn()) cases_skip("this build has no libidn2");                                   \
        name##_with_idn(store);                                                                    \
    }                                                                                              \
    static void name##_with_idn(__attribute__((unused)) tamis_store *store)

/* ---- Names ----------------------------------------------------------------------------------- */

IDN_CASE(names_in_other_scripts_have_the_form_of_dns)
{
    static const struct pair pairs[] = {
        {"B\u00dcCHER.Example.", "xn--bcher-kva.example"},
        {"bu\u0308cher.example", "xn--bcher-kva.example"},
        {"XN--BCHER-KVA.Example", "xn--bcher-kva.example"},
        {"fa\u00df.de", "xn--fa-hia.de"}, /* not as IDNA 2003 has it, fass.de */
        {"\u4f60\u597d\u3002cn", "xn--6qq79v.cn"},
        {"\uff27\uff4f.com", "go.com"},
        {"a\u00adb.example", "ab.example"},
        {"_dmarc.\u00fc.example", "_dmarc.xn--tda.example"},
        {"\u00fc", "xn--tda"},
        {"A-b_C.Example.", "a-b_c.example"},
    };
    CHECK_ALL("name:idn", pairs);
    forms_check("name", "B\u00dcCHER.Example.", "B\u00dcCHER.Example.");
}

IDN_CASE(names_that_libidn2_refuses_keep_their_bytes)
{
    static const char *const texts[] = {
        "\u00fc..A",
        "\u00fc A",
        "*.\u00fc.A",
        "\u2764.A",
        "\xff.A",
        "\xc3.A",
        "-\u00fc.A",
        "\u00fc\uff0f.A",
        "\u00ad",
        "\u3002",
        "\u00fc.xn--a-\u00fc",
        "\u0627a.A",
        "\u00fc.XN--\u00df",
        "\u00fc.xn--0",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        forms_check("name:idn", texts[i], texts[i]);
    static char longest[4096];
    for (int i = 0; i < 2000; i += 2)
        memcpy(longest + i, "\u00fc", 2);
    forms_check("name:idn", longest, longest);
    longest[20] = '\0';
    assert_int_equal(tamis_key_form("name:idn", longest, 22, form, sizeof form), 22);
    assert_memory_equal(form, longest, 22);
    assert_int_equal(tamis_key_form("name:idn", "", 0, form, sizeof form), 0);
}

/* ---- URLs ------------------------------------------------------------------------------------ */

IDN_CASE(hosts_of_urls_have_the_form_of_the_standard)
{
    static const struct pair pairs[] = {
        {"http://fa\u00dfe.ExAmPlE/", "http://xn--fae-6ka.example/"},
        {"http://\uff27\uff4f.com", "http://go.com/"},
        {"http://\u4f60\u597d\u4f60\u597d", "http://xn--6qqa088eba/"},
        {"http://%ef%bd%87\uff4f.com", "http://go.com/"},
        {"http://a\u00adb\u200b\u2060c.com", "http://abc.com/"},
        {"http://a%C2%ADb/", "http://ab/"},
        {"http://\uff11\uff12\uff17\u3002\uff10.\uff10.\uff11/", "http://127.0.0.1/"},
        {"http://\uff10x7f.1/", "http://127.0.0.1/"},
        {"http://a\u3002b\uff0ec\uff61/", "http://a.b.c./"},
        {"http://u@\u00fc:80/\u00fc?\u00fc#\u00fc", "http://u@xn--tda/%C3%BC?%C3%BC"},
        {"http://\u3300.a/", "http://xn--cckzd0a3n.a/"},
    };
    CHECK_ALL("url:idn", pairs);
}

/* Such a URL has the form that it has without the option, or is no URL at all. */
IDN_CASE(hosts_that_libidn2_refuses_are_as_without_it)
{
    static const struct pair pairs[] = {
        {"HTTP://I\u2764.Ws:80/..", "http://i\u2764.ws/"},
        {"HTTP://\xff/", "http://\xff/"},
        {"HTTP://\u00fc.r3---A/", "http://\u00fc.r3---a/"},
        {"HTTP://A\uff05/", "HTTP://A\uff05/"}, /* a percent sign */
        {"HTTP://A\u3000B/", "HTTP://A\u3000B/"},
        {"HTTP://\u00ad/", "http://\u00ad/"},
        {"HTTP://\uff11.2.3.4.5/", "HTTP://\uff11.2.3.4.5/"},
        {"HTTP://%E/", "HTTP://%E/"},
        {"http://xn--a/", "http://xn--a/"},
    };
    CHECK_ALL("url:idn", pairs);
    forms_check("url:idn,nowww", "http://www.\u00fc.de/", "http://xn--tda.de/");
    forms_check("url:idn,nowww", "http://\uff57\uff57\uff57.www.a.de/", "http://a.de/");
    forms_check("url:idn,nowww", "http://www.www.I\u2764.ws/", "http://i\u2764.ws/");
}

/* libidn2 takes 253 characters.  With `www.` before them it would not. */
IDN_CASE(www_is_no_reason_to_refuse_a_host)
{
    char url[400], wanted[400];
    for (int bytes = 240; bytes < 256; bytes++) {
        int at = snprintf(url, sizeof url, "http://www.");
        int to = snprintf(wanted, sizeof wanted, "http://");
        for (int i = 0; i < bytes; i++) {
            const char byte = i % 10 == 9 ? '.' : 'a';
            url[at++] = byte;
            wanted[to++] = byte;
        }
        (void)snprintf(url + at, sizeof url - (size_t)at, ".\u00fc/");
        (void)snprintf(wanted + to, sizeof wanted - (size_t)to, ".%s/",
                       bytes + 8 <= 253 ? "xn--tda" : "\u00fc");
        forms_check("url:idn,nowww", url, wanted);
    }
}

/* ---- Versions -------------------------------------------------------------------------------- */

IDN_CASE(rule_is_kept_with_its_version_of_unicode)
{
    static const char key[] = "\u00fc.example", xn[] = "xn--tda.example";
    tamis_filter *filter = fixture_create(store, "x", SPEC(.capacity = 10, .key_rule = "name:idn"));
    assert_string_equal(fixture_stat(filter).key_rule, "name:idn=14.0");
    assert_int_equal(tamis_filter_add(filter, key, strlen(key)), 1);
    assert_done(tamis_filter_close(filter));
    AUTO_FILTER *again = fixture_opened(store, "x", 0);
    assert_int_equal(tamis_filter_contains(again, xn, strlen(xn)), 1);
    AUTO_FILTER *same =
        fixture_create(store, "y", SPEC(.capacity = 10, .key_rule = "url:sort,idn=14.0,nowww"));
    assert_string_equal(fixture_stat(same).key_rule, "url:idn=14.0,nowww,sort");
}

IDN_CASE(filter_of_another_version_is_refused)
{
    tamis_filter *filter = fixture_create(store, "x", SPEC(.capacity = 10, .key_rule = "name:idn"));
    assert_done(tamis_filter_close(filter));
    release = "2.3.8";
    assert_refused(TAMIS_EUNSUPPORTED,
                   "the filter 'x' has the key rule name:idn=14.0: idn=14.0 needs another libidn2 "
                   "than the 2.3.8 here, which has idn=15.1",
                   tamis_filter_open(store, "x", 0, &filter));
    assert_refused(TAMIS_EUNSUPPORTED, "use a libidn2 of that version, or make the filter anew",
                   tamis_key_form("url:idn=14.0", "a", 1, form, sizeof form));
    assert_done(tamis_filter_drop(store, "x"));
}

/* A release that we know nothing of is a version of its own, and keeps that name. */
IDN_CASE(releases_of_one_version_share_filters)
{
    static const char *const versions[][2] = {{"2.3.4", "15.0"}, {"2.3.5", "15.0"},
                                              {"2.3.6", "15.0"}, {"2.3.7", "15.0"},
                                              {"2.3.8", "15.1"}, {"9.0", "libidn2-9.0"}};
    char rule[100];
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        release = versions[i][0];
        tamis_filter *filter =
            fixture_create(store, "x", SPEC(.capacity = 10, .key_rule = "name:idn"));
        (void)snprintf(rule, sizeof rule, "name:idn=%s", versions[i][1]);
        assert_string_equal(fixture_stat(filter).key_rule, rule);
        assert_done(tamis_filter_close(filter));
        assert_done(tamis_filter_drop(store, "x"));
        (void)snprintf(rule, sizeof rule, "name:idn=libidn2-%s", versions[i][0]);
        assert_int_equal(tamis_key_form(rule, "a", 1, form, sizeof form), 1);
    }
    release = "2.3.5";
    assert_int_equal(tamis_key_form("name:idn=15.0", "a", 1, form, sizeof form), 1);
    assert_refused(TAMIS_EUNSUPPORTED, "idn=9.0 needs another libidn2",
                   tamis_key_form("name:idn=9.0", "a", 1, form, sizeof form));
}

CASE(build_without_libidn2_says_what_to_install)
{
    struct tamis__key_rule rule;
    static const char mend[] = "needs libidn2, which this build is without; install the package "
                               "libidn2-dev and build Tamis with TAMIS_WITH_IDN=ON";
    if (has_idn()) cases_skip("this build has libidn2");
    assert_refused(TAMIS_EUNSUPPORTED, mend, tamis_key_form("name:idn", "a", 1, form, sizeof form));
    assert_refused(TAMIS_EUNSUPPORTED, mend,
                   tamis_key_form("url:idn=14.0", "a", 1, form, sizeof form));
    assert_refused(TAMIS_EUNSUPPORTED, mend, tamis__key_rule_open("x", "name:idn=14.0", &rule));
    assert_refused(TAMIS_EUNSUPPORTED, "the filter 'x' has the key rule name:idn=14.0",
                   tamis__key_rule_open("x", "name:idn=14.0", &rule));
}

/* ---- Any bytes ------------------------------------------------------------------------------- */

static size_t make_key(uint64_t *random, char *key, size_t room)
{
    static const char *const parts[] = {
        "a",          "B",      "-",       "_",      ".",      "\u3002", "\uff0e", "1",
        "xn--",       "\u00fc", "U\u0308", "\u00df", "\u0130", "\u03c2", "\u0627", "\u05d0",
        "\u00ad",     "\u200d", "\u4f60",  "\uff27", "\u2764", "\u3300", "www.",   "\u0301",
        "\U0001e030", "%",      "\xff",    "\u1e9e", " ",      "%C3%BC"};
    const bool is_url = random_below(random, 2) != 0;
    size_t bytes = (size_t)snprintf(key, room, "%s", is_url ? "http://" : "");
    const uint64_t count = random_below(random, 16);
    for (uint64_t i = 0; i < count; i++)
        bytes += (size_t)snprintf(key + bytes, room - bytes, "%s",
                                  parts[random_below(random, sizeof parts / sizeof parts[0])]);
    return bytes;
}

/* And a batch is as its single calls: each key of it is found by its form. */
IDN_CASE(form_of_the_form_is_the_form)
{
    enum { COUNT = 20000 };
    static const char *const rules[] = {"name:idn", "url:idn", "url:idn,nowww,sort"};
    static char keys[COUNT][200];
    static struct tamis_key batch[COUNT];
    static uint8_t answers[COUNT];
    static char again[FORM_BYTES];
    uint64_t random = random_seed();
    for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++) {
        AUTO_FILTER *filter = fixture_create(
            store, rules[r] + 4, SPEC(.capacity = COUNT, .fp_rate = 1e-9, .key_rule = rules[r]));
        for (size_t i = 0; i < COUNT; i++)
            batch[i] = (struct tamis_key){keys[i], make_key(&random, keys[i], sizeof keys[i])};
        assert_done(tamis_filter_add_batch(filter, batch, COUNT, answers));
        for (size_t i = 0; i < COUNT; i++) {
            const int64_t bytes =
                tamis_key_form(rules[r], keys[i], batch[i].bytes, form, sizeof form);
            assert_in_range(bytes, 0, FORM_BYTES);
            assert_int_equal(tamis_key_form(rules[r], form, (size_t)bytes, again, sizeof again),
                             bytes);
            assert_memory_equal(again, form, (size_t)bytes);
            assert_int_equal(tamis_filter_contains(filter, form, (size_t)bytes), 1);
        }
    }
}
