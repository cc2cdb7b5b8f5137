/* SPDX-License-Identifier: BSD-2-Clause */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys.h"

static const char HELP[] =
    "usage: tamis-bench [--quick | --smoke] [--grow | --tune | --max-keys N] [OPTION...]\n"
    "\n"
    "What Tamis costs, in nanoseconds a key, beside the best that the machine can do: for "
    "each\n"
    "kind of filter, with 8-byte keys and URLs of 70, out of cache and in it, in batches and one "
    "by\n"
    "one, by a process, two processes and two threads.  In the same run the limits are measured:\n"
    "reading a random line, locked ORs on one, hashing alone; and libbloom and Boost.Bloom, where\n"
    "they were built in.\n"
    "\n"
    "      --quick        under a minute: fewer kinds, keys and samples, still out of cache\n"
    "      --smoke        seconds, with filters so small that the figures say nothing\n"
    "      --grow         instead: how the cost grows with keys, segments and processes\n"
    "      --tune         instead: the batch loops of kind blocked, with each set of vector\n"
    "                     instructions and each number of keys in flight, lines fetched into the\n"
    "                     first cache and (far) into the second\n"
    "      --max-keys N   instead: filters at 1 % of 10,000 keys, 100,000 and so on up to N, each "
    "in\n"
    "                     both sorts of pages: ns a key beside the limits on their own lines, to "
    "fill,\n"
    "                     to sync, to open, and page tables.  10000000000 takes 13 GB of disk and\n"
    "                     of memory.  With --grow: how far that goes; 1000000000 (2.1 GB)\n"
    "      --only REGEX   only figures whose names match (extended, anywhere in the name); names "
    "are\n"
    "                     KIND/KEYS/PLACE/CALL/OPERATION/TEAM, such as blocked/8/out/batch/hit/p1\n"
    "      --json FILE    all figures with every sample, and the machine; - is standard output, "
    "and\n"
    "                     the table then goes to standard error\n"
    "      --dir DIR      where the filters are made, in a directory that is removed at the end;\n"
    "                     $TMPDIR or /tmp unless told\n"
    "      --keys N       of a filter that is out of cache; 100000000\n"
    "      --cached N     of one that is in cache; 1000000\n"
    "      --batch N      keys a batch, 1 to 2048; 1024\n"
    "      --repeats N    samples a figure, 1 to 32; 7\n"
    "      --seed N       of the keys; 1\n"
    "      --pages SORT   of the filters, and of the limits' memory: auto, small or huge; auto.\n"
    "                     With --max-keys: only that sort\n"
    "      --help         this\n"
    "\n"
    "exit status: 0 measured, whatever the figures; 1 it could not be; 2 the arguments are wrong;\n"
    "128 + N stopped by signal N\n";

static _Noreturn void fail(const char *what, const char *value)
{
    (void)fprintf(stderr, "tamis-bench: %s '%s'; see tamis-bench --help\n", what, value);
    exit(2);
}

static uint64_t number(const char *option, const char *text, uint64_t least, uint64_t most)
{
    char *end, what[128];
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (errno == 0 && *text >= '0' && *text <= '9' && *end == '\0' && value >= least &&
        value <= most)
        return value;
    (void)snprintf(what, sizeof what, "%s takes a number from %llu to %llu, not", option,
                   (unsigned long long)least, (unsigned long long)most);
    fail(what, text);
}

enum {
    QUICK = 256,
    SMOKE,
    GROW,
    TUNE,
    ONLY,
    JSON,
    DIR,
    KEYS,
    CACHED,
    MAX_KEYS,
    BATCH,
    REPEATS,
    SEED,
    PAGES
};

static const struct option LONG[] = {{"quick", no_argument, NULL, QUICK},
                                     {"smoke", no_argument, NULL, SMOKE},
                                     {"grow", no_argument, NULL, GROW},
                                     {"tune", no_argument, NULL, TUNE},
                                     {"only", required_argument, NULL, ONLY},
                                     {"json", required_argument, NULL, JSON},
                                     {"dir", required_argument, NULL, DIR},
                                     {"keys", required_argument, NULL, KEYS},
                                     {"cached", required_argument, NULL, CACHED},
                                     {"max-keys", required_argument, NULL, MAX_KEYS},
                                     {"batch", required_argument, NULL, BATCH},
                                     {"repeats", required_argument, NULL, REPEATS},
                                     {"seed", required_argument, NULL, SEED},
                                     {"pages", required_argument, NULL, PAGES},
                                     {"help", no_argument, NULL, 'h'},
                                     {NULL, 0, NULL, 0}};

static void set_only(struct options *o, const char *text)
{
    char error[128];
    const int rc = regcomp(&o->only, text, REG_EXTENDED | REG_NOSUB);
    if (rc != 0) {
        (void)regerror(rc, &o->only, error, sizeof error);
        (void)fprintf(stderr, "tamis-bench: --only '%s': %s\n", text, error);
        exit(2);
    }
    o->some = true;
    o->only_text = text;
}

static uint32_t pages(const char *text)
{
    for (uint32_t i = TAMIS_PAGES_AUTO; tamis_pages_name(i) != NULL; i++)
        if (strcmp(tamis_pages_name(i), text) == 0) return i;
    fail("--pages takes auto, small or huge, not", text);
}

static void take(struct options *o, int option, const char *value)
{
    switch (option) {
    case QUICK:
        o->quick = true;
        break;
    case SMOKE:
        o->smoke = true;
        break;
    case GROW:
        o->grow = true;
        break;
    case TUNE:
        o->tune = true;
        break;
    case ONLY:
        set_only(o, value);
        break;
    case JSON:
        o->json = value;
        break;
    case DIR:
        o->directory = value;
        break;
    case KEYS:
        o->out_keys = number("--keys", value, 1000, UINT64_C(10000000000));
        break;
    case CACHED:
        o->in_keys = number("--cached", value, 1000, UINT64_C(10000000000));
        break;
    case MAX_KEYS:
        o->max_keys = number("--max-keys", value, 1000, UINT64_C(10000000000));
        break;
    case BATCH:
        o->batch = (size_t)number("--batch", value, 1, STREAM_KEYS);
        break;
    case REPEATS:
        o->repeats = (unsigned)number("--repeats", value, 1, 32);
        break;
    case PAGES:
        o->pages = pages(value);
        break;
    default:
        o->seed = number("--seed", value, 0, UINT64_MAX);
        break;
    }
}

/* What --quick and --smoke make smaller, where the command line does not say it. */
static void complete(struct options *o)
{
    o->sizes = o->max_keys != 0 && !o->grow;
    if (o->directory == NULL) o->directory = getenv("TMPDIR");
    if (o->directory == NULL || *o->directory == '\0') o->directory = "/tmp";
    if (o->out_keys == 0) o->out_keys = o->smoke ? 20000 : 100000000;
    if (o->in_keys == 0) o->in_keys = o->smoke ? 5000 : 1000000;
    if (o->max_keys == 0) o->max_keys = o->smoke ? 30000 : o->quick ? 100000000 : 1000000000;
    if (o->repeats == 0) o->repeats = o->quick || o->smoke ? 5 : 7;
    o->levels = o->smoke ? 2 : 8;
    o->sample_keys = o->smoke ? 2048 : o->quick ? 300000 : 1000000;
}

static void keep_command(struct options *o, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        const size_t used = strlen(o->command);
        (void)snprintf(o->command + used, sizeof o->command - used, "%s%s", i > 0 ? " " : "",
                       i > 0 ? argv[i] : "tamis-bench");
    }
}

void options_parse(int argc, char **argv, struct options *options)
{
    int option;
    *options = (struct options){.batch = 1024, .seed = 1};
    keep_command(options, argc, argv);
    opterr = 0;
    while ((option = getopt_long(argc, argv, "h", LONG, NULL)) != -1) {
        if (option == 'h') {
            (void)fputs(HELP, stdout);
            exit(0);
        }
        if (option == '?') fail("unknown option, or one without its value:", argv[optind - 1]);
        take(options, option, optarg);
    }
    if (optind < argc) fail("takes no argument such as", argv[optind]);
    if (options->quick && options->smoke) fail("--quick does not go with", "--smoke");
    if (options->tune && options->grow) fail("--tune does not go with", "--grow");
    if (options->tune && options->max_keys != 0) fail("--tune does not go with", "--max-keys");
    if (options->tune && options->json != NULL) fail("--tune does not go with", "--json");
    complete(options);
}

bool options_want(const struct options *options, const char *name)
{
    return !options->some || regexec(&options->only, name, 0, NULL, 0) == 0;
}
