/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscall_faults.c: every act of acts.h with its 1st, 2nd, ... system call failing, the library's
 * and LMDB's, interrupted, or doing half of what it was asked, until a run passes untouched; and
 * with few descriptors, small files, and few addresses.
 *
 * After each: the act was right, or an error with a sentence and a code; no descriptor is lost; the
 * store opens, is sound, and has every key that was acknowledged.  An interrupted or a short call
 * of the library is not noticed.  A sync that fails is told, and a durable filter whose log it was
 * is degraded until the next sync.  What such a filter has told is in its logs, should the power
 * go.
 *
 * Seen to fail: with the result of a log's fdatasync() ignored ("a failed sync was not told", "not
 * degraded"); with fsync(), fdatasync() and msync() not made again after EINTR, as it was; with a
 * write that takes half for all.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "acts.h"
#include "base/error.h"
#include "base/point.h"
#include "rounds.h"
#include "syscalls.h"

static unsigned points[SYSCALLS_WAYS], limits, told, right, failures;
static unsigned seed;
static char where[512];

/* Go on, to see all of them; the exit status tells. */
static void complain(const char *what)
{
    failures++;
    print_error("%s: %s; last sentence: %s\n", where, what, tamis_last_error());
}

/* ---- After a fault --------------------------------------------------------------------------- */

static void judge(int64_t rc)
{
    if (rc == SCENE_WRONG)
        complain("WRONG ANSWER");
    else if (rc >= 0)
        right++;
    else {
        told++;
        if (*tamis_last_error() == '\0' || strstr(tamis_last_error(), "Success") != NULL)
            complain("an error without a sentence");
        if (*tamis_error_name((int)rc) == '\0') complain("an error without a name");
    }
}

/* The store as it must be whatever failed. */
static void look_after(struct scene *scene, int descriptors)
{
    if (fixture_findings(scene->path) != 0) complain("leaves something behind");
    scene_name_back(scene); /* as the next writer it clears up */
    (void)scene_close(scene);
    if (fixture_descriptors() != descriptors) complain("a descriptor was lost");
    if (scene_open(scene) < 0) complain("not usable");
    if (fixture_problems(scene->path) != 0) complain("not sound");
    if (scene_ask(scene) != 0) complain("keys are missing");
    if (scene_close(scene) < 0) complain("cannot be closed");
    scene_clear(scene);
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* A durable filter whose log's sync failed says so, takes keys again, and a sync mends it. */
static void look_at_degraded(const struct scene *scene)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    tamis_filter *filter = scene->filters[DURABLE];
    if (tamis_filter_stat(filter, &stat) < 0) complain("no stat");
    if ((stat.state & TAMIS_STATE_DEGRADED) == 0) complain("not degraded");
    if (tamis_filter_add(filter, "after", 5) < 0 || tamis_filter_sync(filter) < 0)
        complain("does not recover");
    if (tamis_filter_stat(filter, &stat) < 0 || (stat.state & TAMIS_STATE_DEGRADED) != 0)
        complain("degraded after a sync");
}

/* The power goes: of the segments the disk has what it had before the act, of the logs all. */
static void look_at_logs(const struct scene *scene, char *disk)
{
    static const uint8_t other_boot[16] = "yet another one";
    struct scene cut = {.path = disk};
    char from[4096], to[4096];
    (void)snprintf(from, sizeof from, "%s/logs", scene->path);
    (void)snprintf(to, sizeof to, "%s/logs", disk);
    scratch_remove(to);
    scratch_copy(from, to);
    tamis__boot_hook = other_boot;
    if (scene_open(&cut) < 0 || scene_ask(&cut) != 0) complain("not in the logs what was told");
    if (scene_close(&cut) < 0) complain("cannot be closed");
    tamis__boot_hook = NULL;
}

static void look_at_result(const struct scene *scene, const struct act *act,
                           const struct syscalls_fault *fault, enum syscalls_way way, int64_t rc)
{
    if (!fault->reached) {
        if (rc < 0) complain("an error without a fault");
        return;
    }
    if (way == INTERRUPTED || way == CUT_SHORT) {
        if (rc < 0 && !fault->by_lmdb) complain("not gone on with");
        return;
    }
    if (rc == TAMIS_ESYSTEM && fault->error_number != EAGAIN) complain("left untranslated");
    if (fault->by_lmdb) return;
    const bool of_log = is(fault->verb, "fdatasync"),
               durable = is(act->name, "add durable") || is(act->name, "log"),
               syncs = durable || is(act->name, "sync") || is(act->name, "close");
    if (rc < 0 && durable && of_log) look_at_degraded(scene);
    if (rc >= 0 && ((syncs && is(fault->verb, "msync")) || (durable && of_log)))
        complain("a failed sync was not told");
}

/* ---- The nth call ---------------------------------------------------------------------------- */

/* False once the act does not come as far as that. */
static bool run_with_fault(const struct act *act, enum syscalls_way way, unsigned nth)
{
    struct scene scene;
    const int descriptors = fixture_descriptors();
    char *disk = is(act->name, "log") ? scratch_path("disk") : NULL;
    scene_set_for(&scene, act);
    if (disk != NULL) scratch_copy(scene.path, disk);
    (void)tamis__fail(0, "%s", "");
    syscalls_arm(way, nth, nth + seed);
    const int64_t rc = act->run(&scene);
    const struct syscalls_fault fault = syscalls_disarm();
    (void)snprintf(where, sizeof where, "%s, way %d, call %u: %s%s %s, errno %d, result %lld",
                   act->name, way, nth, fault.verb, fault.by_lmdb ? " (LMDB)" : "", fault.what,
                   fault.error_number, (long long)rc);
    if (fault.reached) judge(rc);
    if (disk != NULL) {
        look_at_logs(&scene, disk);
        scratch_remove(disk);
        free(disk);
    }
    look_at_result(&scene, act, &fault, way, rc);
    points[way] += fault.reached;
    look_after(&scene, descriptors);
    return fault.reached;
}

/* The usual form interrupts, and cuts short, every other call after the first twelve. */
static unsigned step_of(int way)
{
    if (FIXTURE_SANITIZED) return 7;
    return way == INTERRUPTED || way == CUT_SHORT ? rounds(2, 1) : 1;
}

static void fail_each(const struct act *act)
{
    for (int way = 0; way < SYSCALLS_WAYS; way++) {
        unsigned nth = 1;
        while (run_with_fault(act, (enum syscalls_way)way, nth))
            nth += nth > 12 ? step_of(way) : 1;
    }
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static rlim_t descriptors_and(unsigned spare)
{
    int fd = 0;
    for (;; fd++)
        if (fcntl(fd, F_GETFD) < 0 && spare-- == 0) return (rlim_t)fd;
}

static rlim_t addresses_and(unsigned step)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%lu", &pages) != 1) err(1, "statm");
    (void)fclose(file);
    return pages * 4096 + (rlim_t)step * 200000;
}

enum limit { DESCRIPTORS, FILE_BYTES, ADDRESSES, LIMITS };

static rlim_t limit_of(enum limit limit, unsigned step)
{
    return limit == DESCRIPTORS  ? descriptors_and(step)
           : limit == FILE_BYTES ? (rlim_t)step * 5000
                                 : addresses_and(step);
}

static void run_under(const struct act *act, enum limit limit, unsigned step)
{
    static const __rlimit_resource_t resources[] = {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_AS};
    struct scene scene;
    struct rlimit was, now;
    const int descriptors = fixture_descriptors();
    scene_set_for(&scene, act);
    (void)tamis__fail(0, "%s", "");
    if (getrlimit(resources[limit], &was) != 0) err(1, "getrlimit");
    now = was;
    now.rlim_cur = limit_of(limit, step);
    if (setrlimit(resources[limit], &now) != 0) err(1, "setrlimit");
    const int64_t rc = act->run(&scene);
    if (setrlimit(resources[limit], &was) != 0) err(1, "setrlimit");
    (void)snprintf(where, sizeof where, "%s, limit %d of %llu, result %lld", act->name, limit,
                   (unsigned long long)now.rlim_cur, (long long)rc);
    limits++;
    judge(rc);
    if (rc == TAMIS_ESYSTEM) complain("left untranslated");
    look_after(&scene, descriptors);
}

static void limit_each(size_t at)
{
    const struct act *act = &acts[at];
    for (unsigned spare = 0; spare <= 8; spare++)
        run_under(act, DESCRIPTORS, spare);
    for (unsigned step = 0; step < 5; step += 1 + step)
        run_under(act, FILE_BYTES, step);
    /* The streams of the test need memory themselves. */
    if (FIXTURE_SANITIZED || is(act->name, "export") || is(act->name, "import")) return;
    for (unsigned step = 0; step < 3; step++)
        run_under(act, ADDRESSES, step);
}

/* syscall_faults [ACT [SEED]].  Not by cmocka's runner: see truncate_under_us.c. */
int main(int argc, char **argv)
{
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR) err(1, "signal");
    scratch_in_memory();
    seed = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    for (size_t i = 0; i < acts_count; i++) {
        if (argc > 1 && *argv[1] != '\0' && !is(argv[1], acts[i].name)) continue;
        const unsigned before = points[0] + points[1] + points[2] + points[3];
        fail_each(&acts[i]);
        (void)printf("%s: %u calls\n", acts[i].name,
                     points[0] + points[1] + points[2] + points[3] - before);
        limit_each(i);
    }
    (void)printf(
        "syscall-faults: %u calls failed at the hook, %u in the kernel, %u interrupted, %u cut "
        "short, %u limits; crashes 0, failures %u; %u errors with a sentence, %u right\n",
        points[FAIL_AT_HOOK], points[FAIL_IN_KERNEL], points[INTERRUPTED], points[CUT_SHORT],
        limits, failures, told, right);
    return failures > 0 || told == 0;
}
