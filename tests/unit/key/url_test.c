/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * url_test.c: the rule `url` and its options (store/key/url.c, url_host.c, url_query.c, rule.c).
 *
 * The expected forms are facts of the URL standard (url.spec.whatwg.org), or of docs/keys.md.
 * tests/python/url_oracle_test.py compares with another implementation of the standard.
 *
 * Seen to fail: with 65534 as the largest port, with the default port written out, with https=http
 * for any port, with `^` left as it is in a path, and with a blank taken in a host.
 */
#include "forms.h"
#include "keys.h"
#include "random.h"

static char form[FORM_BYTES];

/* ---- The standard ---------------------------------------------------------------------------- */

CASE(parts_of_a_url_have_one_spelling)
{
    static const struct pair pairs[] = {
        {"HTTP://Example.COM:80/a/../b?b=2&a=1#f", "http://example.com/b?b=2&a=1"},
        {"http://a", "http://a/"},
        {"http:a/b", "http://a/b"},
        {"http:\\\\a\\b?c\\d", "http://a/b?c\\d"},
        {"https:////a", "https://a/"},
        {" \x01http://a/b\r\n", "http://a/b"},
        {"ht\ntp://a\t/b\r", "http://a/b"},
        {"http://a?b", "http://a/?b"},
        {"http://a#b", "http://a/"},
        {"http://a/?", "http://a/?"},
        {"http://a/?#", "http://a/?"},
        {"https://a:443/", "https://a/"},
        {"https://a:80/", "https://a:80/"},
        {"ftp://a:21/", "ftp://a/"},
        {"ws://a:80", "ws://a/"},
        {"wss://a:443", "wss://a/"},
        {"http://a:/", "http://a/"},
        {"http://a:00081/", "http://a:81/"},
        {"HTTP://A:65535/", "http://a:65535/"},
        {"http://u:p@A/", "http://u:p@a/"},
        {"http://:@a/", "http://a/"},
        {"http://@a/", "http://a/"},
        {"http://u:@a/", "http://u@a/"},
        {"http://:p@a/", "http://:p@a/"},
        {"http://a@b:c:d@e/", "http://a%40b:c%3Ad@e/"},
        {"http://a;=[^]|@b/", "http://a%3B%3D%5B%5E%5D%7C@b/"},
        {"http://exa%6Dple.com/", "http://example.com/"},
        {"http://a./", "http://a./"},
        {"http://a..b/", "http://a..b/"},
        {"http://A_b-c/", "http://a_b-c/"},
    };
    CHECK_ALL("url", pairs);
}

CASE(paths_and_queries_are_encoded)
{
    static const struct pair pairs[] = {
        {"http://a/.", "http://a/"},
        {"http://a/..", "http://a/"},
        {"http://a/b/.", "http://a/b/"},
        {"http://a/b/c/..", "http://a/b/"},
        {"http://a/b/%2e%2E/c/%2e", "http://a/c/"},
        {"http://a/.%2e/.%2E", "http://a/"},
        {"http://a/.../..b/.c", "http://a/.../..b/.c"},
        {"http://a//b//../c", "http://a//b/c"},
        {"http://a/b\\..\\c", "http://a/c"},
        {"http://a/ \"<>^`{}\x7f", "http://a/%20%22%3C%3E%5E%60%7B%7D%7F"},
        {"http://a/'|~[]@:!$&()*+,;=", "http://a/'|~[]@:!$&()*+,;="},
        {"http://a/%zz%2f%c3", "http://a/%zz%2f%c3"},
        {"http://a/\xc3\xa9\xff", "http://a/%C3%A9%FF"},
        {"http://a/? \"'<>", "http://a/?%20%22%27%3C%3E"},
        {"http://a/?^`{}|\\?/../", "http://a/?^`{}|\\?/../"},
    };
    CHECK_ALL("url", pairs);
    assert_int_equal(forms_make("url", "http://a/\0b", 11, form), 13);
    assert_memory_equal(form, "http://a/%00b", 13);
}

CASE(addresses_have_one_spelling)
{
    static const struct pair pairs[] = {
        {"http://0x7f.1/", "http://127.0.0.1/"},
        {"http://0300.0250.1/", "http://192.168.0.1/"},
        {"http://4294967295", "http://255.255.255.255/"},
        {"http://0", "http://0.0.0.0/"},
        {"http://0x.0X.", "http://0.0.0.0/"},
        {"http://1.2.3.4.", "http://1.2.3.4/"},
        {"http://%31.2.772", "http://1.2.3.4/"},
        {"http://1.b", "http://1.b/"},
        {"http://1e2", "http://1e2/"},
        {"http://[::]", "http://[::]/"},
        {"http://[0:0:0:0:0:0:0:0]:80", "http://[::]/"},
        {"http://[2001:0DB8:0:0:1:0:0:1]:81", "http://[2001:db8::1:0:0:1]:81/"},
        {"http://[1:0:2:0:0:3:4:5]", "http://[1:0:2::3:4:5]/"},
        {"http://[1:0:2:3:4:5:6:7]", "http://[1:0:2:3:4:5:6:7]/"},
        {"http://[1::]", "http://[1::]/"},
        {"http://[1:2:3:4:5:6:7::]", "http://[1:2:3:4:5:6:7:0]/"},
        {"http://[::ffff:192.0.2.1]", "http://[::ffff:c000:201]/"},
    };
    CHECK_ALL("url", pairs);
}

/* What the standard refuses, and URLs of other schemes, keep their bytes. */
CASE(what_is_no_url_stays_as_it_is)
{
    static const char *const texts[] = {
        "",
        "A",
        "HTTP:",
        "HTTP://",
        "http://#A",
        "http://?A",
        "//A/",
        "Example.COM/A",
        "mailto:A@B.example",
        "FILE:///A",
        "HTTP://A:65536/",
        "HTTP://A:x/",
        "HTTP://A:1:2/",
        "HTTP://:80/",
        "HTTP://B@/",
        "HTTP://A B/",
        "HTTP://A%/",
        "HTTP://A%2/",
        "HTTP://A%00/",
        "HTTP://A%2FB/",
        "HTTP://A|B/",
        "HTTP://A^B/",
        "HTTP://1.2.3.256/",
        "HTTP://1.2.3.4.5/",
        "HTTP://256.1.1.1/",
        "HTTP://4294967296/",
        "HTTP://A.08/",
        "HTTP://A.0x/",
        "HTTP://1..2/",
        "HTTP://[",
        "HTTP://[]",
        "HTTP://[::1",
        "HTTP://[::1]A/",
        "HTTP://[:1]",
        "HTTP://[1:]",
        "HTTP://[1::2::3]",
        "HTTP://[:::]",
        "HTTP://[12345::]",
        "HTTP://[1:2:3:4:5:6:7]",
        "HTTP://[1:2:3:4:5:6:7:8:9]",
        "HTTP://[1:2:3:4:5:6:7:8::]",
        "HTTP://[::1.2.3]",
        "HTTP://[::1.2.3.4.5]",
        "HTTP://[::01.2.3.4]",
        "HTTP://[::1.2.3.256]",
        "HTTP://[::.1.2.3]",
        "HTTP://[1:2:3:4:5:6:7:1.2.3.4]",
        "HTTP://[::G]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        forms_check("url", texts[i], texts[i]);
}

/* Names in other scripts keep their bytes; the rest of such a URL has one spelling. */
CASE(names_in_other_scripts_keep_their_bytes)
{
    forms_check("url", "HTTP://B%C3%BCcher.Example/a/..",
                "http://b\xc3\xbc"
                "cher.example/");
    forms_check("url", "http://\xff/", "http://\xff/");
    forms_check("url", "http://xn--bcher-kva.Example", "http://xn--bcher-kva.example/");
}

/* ---- Options --------------------------------------------------------------------------------- */

CASE(sort_and_drop_change_the_query)
{
    static const struct pair sorted[] = {
        {"http://a/?b=2&a=1", "http://a/?a=1&b=2"},
        {"http://a/?b=2&a=2&b=1&a", "http://a/?a=2&a&b=2&b=1"},
        {"http://a/?ab=1&a=2&B", "http://a/?B&a=2&ab=1"},
        {"http://a/?&&a=&", "http://a/?a="},
        {"http://a/?", "http://a/"},
        {"http://a/?=2&=1", "http://a/?=2&=1"},
        {"http://a/?c&b#d&a", "http://a/?b&c"},
    };
    static const struct pair dropped[] = {
        {"http://a/?utm_source=x&z&utm_=1&b=utm_", "http://a/?z&b=utm_"},
        {"http://a/?gclid", "http://a/"},
        {"http://a/?gclid2&GCLID", "http://a/?gclid2&GCLID"},
        {"http://a/?ref_x_id=1&refid&xref_id", "http://a/?refid&xref_id"},
        {"http://a/?b&&a", "http://a/?b&a"},
    };
    CHECK_ALL("url:sort", sorted);
    CHECK_ALL("url:drop=utm_*+gclid+ref_*_id", dropped);
    forms_check("url:drop=*", "http://a/?b&c=1", "http://a/");
    forms_check("url:drop=*id", "http://a/?gclid=1&idx=2&id", "http://a/?idx=2");
    forms_check("url:sort,drop=utm_*", "HTTP://Example.COM:80/a/../b?b=2&a=1&utm_source=x#f",
                "http://example.com/b?a=1&b=2");
}

CASE(many_parameters_are_sorted)
{
    static char url[200000];
    size_t bytes = (size_t)snprintf(url, sizeof url, "http://a/?");
    for (int i = 0; i < 20000; i++) /* 7919 and 10000 have no common divisor: each twice */
        bytes += (size_t)snprintf(url + bytes, sizeof url - bytes, "%04d&", i * 7919 % 10000);
    const size_t form_bytes = forms_make("url:sort", url, bytes, form);
    assert_int_equal(form_bytes, bytes - 1);
    for (int i = 0; i < 20000; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "%04d", i / 2);
        assert_memory_equal(form + 10 + 5 * i, name, 4);
    }
}

CASE(other_options_change_host_path_and_scheme)
{
    static const struct pair www[] = {
        {"http://WWW.a.com/", "http://a.com/"},
        {"http://www.www.a.com", "http://a.com/"},
        {"http://www.com/", "http://www.com/"},
        {"http://www.a./", "http://www.a./"},
        {"http://www/", "http://www/"},
        {"http://www.", "http://www./"},
        {"http://u@www.a.b:81/www.c", "http://u@a.b:81/www.c"},
        {"http://www2.a.b/", "http://www2.a.b/"},
        {"http://a/", "http://a/"},
    };
    static const struct pair slash[] = {
        {"http://a/", "http://a/"},          {"http://a/b/", "http://a/b"},
        {"http://a/b//", "http://a/b"},      {"http://a//", "http://a/"},
        {"http://a/b/?c/", "http://a/b?c/"}, {"http://a/b/c/..", "http://a/b"},
    };
    static const struct pair https[] = {
        {"https://a/", "http://a/"},        {"https://a:443", "http://a/"},
        {"https://a:80/", "https://a:80/"}, {"https://a:81/", "http://a:81/"},
        {"wss://a/", "wss://a/"},           {"http://a:443/", "http://a:443/"},
    };
    CHECK_ALL("url:nowww", www);
    CHECK_ALL("url:noslash", slash);
    CHECK_ALL("url:https=http", https);
    forms_check("url:sort,drop=c,nowww,noslash,https=http", "https://www.a.b/c/?e&d&c",
                "http://a.b/c?d&e");
}

CASE(rule_with_options_has_one_text)
{
    static const char *const refused[][2] = {
        {"url:", "has no option ''; it has drop="},
        {"url:sort,", "has no option ''"},
        {"url:sorted", "has no option 'sorted'"},
        {"url:idn2", "has no option 'idn2'"},
        {"url:idn=", "has no option 'idn='"},
        {"url:idn=A", "takes a version of Unicode"},
        {"url:nowww=", "has no option 'nowww='"},
        {"url:https", "has no option 'https'"},
        {"url:drop", "has no option 'drop'"},
        {"name:sort", "the key rule name has no option 'sort'; it has idn"},
        {"name:", "has no option ''; it has idn"},
        {"name:idn,idn", "has the option 'idn' twice"},
        {"url:sort,sort", "has the option 'sort' twice"},
        {"url:drop=", "takes names of parameters"},
        {"url:drop=a++b", "takes names of parameters"},
        {"url:drop=a b", "takes names of parameters"},
        {"url:drop=a&b", "takes names of parameters"},
        {"bytes:sort", "has no option 'sort'"},
    };
    char most[600] = "url:drop=", *end = most + strlen(most);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_refused(TAMIS_EINVAL, refused[i][1],
                       tamis_key_form(refused[i][0], "a", 1, form, sizeof form));
    memset(end, 'a', TAMIS_KEY_RULE_MAX - strlen("url:drop="));
    assert_int_equal(tamis_key_form(most, "a", 1, form, sizeof form), 1);
    *strchr(most, '\0') = 'a';
    assert_refused(TAMIS_EINVAL, "at most 511 bytes",
                   tamis_key_form(most, "a", 1, form, sizeof form));
}

STORE_CASE(options_stand_in_one_order)
{
    static const char given[] = "url:sort,https=http,drop=b+a*+b,nowww,noslash",
                      kept[] = "url:drop=a*+b,https=http,noslash,nowww,sort";
    tamis_filter *filter = fixture_create(store, "x", SPEC(.capacity = 10, .key_rule = given));
    assert_string_equal(fixture_stat(filter).key_rule, kept);
    assert_done(tamis_filter_close(filter));
    AUTO_FILTER *again = fixture_opened(store, "x", 0);
    assert_int_equal(tamis_filter_add(again, "https://www.c.d/?b&e&ab", 23), 1);
    assert_int_equal(tamis_filter_contains(again, "http://c.d/?e", 13), 1);
}

/* ---- Any bytes ------------------------------------------------------------------------------- */

static const char *const rules[] = {
    "url",
    "url:sort",
    "url:drop=a*+*b+c",
    "url:nowww",
    "url:noslash",
    "url:https=http",
    "url:sort,drop=utm_*,nowww,noslash,https=http",
};
enum { RULES = sizeof rules / sizeof rules[0] };

/* A URL of parts that are easily taken for one another, some bytes of which are any. */
static size_t make_url(uint64_t *random, char *url, size_t room)
{
    static const char *const parts[] = {
        "http:",    "HTTPS:", "ws:",   "//",          "/",   "\\", "www.", "A.b",
        "1.2",      "0x7f",   "[::1]", "[1:0:0:2::]", "@",   ":",  ":80",  ":443",
        "..",       ".",      "%2e",   "%2E%2e",      "%41", "%",  "?",    "&",
        "=",        "a=1",    "b",     "utm_x=",      "#",   " ",  "\t",   "\n",
        "\xc3\xa9", "\xff",   "\x01",  "|",           "^",   "'",  "\"",   "xn--a"};
    size_t bytes = 0;
    const uint64_t count = random_below(random, 24);
    if (random_below(random, 4) != 0)
        bytes = (size_t)snprintf(url, room, "%s//", random_below(random, 2) ? "http:" : "https:");
    for (uint64_t i = 0; i < count; i++)
        bytes += (size_t)snprintf(url + bytes, room - bytes, "%s",
                                  parts[random_below(random, sizeof parts / sizeof parts[0])]);
    if (bytes > 0 && random_below(random, 4) == 0)
        url[random_below(random, bytes)] = (char)random_below(random, 256);
    return bytes;
}

CASE(form_of_the_form_is_the_form)
{
    uint64_t random = random_seed();
    static char again[FORM_BYTES];
    char url[400];
    for (int i = 0; i < 200000; i++) {
        const size_t bytes = make_url(&random, url, sizeof url);
        const char *rule = rules[random_below(&random, RULES)];
        const size_t form_bytes = forms_make(rule, url, bytes, form);
        assert_int_equal(forms_make(rule, form, form_bytes, again), form_bytes);
        assert_memory_equal(again, form, form_bytes);
    }
}

/* Each key of a batch is found one by one, and its form, too. */
STORE_CASE(batch_is_as_its_single_calls)
{
    enum { COUNT = 3000 };
    uint64_t random = random_seed();
    static char urls[COUNT][400];
    static struct tamis_key keys[COUNT];
    static uint8_t answers[COUNT];
    for (size_t r = 0; r < RULES; r++) {
        tamis_filter *one = fixture_create(
            store, "one", SPEC(.capacity = COUNT, .fp_rate = 1e-9, .key_rule = rules[r]));
        tamis_filter *all = fixture_create(
            store, "all", SPEC(.capacity = COUNT, .fp_rate = 1e-9, .key_rule = rules[r]));
        for (size_t i = 0; i < COUNT; i++)
            keys[i] = (struct tamis_key){urls[i], make_url(&random, urls[i], sizeof urls[i])};
        assert_done(tamis_filter_add_batch(all, keys, COUNT, answers));
        for (size_t i = 0; i < COUNT; i++) {
            assert_int_equal(tamis_filter_add(one, keys[i].data, keys[i].bytes), answers[i]);
            const size_t bytes = forms_make(rules[r], keys[i].data, keys[i].bytes, form);
            assert_int_equal(tamis_filter_contains(all, form, bytes), 1);
        }
        assert_done(tamis_filter_close(one));
        assert_done(tamis_filter_close(all));
        assert_done(tamis_filter_drop(store, "one"));
        assert_done(tamis_filter_drop(store, "all"));
    }
}

/* 64 KiB of one byte each, in each part of a URL. */
CASE(long_urls_have_forms)
{
    enum { LONG = 1 << 16 };
    static char url[LONG + 100], again[FORM_BYTES];
    static const char *const starts[] = {"", "http://", "http://a/", "http://a/?", "HTTP://@a/?b&"};
    for (size_t s = 0; s < sizeof starts / sizeof starts[0]; s++)
        for (int byte = 0; byte < 256; byte++) {
            const size_t at = (size_t)snprintf(url, sizeof url, "%s", starts[s]);
            memset(url + at, byte, LONG);
            const char *rule = rules[(size_t)byte % RULES];
            const size_t bytes = forms_make(rule, url, at + LONG, form);
            assert_int_equal(forms_make(rule, form, bytes, again), bytes);
            assert_memory_equal(again, form, bytes);
        }
}
