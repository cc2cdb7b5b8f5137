/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis-bench: what the library costs beside the limits of the machine, in one run.
 *
 *     tamis-bench --json run.json              five minutes, 2 GB of disk and 6 GB of memory
 *     tamis-bench --quick                      under a minute
 *     tamis-bench --only 'blocked/8/out/batch'
 *     tamis-bench --grow --json grow.json      likewise, 4.5 GB of disk and of memory
 *     tamis-bench --max-keys 10000000000       half an hour, 13 GB of disk and of memory
 *     tamis-bench --tune                       a minute, 0.3 GB
 *
 *     options.c   the command line                  crew.c      the workers, and the clock
 *     plan.c      which filters                     keys.c      keys by their numbers
 *     case.c      what is done to a filter          calls.c     the library's calls
 *     limits.c    what the machine can              peers.c     libbloom, Boost.Bloom
 *     life.c      to sync, to open, page tables     boost.cpp   calls of Boost.Bloom
 *     figures.c   samples by name                   machine.c   what it ran on
 *     requirements.c, table.c, json.c               what came out
 *     tune.c      the depths of the blocked loops
 *
 * It calls what users call, tamis.h and tamis_build.h; only tune.c looks inside.  No figure makes
 * it fail.  Where a key that was added is not found, or a call fails, it does.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"
#include "json.h"
#include "plan.h"
#include "requirements.h"
#include "scratch.h"
#include "table.h"
#include "tune.h"

#define DIRECTORY_MAX 180u

static struct bench_case cases[PLAN_MAX];
static struct requirement requirements[REQUIREMENTS_MAX];

static const char *new_store(const struct options *options)
{
    if (strlen(options->directory) > DIRECTORY_MAX)
        errx(2, "the name of the directory is longer than %u bytes", DIRECTORY_MAX);
    if (access(options->directory, W_OK | X_OK) != 0) err(1, "%s", options->directory);
    if (setenv("TMPDIR", options->directory, 1) != 0) err(1, "setenv");
    return scratch_directory();
}

/* Measured cases move to the front; returns how many. */
static unsigned run_cases(const struct options *options, const char *store, FILE *out,
                          unsigned planned)
{
    unsigned done = 0;
    char axis[64] = "";
    for (unsigned i = 0; i < planned; i++) {
        if (!case_run(&cases[i], options, store)) continue;
        cases[done] = cases[i];
        if (options->sizes) {
            table_size(out, &cases[done], done == 0);
            done++;
            continue;
        }
        if (!options->grow) {
            table_case(out, &cases[done++]);
            continue;
        }
        const size_t length = (size_t)(strrchr(cases[done].prefix, '/') - cases[done].prefix);
        const bool first = strncmp(axis, cases[done].prefix, length) != 0;
        (void)snprintf(axis, sizeof axis, "%.*s", (int)length, cases[done].prefix);
        table_growth(out, &cases[done++], first);
    }
    return done;
}

/* Before minutes are spent on it. */
static void check_json(const char *path)
{
    if (path == NULL || strcmp(path, "-") == 0) return;
    FILE *file = fopen(path, "a");
    if (file == NULL || fclose(file) != 0) err(1, "%s", path);
}

int main(int argc, char **argv)
{
    static struct options options;
    struct machine machine;
    options_parse(argc, argv, &options);
    check_json(options.json);
    FILE *out = options.json != NULL && strcmp(options.json, "-") == 0 ? stderr : stdout;
    const char *store = new_store(&options);
    crew_start();
    machine_look(store, &machine);
    table_head(out, &options, &machine);
    tune_print_chosen(options.sizes ? options.max_keys : options.out_keys, out);
    (void)fflush(out);
    if (options.tune) {
        tune_run(&options, store, out);
        return 0;
    }
    const unsigned planned = options.sizes  ? plan_sizes(&options, cases)
                             : options.grow ? plan_growth(&options, cases)
                                            : plan_kinds(&options, cases);
    const unsigned done = run_cases(&options, store, out, planned);
    if (done == 0) errx(2, "--only '%s': no figure has such a name", options.only_text);
    const unsigned count = requirements_hold(requirements);
    table_requirements(out, requirements, count);
    if (options.json != NULL)
        json_write_results(&(struct results){.options = &options,
                                             .machine = &machine,
                                             .cases = cases,
                                             .case_count = done,
                                             .requirements = requirements,
                                             .requirement_count = count},
                           options.json);
    return 0;
}
