/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_key_rules.c: what the form of a key costs, in nanoseconds, for keys that are their form and
 * for keys that are not.
 *
 *     bench_key_rules        prints RULE, what the keys are, and ns a key: the median of 15 runs
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "key/form.h"

enum { KEYS = 100000, RUNS = 15, KEY_BYTES = 96 };

static char texts[KEYS][KEY_BYTES];
static struct tamis_key keys[KEYS];

static double measure(const struct tamis__key_rule *rule)
{
    static struct tamis__form_walk walk;
    double times[RUNS];
    for (int run = 0; run < RUNS; run++) {
        const double start = bench_now();
        int64_t now;
        tamis__form_walk_begin(&walk, rule, keys, KEYS);
        while ((now = bench_done(tamis__form_walk_next(&walk))) > 0)
            ;
        tamis__form_walk_end(&walk);
        times[run] = (bench_now() - start) * 1e9 / KEYS;
    }
    qsort(times, RUNS, sizeof times[0], bench_ascending);
    return times[RUNS / 2];
}

/* A number stands between each two parts. */
static void report(const char *text, const char *what, const char *const parts[3])
{
    struct tamis__key_rule rule;
    bench_done(tamis__key_rule_parse(text, &rule));
    for (int i = 0; i < KEYS; i++) {
        const int bytes =
            snprintf(texts[i], KEY_BYTES, "%s%06d%s%06d%s", parts[0], i, parts[1], i, parts[2]);
        keys[i] = (struct tamis_key){texts[i], (size_t)bytes};
    }
    printf("%-26s %-16s %3zu bytes %6.1f ns\n", text, what, keys[0].bytes, measure(&rule));
}

int main(void)
{
    static const char *const name[] = {"host-", ".cdn-", ".example.com"};
    static const char *const capitals[] = {"Host-", ".CDN-", ".Example.com"};
    static const char *const form[] = {"https://www.example.com/articles/",
                                       "/title.html?a=1&page=", ""};
    static const char *const other[] = {"HTTPS://www.Example.com:443/", "/../b?page=", "&a=1#top"};
    report("name", "its form", name);
    report("name", "with capitals", capitals);
    report("url", "its form", form);
    report("url", "another spelling", other);
    report("url:drop=utm_*+gclid,sort", "its form", form);
    report("url:drop=utm_*+gclid,sort", "another spelling", other);
    return 0;
}
