/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_build.c: a build from its first key to the publish, phase by phase.
 *
 *     bench_build [KEYS [MEMORY_MIB [THREADS [KIND [STORE]]]]]      default: 1e7, 0, 0, fuse, a
 *     scratch one
 *
 * Keys are 8 bytes; that they are made and handed over is in the time of reading.  Beside the time
 * by the clock stands that of the processors, which tells on a busy machine what the threads would
 * have needed together on an idle one.  Memory is the most that the process had at one time
 * (VmHWM): the pages of mapped files are in it, the page cache of others is not.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "tamis.h"

#define AT_ONCE 4096u
#define PHASES 5u

static const char *const names[PHASES] = {"reading", "sorting", "making", "verifying",
                                          "publishing"};

struct moment {
    double clock, processors;
};

static struct moment now(void)
{
    return (struct moment){bench_clock(CLOCK_MONOTONIC), bench_clock(CLOCK_PROCESS_CPUTIME_ID)};
}

static int note_phase(void *context, uint32_t phase, uint64_t done, uint64_t all)
{
    struct moment *began = context; /* of each phase; 0: never */
    (void)done;
    (void)all;
    if (began[phase].clock == 0) began[phase] = now();
    return 0;
}

static void check(int64_t rc, const char *what)
{
    if (rc < 0) errx(1, "%s: %s", what, tamis_last_error());
}

static void add_keys(tamis_build *build, uint64_t count)
{
    static uint64_t numbers[AT_ONCE];
    static struct tamis_key keys[AT_ONCE];
    for (uint64_t done = 0; done < count;) {
        size_t batch = 0;
        for (; batch < AT_ONCE && done < count; batch++, done++) {
            numbers[batch] = done * 0x9E3779B97F4A7C15u;
            keys[batch] = (struct tamis_key){.data = &numbers[batch], .bytes = 8};
        }
        check(tamis_build_add(build, keys, batch), "add");
    }
}

static void print_memory(void)
{
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            (void)printf("%-11s %8.2f MiB\n", "memory", strtod(line + 6, NULL) / 1024);
    if (status != NULL) (void)fclose(status);
}

static void print_phase(const char *name, const struct moment *from, const struct moment *to)
{
    (void)printf("%-11s %8.3f s, of all processors %8.3f s\n", name, to->clock - from->clock,
                 to->processors - from->processors);
}

static void print_phases(const struct moment *began, struct moment end)
{
    const struct moment *until = &end;
    for (uint32_t phase = PHASES; phase-- > 0;) {
        if (began[phase].clock == 0) continue;
        print_phase(names[phase], &began[phase], until);
        until = &began[phase];
    }
    print_phase("all", &began[0], &end);
}

int main(int argc, char **argv)
{
    char scratch[] = "bench_build.XXXXXX";
    struct moment began[PHASES] = {{0, 0}};
    struct tamis_filter_spec filter = {.size = sizeof filter, .fp_rate = 1.0 / 256};
    struct tamis_build_spec spec = {
        .size = sizeof spec, .filter = &filter, .progress = note_phase, .context = began};
    const uint64_t count = argc > 1 ? (uint64_t)strtod(argv[1], NULL) : 10000000;
    if (argc > 2) spec.memory_bytes = (uint64_t)(strtod(argv[2], NULL) * 1048576);
    if (argc > 3) spec.threads = (uint32_t)strtoul(argv[3], NULL, 10);
    if (argc > 4) check(tamis_kind_from_name(argv[4], &filter.kind), "kind");
    if (argc <= 5 && mkdtemp(scratch) == NULL) err(1, "mkdtemp");
    tamis_store *store;
    tamis_build *build;
    struct tamis_build_result result = {.size = sizeof result};
    check(tamis_store_open(argc > 5 ? argv[5] : scratch, TAMIS_OPEN_CREATE, &store), "store");
    began[0] = now();
    check(tamis_build_begin(store, "bench", &spec, &build), "begin");
    add_keys(build, count);
    check(tamis_build_publish(build, &result), "publish");
    print_phases(began, now());
    print_memory();
    (void)printf("%-11s %8.3f bits/key, %llu of %llu strangers, %llu keys\n", "segment",
                 (double)result.size_bytes * 8 / (double)result.distinct,
                 (unsigned long long)result.sampled_yes, (unsigned long long)result.sampled,
                 (unsigned long long)result.distinct);
    tamis_build_close(build);
    if (argc <= 5) check(tamis_filter_drop(store, "bench"), "drop");
    tamis_store_close(store);
    if (argc <= 5) (void)printf("left behind: the empty store %s\n", scratch);
    return 0;
}
