/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model_api.c: random sequences of all calls of tamis.h against a model that foretells what comes
 * of them (ops.h, model.h).
 *
 *     model_api                     for two minutes; ten with TAMIS_TEST_LONG=1
 *     model_api --seconds 7200      for two hours
 *     model_api --first 1 --count 600     sequences 1 to 600, for two minutes at most
 *     model_api --seed 17           that sequence alone
 *     model_api --shorten 0         only tell what fails, for runs of mutants
 *     model_api --command TAMIS --texts cli_texts.py    by command lines (run_cli.h)
 *
 * Each sequence has a process of its own, on a store of its own.  Behind it verify is content; no
 * descriptor, mapping, thread or block of memory is left; the files are those that the model names;
 * another process that opens the store sees the same.  A sequence that fails is made shorter, as
 * long as it still fails, and printed as a program.
 */
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/point.h"
#include "faults.h"
#include "generate.h"
#include "os/io.h"
#include "print.h"
#include "races.h"
#include "random.h"
#include "rounds.h"
#include "run_api.h"
#include "run_cli.h"
#include "scratch.h"

#define OPS_MAX 260u
#define SECONDS_A_SEQUENCE 300u
#define RACES 8u /* every 8th sequence is a race: races.h */

/* What a sequence was, in memory that its process shares with the one that waits for it. */
struct sequence {
    uint32_t count, ran;
    bool failed;
    char complaint[1000];
    uint64_t asked, mistaken;
    double expected;
    struct op ops[OPS_MAX];
};

static struct outcome *outcome;     /* shared with children */
static const char *command, *texts; /* NULL: no command lines */
static bool says;

/* ---- Faults ------------------------------------------------------------------------------------
 */

static int (*next_hook)(const char *verb, const char *what);
static int64_t first_write;
static uint32_t calls_left; /* before this process kills itself */
static int64_t *clock_ns;

static int64_t clock_of_windows(void)
{
    return *clock_ns;
}

static int at_call(const char *verb, const char *what)
{
    struct timespec now;
    if (calls_left > 0 && --calls_left == 0) (void)raise(SIGKILL);
    if (first_write == 0 && strcmp(verb, "msync") == 0) {
        (void)clock_gettime(CLOCK_REALTIME, &now);
        first_write = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    }
    return next_hook != NULL ? next_hook(verb, what) : 0;
}

static void arm(const struct op *op)
{
    first_write = 0;
    calls_left = op->fault == FAULT_KILL ? op->nth : 0;
    tamis__io_hook = NULL;
    if (op->fault == FAULT_CALL) faults_arm_calls(op->nth, op->error);
    if (op->fault == FAULT_MEMORY) faults_arm_memory(op->nth);
    next_hook = tamis__io_hook;
    tamis__io_hook = at_call;
}

static bool disarm(void)
{
    const bool reached = faults_disarm();
    next_hook = NULL;
    calls_left = 0;
    return reached;
}

static int64_t wrote(void)
{
    return first_write;
}

/* ---- What is left ------------------------------------------------------------------------------
 */

static unsigned count_entries(const char *path, const char *ending)
{
    unsigned count = 0;
    DIR *directory = opendir(path);
    if (directory == NULL) return 0;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const size_t bytes = strlen(entry->d_name), tail = strlen(ending);
        count += entry->d_name[0] != '.' && bytes >= tail &&
                 strcmp(entry->d_name + bytes - tail, ending) == 0;
    }
    (void)closedir(directory);
    return count;
}

/* Mappings of files; those of memory come and go with malloc. */
static unsigned count_mappings(const char *path)
{
    char line[4500];
    unsigned count = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (maps == NULL) err(1, "/proc/self/maps");
    while (fgets(line, sizeof line, maps) != NULL)
        count += strstr(line, path) != NULL;
    (void)fclose(maps);
    return count;
}

struct left {
    unsigned descriptors, mappings, threads;
    long blocks;
};

/* Where the descriptors lead to. */
static const char *descriptors(void)
{
    static char list[600];
    char link[40], path[300];
    size_t used = 0;
    for (int fd = 3; fd < 100; fd++) {
        (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        const ssize_t bytes = readlink(link, path, sizeof path);
        if (bytes > 0 && used + (size_t)bytes + 12 < sizeof list)
            used +=
                (size_t)snprintf(list + used, sizeof list - used, " %d %.*s", fd, (int)bytes, path);
    }
    return list;
}

static struct left what_is_left(const char *path)
{
    return (struct left){count_entries("/proc/self/fd", ""), count_mappings(path),
                         count_entries("/proc/self/task", ""), faults_blocks()};
}

/* ---- The end of a sequence ----------------------------------------------------------------------
 */

static bool files_fit(struct model *model, const char *path)
{
    char segments[600], part[600];
    unsigned named = 0, spares = 0;
    for (uint32_t i = 0; i < NAMES; i++) {
        const struct filter *f = model->filters[i];
        if (f == NULL) continue;
        spares += may_grow(&f->now.policy) || f->now.policy.slices > 0 ? 4 : 0;
        for (uint32_t j = 0; j <= f->kept_count; j++) {
            const struct generation *g = j < f->kept_count ? &f->kept[j] : &f->now;
            named += g->list.count;
        }
        spares += f->indexed ? 1 + f->kept_count : 0;
    }
    (void)snprintf(segments, sizeof segments, "%s/segments", path);
    const unsigned there = count_entries(segments, ".seg");
    if (there < named || there > named + spares)
        return wrong(model, "%u segment files, and the filters have %u", there, named);
    static const char *const empty[] = {"staging", "logs"}; /* add --no-sync leaves a log */
    for (size_t i = 0; i < (command == NULL ? 2 : 1) && !model->had_fault;
         i++) { /* the next process clears up after faults */
        (void)snprintf(part, sizeof part, "%s/%s", path, empty[i]);
        if (count_entries(part, "") > 0) return wrong(model, "files are left in %s", part);
    }
    return true;
}

static const char *const op_names[] = {
#define OP_NAME(name, letters) #name,
    OPS(OP_NAME)
#undef OP_NAME
};

static bool step_with(struct model *model, const struct op *op)
{
    model->executor->run(model->executor->self, op, outcome);
    if (says && outcome->ran)
        (void)printf("# %s %s %u, keys %u %u %u: %lld %s\n", op_names[op->kind], names[op->name],
                     op->slot, op->keys.from, op->keys.count, op->keys.step, (long long)outcome->rc,
                     outcome->rc < 0 ? outcome->sentence : "");
    if (says) (void)fflush(stdout);
    return model_step(model, op, outcome) == NULL;
}

/* Another process opens the store, asks, and looks at it as a whole. */
static void check_all(struct model *model)
{
    struct op op = {.kind = OP_VERIFY, .flags = 2};
    bool fits = model->stores[0].open || step_with(model, &(struct op){.kind = OP_OPEN_STORE});
    fits = fits && step_with(model, &op) &&
           step_with(model, &(struct op){.kind = OP_LIST, .flags = 1});
    for (uint8_t i = 0; fits && i < NAMES; i++) {
        if (model->filters[i] == NULL) continue;
        const struct op some[] = {
            {.kind = OP_OPEN, .name = i, .flags = i % 2 == 0 ? TAMIS_READ_ONLY : 0},
            {.kind = OP_STAT},
            {.kind = OP_ASK_BATCH, .keys = {0, 700, 1, 0}, .where = CHILD_ANEW},
            {.kind = OP_READ_DATA},
            {.kind = OP_FILL},
            {.kind = OP_EACH_EXCEPTION},
            {.kind = OP_GENERATIONS, .name = i},
            {.kind = OP_CLOSE}};
        for (size_t j = 0; fits && j < sizeof some / sizeof some[0]; j++)
            fits = step_with(model, &some[j]);
    }
}

static void close_all(struct model *model)
{
    for (uint8_t i = 0; i < SLOTS; i++) {
        const struct op op = {.kind = OP_CLOSE, .slot = i};
        if (model->handles[i].filter != NULL && !step_with(model, &op)) return;
    }
}

static void play(struct sequence *sequence, uint64_t seed, bool replay)
{
    static struct model model;
    struct world world;
    struct cli cli;
    struct executor executor;
    struct generator g = {.random = seed};
    char name[40];
    (void)snprintf(name, sizeof name, "model-%ld",
                   (long)getpid()); /* others make theirs beside it */
    char *path = scratch_path(name);
    world_init(&world, path);
    cli_init(&cli, &world, command, says);
    executor = cli.api;
    if (command != NULL) cli_executor(&cli, &executor);
    world.arm = arm;
    world.disarm = disarm;
    world.wrote = wrote;
    clock_ns = world.now;
    *clock_ns = MODEL_BEGIN;
    tamis__clock_hook = clock_of_windows;
    tamis__point_samples = 1000;
    model_init(&model, &executor);
    /* once before, so that what stays for good is there when it is counted */
    const struct op first = {.kind = OP_OPEN_STORE, .store = 1};
    (void)step_with(&model, &first);
    (void)step_with(&model, &(struct op){.kind = OP_CLOSE_STORE, .store = 1});
    outcome->ran = false;
    g.theme = (uint32_t)random_below(&g.random, 7);
    g.faults = random_below(&g.random, 3) == 0 && command == NULL;
    g.children = random_below(&g.random, 3) == 0;
    if (!replay) sequence->count = 30 + (uint32_t)random_below(&g.random, OPS_MAX - 30);
    bool fits = true;
    for (sequence->ran = 0; fits && sequence->ran < sequence->count; sequence->ran++) {
        struct op *op = &sequence->ops[sequence->ran];
        if (!replay) generate(&g, &model, op);
        if (!replay && command != NULL) cli_choose(&model, op);
        fits = step_with(&model, op);
    }
    if (fits) close_all(&model);
    if (*model.complaint == '\0') check_all(&model);
    if (*model.complaint == '\0' && texts != NULL && model.made) {
        const char *found = cli_texts(&cli, texts, seed);
        if (found != NULL) (void)wrong(&model, "%s", found);
    }
    world_clear(&world);
    if (*model.complaint == '\0' && model.made) (void)files_fit(&model, path);
    sequence->asked += model.asked;
    sequence->mistaken += model.mistaken;
    sequence->expected += model.expected;
    (void)snprintf(sequence->complaint, sizeof sequence->complaint, "%s", model.complaint);
    sequence->failed = *model.complaint != '\0';
    model_clear(&model);
    tamis__io_hook = NULL;
    scratch_remove(path);
    free(path);
}

static void *meet(void *barrier)
{
    (void)pthread_barrier_wait(barrier);
    return NULL;
}

/* The system keeps the stacks of threads that have ended for the next ones. */
static void warm_threads(void)
{
    pthread_t threads[4];
    pthread_barrier_t barrier;
    (void)pthread_barrier_init(&barrier, NULL, 4);
    for (size_t i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, meet, &barrier) != 0) err(1, "pthread_create");
    for (size_t i = 0; i < 4; i++)
        (void)pthread_join(threads[i], NULL);
    (void)pthread_barrier_destroy(&barrier);
}

/* The library's table of mappings grows, and stays as long as it was at most. */
static void warm_mappings(const char *path)
{
    tamis_store *store = NULL;
    tamis_filter *filters[30] = {NULL};
    const struct tamis_filter_spec spec = {.size = sizeof spec, .window_items = 32, .slices = 32};
    tamis__clock_hook = NULL;
    int rc = tamis_store_open(path, TAMIS_CREATE, &store);
    if (rc == 0) rc = tamis_filter_create(store, "many", &spec, &filters[0]);
    for (uint32_t i = 0; rc >= 0 && i < 40; i++)
        rc = tamis_filter_add(filters[0], &i, sizeof i);
    for (size_t i = 1; rc >= 0 && i < sizeof filters / sizeof filters[0]; i++)
        rc = tamis_filter_open(store, "many", TAMIS_READ_ONLY, &filters[i]);
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++)
        (void)tamis_filter_close(filters[i]);
    tamis_store_close(store);
    if (rc < 0) errx(1, "%s", tamis_last_error());
    scratch_remove(path);
}

/* In a process of its own: the sequence, and what it leaves behind. */
static void play_alone(struct sequence *sequence, uint64_t seed, bool replay)
{
    static const struct op warm[] = {{.kind = OP_OPEN_STORE},
                                     {.kind = OP_CREATE, .spec = {.capacity = 10}},
                                     {.kind = OP_ADD, .keys = {1, 1, 1, 0}},
                                     {.kind = OP_BACKUP}};
    static struct sequence before;
    (void)alarm(SECONDS_A_SEQUENCE);
    if (seed % RACES == 0 && command == NULL) {
        sequence->count = sequence->ran = 0;
        sequence->failed = !race(seed, sequence->complaint, sizeof sequence->complaint);
        _exit(0);
    }
    memcpy(before.ops, warm, sizeof warm);
    before.count = 4;
    const char *given = command;
    command = NULL;
    play(&before, 1, true);
    command = given;
    warm_threads();
    char path[600];
    (void)snprintf(path, sizeof path, "%s/warm-%ld", scratch_directory(), (long)getpid());
    warm_mappings(path);
    const struct left was = what_is_left("/model");
    play(sequence, seed, replay);
    const struct left is = what_is_left("/model");
    if (!sequence->failed && (is.descriptors != was.descriptors || is.mappings != was.mappings ||
                              is.threads != was.threads || is.blocks != was.blocks)) {
        sequence->failed = true;
        (void)snprintf(sequence->complaint, sizeof sequence->complaint,
                       "left behind: descriptors %u -> %u, mappings %u -> %u, threads %u -> %u, "
                       "blocks %ld -> %ld; open:%s",
                       was.descriptors, is.descriptors, was.mappings, is.mappings, was.threads,
                       is.threads, was.blocks, is.blocks, descriptors());
    }
    _exit(0);
}

static bool fails(struct sequence *sequence, uint64_t seed, bool replay)
{
    int status;
    sequence->failed = true;
    (void)snprintf(sequence->complaint, sizeof sequence->complaint, "it did not come to its end");
    (void)fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) play_alone(sequence, seed, replay);
    if (pid < 0 || waitpid(pid, &status, 0) != pid) err(1, "fork");
    if (status != 0) {
        sequence->failed = true;
        const size_t used = strlen(sequence->complaint);
        (void)snprintf(sequence->complaint + used, sizeof sequence->complaint - used,
                       " (status %#x)", (unsigned)status);
    }
    return sequence->failed;
}

/* ---- Making it shorter --------------------------------------------------------------------------
 */

/* Leaves out ever smaller parts, as long as it fails without them (Zeller's delta debugging). */
static void shorten(struct sequence *sequence, struct sequence *tried, uint64_t seed)
{
    const time_t end = time(NULL) + 60;
    struct sequence *kept = sequence;
    kept->count = kept->ran < kept->count ? kept->ran : kept->count;
    for (uint32_t part = kept->count / 2; part > 0 && time(NULL) < end;) {
        bool shorter = false;
        for (uint32_t at = 0; at + part <= kept->count && time(NULL) < end;) {
            memcpy(tried, kept, sizeof *tried);
            memmove(tried->ops + at, tried->ops + at + part,
                    (kept->count - at - part) * sizeof tried->ops[0]);
            tried->count = kept->count - part;
            if (fails(tried, seed, true) && strncmp(tried->complaint, kept->complaint, 12) == 0) {
                memcpy(kept, tried, sizeof *kept);
                shorter = true;
            } else {
                at += part;
            }
        }
        if (!shorter || part > kept->count / 2) part /= 2;
    }
}

static bool shortens = true;

static bool run_seed(struct sequence *sequence, uint64_t seed)
{
    if (!fails(sequence, seed, false)) return true;
    (void)printf("model_api: sequence %llu fails: %s\n", (unsigned long long)seed,
                 sequence->complaint);
    if (!shortens) return false;
    struct sequence *tried =
        mmap(NULL, 2 * sizeof *tried, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tried == MAP_FAILED) err(1, "mmap");
    memcpy(tried, sequence, sizeof *tried);
    if (fails(tried, seed, true))
        shorten(sequence, tried + 1, seed);
    else
        (void)printf("model_api: it does not fail again when it is replayed\n");
    if (command != NULL) {
        says = true; /* each line and each call, up to where it fails */
        (void)fails(sequence, seed, true);
        return false;
    }
    print_program(sequence->ops, sequence->count, seed, sequence->complaint);
    return false;
}

/* A filter of kind fuse may take strangers for its keys, but not more often than its rate says:
 * Bernstein's bound, passed once in 10^12 runs. */
static bool rate_holds(const struct sequence *s)
{
    const double most = s->expected + 28 + 8 * __builtin_sqrt(s->expected);
    if ((double)s->mistaken <= most) return true;
    (void)printf("model_api: %llu of %llu strangers were taken for keys, and %g are expected\n",
                 (unsigned long long)s->mistaken, (unsigned long long)s->asked, s->expected);
    return false;
}

/* One of the processes that work side by side: every `step`-th sequence from `seed` on. */
static int work(uint64_t seed, uint64_t step, time_t end, uint64_t count)
{
    struct sequence *sequence =
        mmap(NULL, sizeof *sequence, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    outcome =
        mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (sequence == MAP_FAILED || outcome == MAP_FAILED) err(1, "mmap");
    uint64_t done = 0, ops = 0;
    for (; time(NULL) < end && done < count; seed += step, done++) {
        if (!run_seed(sequence, seed)) return 1;
        ops += sequence->ran;
    }
    (void)printf("model_api: %llu sequences, %llu operations, %llu strangers\n",
                 (unsigned long long)done, (unsigned long long)ops,
                 (unsigned long long)sequence->asked);
    return rate_holds(sequence) ? 0 : 1;
}

int main(int argc, char **argv)
{
    time_t seconds = (time_t)rounds(110, 590);
    uint64_t first = 0, begin = 0, count = UINT64_MAX;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seconds") == 0) seconds = atol(argv[i + 1]);
        if (strcmp(argv[i], "--first") == 0) begin = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--count") == 0) count = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--shorten") == 0) shortens = atoi(argv[i + 1]) != 0;
        if (strcmp(argv[i], "--command") == 0) command = argv[i + 1];
        if (strcmp(argv[i], "--texts") == 0) texts = argv[i + 1];
        if (strcmp(argv[i], "--seed") == 0) first = strtoull(argv[i + 1], NULL, 10);
    }
    scratch_in_memory();
    tzset(); /* it allocates, once */
    (void)scratch_directory();
    if (first != 0) return work(first, 1, time(NULL) + 3600, 1);
    const long workers = sysconf(_SC_NPROCESSORS_ONLN) < 8 ? sysconf(_SC_NPROCESSORS_ONLN) : 8;
    first = begin != 0 ? begin : random_seed() % 1000000000 + 2;
    const time_t end = time(NULL) + seconds;
    int failed = 0;
    (void)fflush(stdout);
    for (long i = 0; i < workers; i++) {
        const pid_t pid = fork();
        if (pid < 0) err(1, "fork");
        if (pid == 0) {
            const int status = work(first + (uint64_t)i, (uint64_t)workers, end,
                                    count == UINT64_MAX ? count : count / (uint64_t)workers);
            (void)fflush(stdout);
            _exit(status);
        }
    }
    for (int status; wait(&status) > 0;)
        failed |= status != 0;
    return failed;
}
