/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bound_faults_test.c: the rate holds while others hold locks, stop, sync slowly, write exceptions,
 * or fill the disk.
 *
 * A crowd (crowd.h) fills a filter that has to grow again and again, while the test does one of
 * these.  Adders wait or say TAMIS_EBUSY or TAMIS_ENOSPACE, and go on by themselves once they can;
 * afterwards all keys are in, the rate is the one asked for, and no segment is over its capacity.
 *
 *     bound_faults_test                 the short form
 *     TAMIS_BOUND_LONG=1 bound_faults_test     locks of 10 s and 20 million keys, stops of 3 s,
 *                                              syncs of 700 ms,
 *                                       9 million exceptions
 *     bound_faults_test locks stops syncs full except      these alone
 *
 * Points: all that a crowd passes while its filter grows are found by a first run, so a new one is
 * stopped at too.
 *
 * Seen to fail: before there were reservations, all of it; see the names behind FAILED.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command_line.h"
#include "crowd.h"
#include "os/io.h"
#include "points.h"
#include "random.h"
#include "scratch.h"
#include "slow_sync.h"
#include "small_disk.h"

/* A call may take longer than its timeout by so much: the machine is busy. */
#define TIMEOUT_SLACK_NS INT64_C(8000000000)
#define NS_PER_MS 1000000
#define HASTY_MS 500
#define PATIENT_MS 60000

static bool is_long;
static const char *directory;

static const struct bound_demand plain = {.fp_rate = 0.01, .segments_min = 3};

static char *new_path(const char *name)
{
    static unsigned number;
    char *path = NULL;
    SPAWN_CHECK(asprintf(&path, "%s/%s-%u", directory, name, number++) > 0);
    return path;
}

static void give_back(char *path)
{
    scratch_remove(path);
    free(path);
}

static void pause_ms(unsigned ms)
{
    (void)usleep(ms * 1000);
}

/* ---- A stranger's lock ----------------------------------------------------------------------- */

/* `tamis add`, which fills a filter alone. */
struct commanded {
    struct crowd *crowd; /* of no adders */
    struct command_line command;
    const char *wait; /* seconds */
    int status;       /* of its first run */
    bool said;        /* was the word for what is wrong in its message? */
    char *input, *messages;
};

static struct commanded new_commanded(const char *store, const struct crowd_plan *plan,
                                      const char *wait)
{
    struct commanded c = {.wait = wait};
    char text[RANDOM_KEY_BYTES];
    c.input = new_path("keys");
    c.messages = new_path("messages");
    c.crowd = crowd_new(store, plan);
    c.crowd->keys->as_text = true;
    c.crowd->plan.adders = 0;
    FILE *file = fopen(c.input, "w");
    SPAWN_CHECK(file != NULL);
    for (uint64_t i = 0; i < c.crowd->keys->count; i++) {
        text[random_key(c.crowd->keys->base + i, text)] = '\n';
        (void)fwrite(text, 21, 1, file);
    }
    SPAWN_CHECK(fclose(file) == 0);
    return c;
}

static void start_commanded(struct commanded *c, const char *wait)
{
    const char *const arguments[] = {"tamis", "add",     c->crowd->plan.name,  "--wait",
                                     wait,    "--store", c->crowd->store_path, NULL};
    command_line_start(&c->command, arguments, c->input, c->messages);
}

static void end_commanded(struct commanded *c, const char *word)
{
    c->status = command_line_end(&c->command, word, &c->said);
}

/* Where it has failed it is run again, and must go on where it stopped. */
static unsigned judge_commanded(struct commanded *c, const char *how, bool may_fail, bool must_fail)
{
    struct bound_outcome outcome;
    struct bound_demand demand = plain;
    char what[128];
    bool ignored;
    if (c->status != 0) {
        start_commanded(c, "60");
        SPAWN_CHECK(command_line_end(&c->command, "", &ignored) == 0);
    }
    demand.counts_nothing = true;
    memset(c->crowd->keys->answered, 1, (size_t)c->crowd->keys->count);
    crowd_measure(c->crowd, &demand, &outcome);
    if (c->status == 0 ? must_fail : !may_fail || c->status != 2 || !c->said)
        bound_fail(&outcome, "exit status");
    (void)snprintf(what, sizeof what, "%s, tamis add --wait %s, exit status %d", how, c->wait,
                   c->status);
    give_back(c->input);
    give_back(c->messages);
    return crowd_report(c->crowd, what, &outcome);
}

static unsigned judge_adders(struct crowd *crowd, const char *how)
{
    struct bound_outcome outcome;
    const bool is_patient = crowd->plan.timeout_ms == PATIENT_MS;
    char what[128];
    crowd_measure(crowd, &plain, &outcome);
    if (is_patient && crowd->keys->busy > 0) bound_fail(&outcome, "busy before its time");
    if ((int64_t)crowd->keys->longest_ns > crowd->plan.timeout_ms * NS_PER_MS + TIMEOUT_SLACK_NS)
        bound_fail(&outcome, "waited longer than its timeout");
    (void)snprintf(what, sizeof what, "%s, adders that wait %g s", how,
                   (double)crowd->plan.timeout_ms / 1e3);
    return crowd_report(crowd, what, &outcome);
}

static int lock_catalog(const char *store, int how)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/catalog.lock", store);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    SPAWN_CHECK(fd >= 0 && flock(fd, how) == 0);
    return fd;
}

static bool is_half_full(const struct crowd *crowd)
{
    return crowd_items(crowd) > crowd->plan.capacity / 2;
}

/* `from_start`: before the first key; else once each filter's first segment is half full. */
static unsigned run_lock(int how, bool from_start, uint64_t capacity, uint64_t keys)
{
    char *store = new_path("locked"), name[64];
    const unsigned hold_ms = is_long ? 10000 : 1500;
    struct crowd_plan plan = {.name = "patient",
                              .capacity = capacity,
                              .keys = keys,
                              .adders = 2,
                              .timeout_ms = PATIENT_MS};
    struct crowd *patient = crowd_new(store, &plan);
    plan.name = "hasty";
    plan.timeout_ms = HASTY_MS;
    plan.may_close_busy = true;
    struct crowd *hasty = crowd_new(store, &plan);
    plan.name = "commanded";
    struct commanded slow = new_commanded(store, &plan, "60");
    plan.name = "commanded-in-haste";
    struct commanded quick = new_commanded(store, &plan, "1");
    (void)snprintf(name, sizeof name, "%s lock of %u ms %s",
                   how == LOCK_SH ? "shared" : "exclusive", hold_ms,
                   from_start ? "from the start" : "in the midst");
    crowd_start(patient);
    crowd_start(hasty);
    int fd = from_start ? lock_catalog(store, how) : -1;
    crowd_go(patient);
    crowd_go(hasty);
    start_commanded(&slow, slow.wait);
    start_commanded(&quick, quick.wait);
    while (fd < 0)
        if (is_half_full(patient) && is_half_full(hasty) && is_half_full(slow.crowd) &&
            (is_half_full(quick.crowd) || command_line_is_over(&quick.command)))
            fd = lock_catalog(store, how);
    pause_ms(hold_ms);
    (void)close(fd);
    unsigned failed = judge_adders(patient, name) + judge_adders(hasty, name);
    end_commanded(&slow, "lock");
    end_commanded(&quick, "lock");
    failed += judge_commanded(&slow, name, false, false);
    failed += judge_commanded(&quick, name, true, false);
    give_back(store);
    return failed;
}

static unsigned run_locks(void)
{
    unsigned failed = run_lock(LOCK_SH, true, 1000, is_long ? 20000000 : 1000000);
    failed += run_lock(LOCK_EX, false, 1000, is_long ? 20000000 : 1000000);
    if (!is_long) return failed;
    failed += run_lock(LOCK_SH, false, 100000, 20000000);
    failed += run_lock(LOCK_EX, true, 100000, 20000000);
    return failed;
}

/* ---- An adder that is stopped ---------------------------------------------------------------- */

static const char *const point_names[] = {
#define POINT_NAME(name, where) [name] = #name,
    TAMIS__POINT_MAP(POINT_NAME)
#undef POINT_NAME
};

/* One of the crowd stops at the point, after so many passes of anybody. */
static unsigned run_stop(const struct crowd_plan *plan, unsigned point, uint64_t pass)
{
    char *store = new_path("stopped"), what[256];
    struct bound_demand demand = plain;
    struct bound_outcome outcome;
    struct crowd *crowd = crowd_new(store, plan);
    crowd->stop_at = point;
    crowd->stop_pass = pass;
    crowd_start(crowd);
    crowd_go(crowd);
    while (__atomic_load_n(&crowd->stopped, __ATOMIC_ACQUIRE) == 0 && !crowd_is_over(crowd))
        (void)usleep(200);
    const pid_t stopped = crowd->stopped;
    const uint64_t before = crowd_items(crowd);
    if (stopped != 0) pause_ms(is_long ? 3000 : 300);
    const uint64_t meanwhile = crowd_items(crowd) - before;
    if (stopped != 0) SPAWN_CHECK(kill(stopped, SIGCONT) == 0);
    /* Who wins keys in a segment that was left meanwhile has used room there, and may be told SEEN
     * further on. */
    demand.in_flight = BOUND_BATCH_MAX;
    crowd_measure(crowd, &demand, &outcome);
    if (crowd->keys->busy > 0) bound_fail(&outcome, "busy before its time");
    (void)snprintf(what, sizeof what,
                   "%s, stopped at %s as number %" PRIu64 ", meanwhile %" PRIu64 " items",
                   plan->name, stopped != 0 ? point_names[point] : "no point", pass, meanwhile);
    const unsigned failed = crowd_report(crowd, what, &outcome);
    give_back(store);
    return failed;
}

/* At each point that such a crowd passes, but where `seen` says that another was stopped there. */
static unsigned run_stops_of(const struct crowd_plan *plan, bool seen[TAMIS__POINT_COUNT_OF])
{
    static uint64_t random;
    uint64_t passes[TAMIS__POINT_COUNT_OF];
    char *store = new_path("passed");
    struct crowd *crowd = crowd_new(store, plan);
    if (random == 0) random = random_seed();
    crowd_start(crowd);
    crowd_go(crowd);
    while (!crowd_is_over(crowd))
        (void)usleep(200);
    memcpy(passes, crowd->passes, sizeof passes);
    unsigned failed = crowd_end(crowd, "nobody stopped", &plain);
    give_back(store);
    for (unsigned p = 0; p < TAMIS__POINT_COUNT_OF; p++) {
        if (passes[p] == 0 || seen[p]) continue;
        seen[p] = true;
        failed += run_stop(plan, p, 1 + random_below(&random, (passes[p] + 1) / 2));
        if (is_long) failed += run_stop(plan, p, 1);
    }
    return failed;
}

static unsigned run_stops(void)
{
    bool seen[TAMIS__POINT_COUNT_OF] = {false};
    struct crowd_plan plan = {.name = "stopped", .timeout_ms = PATIENT_MS};
    unsigned failed = run_stops_of(&plan, seen);
    plan = (struct crowd_plan){.name = "durable", .timeout_ms = PATIENT_MS, .durable = true};
    failed += run_stops_of(&plan, seen);
    if (!is_long) return failed;
    memset(seen, 0, sizeof seen);
    failed += run_stops_of(&plan, seen);
    memset(seen, 0, sizeof seen);
    plan = (struct crowd_plan){.name = "bloom", .kind = TAMIS_KIND_BLOOM, .timeout_ms = PATIENT_MS};
    return failed + run_stops_of(&plan, seen);
}

/* ---- A disk whose syncs take long ------------------------------------------------------------ */

static unsigned run_slow(const struct crowd_plan *plan, uint32_t segments_min)
{
    const struct bound_demand demand = {.fp_rate = plain.fp_rate, .segments_min = segments_min};
    char *store = new_path("slow"), what[64];
    struct crowd *crowd = crowd_new(store, plan);
    const unsigned ms = is_long ? 700 : 60;
    slow_sync_ms = ms; /* for the adders */
    crowd_start(crowd);
    slow_sync_ms = 0;
    crowd_go(crowd);
    (void)snprintf(what, sizeof what, "%s, syncs of %u ms", plan->name, ms);
    const unsigned failed = crowd_end(crowd, what, &demand);
    give_back(store);
    return failed;
}

static unsigned run_syncs(void)
{
    struct crowd_plan plan = {.name = "blocked", .timeout_ms = PATIENT_MS};
    unsigned failed = run_slow(&plan, 3);
    /* Small batches into two segments; into three, as each batch takes a sync, large ones. */
    plan = (struct crowd_plan){
        .name = "durable", .timeout_ms = PATIENT_MS, .durable = true, .keys = 8000};
    failed += run_slow(&plan, 2);
    plan = (struct crowd_plan){.name = "durable, large batches",
                               .timeout_ms = PATIENT_MS,
                               .durable = true,
                               .batch_min = 2048};
    failed += run_slow(&plan, 3);
    if (!is_long) return failed;
    plan = (struct crowd_plan){
        .name = "large", .capacity = 100000, .keys = 1200000, .timeout_ms = PATIENT_MS};
    return failed + run_slow(&plan, 3);
}

/* ---- A full disk ----------------------------------------------------------------------------- */

static unsigned run_full(const struct small_disk *disk, bool durable)
{
    char *image = new_path("image"), *root = new_path("disk"), store[4096], what[64];
    unsigned failed = 0;
    (void)snprintf(store, sizeof store, "%s/store", root);
    (void)snprintf(what, sizeof what, "%s of %s, full for a while", durable ? "durable" : "blocked",
                   disk->name);
    if (!small_disk_mount(disk, image, root)) {
        printf("%s: left out, as it cannot be made or mounted here\n", what);
    } else {
        struct crowd_plan plan = {.name = "full", .durable = durable, .timeout_ms = PATIENT_MS};
        struct crowd *crowd = crowd_new(store, &plan);
        struct bound_outcome outcome;
        plan.name = "commanded";
        struct commanded command = new_commanded(store, &plan, "60");
        crowd_start(crowd);
        small_disk_fill(0);
        start_commanded(&command, command.wait);
        crowd_go(crowd);
        const int64_t end = bound_clock_ns() + INT64_C(5000000000);
        while (__atomic_load_n(&crowd->keys->no_space, __ATOMIC_RELAXED) < CROWD_MAX &&
               bound_clock_ns() < end)
            (void)usleep(1000);
        end_commanded(&command, "room");
        small_disk_make_room();
        crowd_measure(crowd, &plain, &outcome);
        if (crowd->keys->no_space == 0) bound_fail(&outcome, "nobody was told that it is full");
        if (crowd->keys->busy > 0) bound_fail(&outcome, "busy before its time");
        failed = crowd_report(crowd, what, &outcome);
        failed += judge_commanded(&command, what, true, true);
        small_disk_unmount();
    }
    give_back(image);
    give_back(root);
    return failed;
}

static unsigned run_fulls(void)
{
    unsigned failed = 0;
    for (size_t i = 0; i < small_disks_count; i++) {
        /* There a page that is written again needs room too; who meets that must open the filter
         * anew. */
        if (strcmp(small_disks[i].name, "btrfs") == 0) continue;
        failed += run_full(&small_disks[i], false);
        failed += run_full(&small_disks[i], true);
    }
    return failed;
}

/* ---- Exceptions of another filter ------------------------------------------------------------ */

/* The watcher itself did not run for so long: what was held meanwhile is not known. */
#define WATCHER_SLEPT_NS (20 * NS_PER_MS)

/* How long the command has the catalog's lock at a time, at most, until it ends; ns.  Not what
 * adders hold in turns, and not while the watcher does not get the processor. */
static int64_t watch_lock(const char *store, pid_t command)
{
    int64_t longest = 0, since = 0, last = 0;
    char path[4096];
    siginfo_t info = {.si_pid = 0};
    (void)snprintf(path, sizeof path, "%s/catalog.lock", store);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    SPAWN_CHECK(fd >= 0);
    while (waitid(P_PID, (id_t)command, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0) {
        const int64_t now = bound_clock_ns();
        if (flock(fd, LOCK_SH | LOCK_NB) == 0) {
            (void)flock(fd, LOCK_UN);
            since = 0;
        } else {
            const bool is_seen = now - last < WATCHER_SLEPT_NS;
            if (since == 0 || !is_seen || tamis__lock_holder(fd) != command) since = now;
            if (now - since > longest) longest = now - since;
        }
        last = now;
        (void)usleep(1000);
    }
    (void)close(fd);
    return longest;
}

static unsigned run_except(void)
{
    const uint64_t exceptions = is_long ? 9000000 : 300000;
    /* Promised are 50 ms; the rest is for a busy machine. */
    const int64_t lock_ns_max = 200 * NS_PER_MS;
    char *store = new_path("except"), *input = new_path("exceptions"),
         *messages = new_path("messages");
    const char *const arguments[] = {"tamis", "except", "other", "add", "--store", store, NULL};
    const struct crowd_plan other = {.name = "other"};
    const struct crowd_plan plan = {.name = "beside", .keys = 3000000, .timeout_ms = PATIENT_MS};
    struct bound_outcome outcome;
    struct command_line command;
    bool ignored;
    char what[128];
    FILE *file = fopen(input, "w");
    SPAWN_CHECK(file != NULL);
    for (uint64_t i = 0; i < exceptions; i++)
        (void)fprintf(file, "exception-%" PRIu64 "\n", i);
    SPAWN_CHECK(fclose(file) == 0);
    struct crowd *bystander = crowd_new(store, &other), *crowd = crowd_new(store, &plan);
    crowd_start(crowd);
    command_line_start(&command, arguments, input, messages);
    crowd_go(crowd);
    const int64_t longest = watch_lock(store, command.pid);
    const int status = command_line_end(&command, "", &ignored);
    crowd_measure(crowd, &plain, &outcome);
    if (status != 0) bound_fail(&outcome, "exit status");
    if (longest > lock_ns_max) bound_fail(&outcome, "lock held");
    if (crowd->keys->busy > 0) bound_fail(&outcome, "busy before its time");
    (void)snprintf(what, sizeof what, "%" PRIu64 " exceptions of another filter, lock held %.0f ms",
                   exceptions, (double)longest / NS_PER_MS);
    const unsigned failed = crowd_report(crowd, what, &outcome);
    crowd_free(bystander);
    give_back(input);
    give_back(messages);
    give_back(store);
    return failed;
}

/* ---- All of it ------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        unsigned (*run)(void);
    } parts[] = {{"locks", run_locks},
                 {"stops", run_stops},
                 {"syncs", run_syncs},
                 {"full", run_fulls},
                 {"except", run_except}};
    unsigned failed = 0;
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    is_long = getenv("TAMIS_BOUND_LONG") != NULL;
    directory = bound_directory(BOUND_DIRECTORY);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        bool is_wanted = argc < 2;
        for (int a = 1; a < argc; a++)
            is_wanted |= strcmp(argv[a], parts[i].name) == 0;
        const int64_t start = bound_clock_ns();
        if (!is_wanted) continue;
        failed += parts[i].run();
        printf("-- %s: %.1f s\n", parts[i].name, (double)(bound_clock_ns() - start) / 1e9);
    }
    printf("%u cases failed\n", failed);
    return failed > 0;
}
