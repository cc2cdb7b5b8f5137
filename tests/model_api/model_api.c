/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model_api.c: random sequences of all calls of tamis.h against a model that foretells what comes
 * of them (ops.h, model.h).
 *
 *     model_api                     fresh seeds for two minutes; with $CI, those from 1 on
 *     model_api --seconds 7200      for two hours
 *     model_api --first 1 --count 600     sequences 1 to 600, for two minutes at most
 *     model_api --seed 17           that sequence alone
 *     model_api --workers 1         one process; else one for each processor
 *     model_api --shorten 0         only tell what fails, for runs of mutants
 *     model_api --says 1            tell each operation, up to where it fails
 *     model_api --command TAMIS --texts cli_texts.py    by command lines (run_cli.h)
 *
 * Each sequence has a process of its own, on a store of its own.  Behind it verify is content; no
 * descriptor, mapping, thread or block of memory is left; the files are those that the model names;
 * another process that opens the store sees the same.  A sequence that fails is made shorter, as
 * long as it still fails, and printed as a program.
 */
#include <dirent.h>
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "auto.h"
#include "faults.h"
#include "generate.h"
#include "random.h"
#include "run_api.h"
#include "run_cli.h"
#include "scratch.h"

#define OPS_MAX 260u
#define SECONDS_A_SEQUENCE 300u
#define LATE "it takes more than 300 s"
#define RACES 8u /* every 8th sequence is a race: races.c */

/* What a sequence was, in memory that its process shares with the one that waits for it. */
struct sequence {
    uint32_t count, ran;
    bool failed;
    char complaint[1000];
    uint64_t asked, mistaken;
    double expected;
    struct op ops[OPS_MAX];
};

static struct outcome *outcome; /* shared with children */
static const char *command;     /* NULL: no command lines */
static const char *texts;
static bool says;
static bool *has_failed; /* a sequence of some worker: the others end too */

static void *shared_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) err(1, "mmap");
    return memory;
}

/* Beside it, other processes make theirs. */
static char *own_path(void)
{
    char name[40];
    (void)snprintf(name, sizeof name, "model-%ld", (long)getpid());
    return scratch_path(name);
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

/* Mappings of files of the store; those of memory come and go with malloc. */
static unsigned count_mappings(void)
{
    char line[4500];
    unsigned count = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (maps == NULL) err(1, "/proc/self/maps");
    while (fgets(line, sizeof line, maps) != NULL)
        count += strstr(line, "/model") != NULL;
    (void)fclose(maps);
    return count;
}

static const char *const left_names[] = {"descriptors", "mappings", "threads", "blocks of memory"};
#define LEFT (sizeof left_names / sizeof left_names[0])

static void what_is_left(long left[LEFT])
{
    left[0] = count_entries("/proc/self/fd", "");
    left[1] = count_mappings();
    left[2] = count_entries("/proc/self/task", "");
    left[3] = faults_blocks();
}

static bool files_fit(struct model *model, const char *path)
{
    char part[600];
    unsigned named = 0, spares = 0;
    for (uint32_t i = 0; i < NAMES; i++) {
        const struct filter *f = model->filters[i];
        if (f == NULL) continue;
        named += f->now.list.count;
        for (uint32_t j = 0; j < f->kept_count; j++)
            named += f->kept[j].list.count;
        spares += may_grow(&f->now.policy) || f->now.policy.slices > 0 ? 4 : 0;
        spares += f->indexed ? 1 + f->kept_count : 0;
    }
    (void)snprintf(part, sizeof part, "%s/segments", path);
    const unsigned there = count_entries(part, ".seg");
    if (model->had_fault) spares += 4; /* what somebody left who was killed */
    if (there < named || there > named + spares)
        return wrong(model, "%u segment files, and the filters have %u", there, named);
    if (model->had_fault) return true; /* the next process clears up */
    (void)snprintf(part, sizeof part, "%s/staging", path);
    if (count_entries(part, "") > 0) return wrong(model, "files are left in %s", part);
    (void)snprintf(part, sizeof part, "%s/logs", path);
    if (command == NULL && count_entries(part, "") > 0) /* add --no-sync leaves a log */
        return wrong(model, "files are left in %s", part);
    return true;
}

/* ---- A sequence --------------------------------------------------------------------------------
 */

static bool step_with(struct model *model, const struct op *op)
{
    model->executor->run(model->executor->self, op, outcome);
    if (says && outcome->ran)
        (void)printf("# %s %s %u, keys %u %u %u, fault %u at %u%s: %lld %s\n", op_names[op->kind],
                     names[op->name], op->slot, op->keys.from, op->keys.count, op->keys.step,
                     op->fault, op->nth, outcome->reached ? " (it came)" : "",
                     (long long)outcome->rc, outcome->rc < 0 ? outcome->sentence : "");
    if (says) (void)fflush(stdout);
    return model_step(model, op, outcome) == NULL;
}

/* Another process opens the store, asks, and looks at it as a whole. */
static bool check_all(struct model *model)
{
    static const struct op whole[] = {
        {.kind = OP_OPEN_STORE}, {.kind = OP_VERIFY, .flags = 2}, {.kind = OP_LIST, .flags = 1}};
    bool fits = true;
    for (uint8_t i = 0; fits && i < SLOTS; i++)
        if (model->handles[i].filter != NULL)
            fits = step_with(model, &(struct op){.kind = OP_CLOSE, .slot = i});
    for (size_t i = model->stores[0].open; fits && i < 3; i++)
        fits = step_with(model, &whole[i]);
    for (uint8_t i = 0; fits && i < NAMES; i++) {
        if (model->filters[i] == NULL) continue;
        const struct op each[] = {
            {.kind = OP_OPEN, .name = i, .flags = i % 2 == 0 ? TAMIS_OPEN_READ_ONLY : 0},
            {.kind = OP_STAT},
            {.kind = OP_ASK_BATCH, .keys = {0, 700, 1, 0}, .where = CHILD_ANEW},
            {.kind = OP_READ_DATA},
            {.kind = OP_FILL},
            {.kind = OP_EACH_EXCEPTION},
            {.kind = OP_GENERATIONS, .name = i},
            {.kind = OP_CLOSE}};
        for (size_t j = 0; fits && j < sizeof each / sizeof each[0]; j++)
            fits = step_with(model, &each[j]);
    }
    return fits;
}

/* Opens and closes the store once, so that what stays for good is there when it is counted. */
static bool begin(struct model *model)
{
    const bool fits = step_with(model, &(struct op){.kind = OP_OPEN_STORE, .store = 1}) &&
                      step_with(model, &(struct op){.kind = OP_CLOSE_STORE, .store = 1});
    outcome->ran = false;
    return fits;
}

/* Makes the operations of the seed, or those of the sequence again; false: one does not fit. */
static bool make_steps(struct model *model, struct sequence *sequence, uint64_t seed, bool replay)
{
    struct generator g = {.random = seed};
    g.theme = (uint32_t)random_below(&g.random, 7);
    g.faults = random_below(&g.random, 3) == 0 && command == NULL;
    g.children = random_below(&g.random, 3) == 0;
    if (!replay) sequence->count = 30 + (uint32_t)random_below(&g.random, OPS_MAX - 30);
    bool fits = begin(model);
    for (sequence->ran = 0; fits && sequence->ran < sequence->count; sequence->ran++) {
        struct op *op = &sequence->ops[sequence->ran];
        if (!replay) generate(&g, model, op);
        if (command != NULL) cli_choose(model, op); /* a shorter sequence has other filters */
        fits = step_with(model, op);
    }
    return fits;
}

static void play(struct sequence *sequence, uint64_t seed, bool replay)
{
    static struct model model;
    struct world world;
    struct cli cli;
    struct executor executor;
    char *path = own_path();
    world_init(&world, path);
    cli_init(&cli, &world, command, says);
    executor = cli.api;
    if (command != NULL) cli_executor(&cli, &executor);
    model_init(&model, &executor);
    *world.now = model.now;
    if (make_steps(&model, sequence, seed, replay) && check_all(&model) && texts != NULL &&
        model.made) {
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
    scratch_remove(path);
    free(path);
}

/* The library's table of mappings grows, and stays as long as it was at most. */
static void warm_mappings(void)
{
    tamis_store *store = NULL;
    tamis_filter *filters[30] = {NULL};
    const struct tamis_filter_spec spec = {.size = sizeof spec, .window_items = 32, .slices = 32};
    char *path = own_path();
    int rc = tamis_store_open(path, TAMIS_OPEN_CREATE, &store);
    if (rc == 0) rc = tamis_filter_create(store, "many", &spec, &filters[0]);
    for (uint32_t i = 0; rc >= 0 && i < 40; i++)
        rc = tamis_filter_add(filters[0], &i, sizeof i);
    for (size_t i = 1; rc >= 0 && i < 30; i++)
        rc = tamis_filter_open(store, "many", TAMIS_OPEN_READ_ONLY, &filters[i]);
    for (size_t i = 0; i < 30; i++)
        close_anyhow(filters[i]);
    tamis_store_close(store);
    if (rc < 0) errx(1, "%s", tamis_last_error());
    scratch_remove(path);
    free(path);
}

/* What stays for good when it was used once: of stdio, of the library, of the system (stacks of
 * threads that have ended). */
static void warm(void)
{
    static struct sequence first = {
        .count = 10,
        .ops = {{.kind = OP_OPEN_STORE},
                {.kind = OP_CREATE, .spec = {.capacity = 10}},
                {.kind = OP_OPEN, .slot = 1},
                {.kind = OP_OPEN, .slot = 2},
                {.kind = OP_ADD, .keys = {1, 1, 1, 0}},
                {.kind = OP_SYNC_INTERVAL, .number = 1},
                {.kind = OP_SYNC_INTERVAL, .slot = 1, .number = 1},
                {.kind = OP_SYNC_INTERVAL, .slot = 2, .number = 1},
                {.kind = OP_BUILD, .name = 1, .keys = {1, 101, 1, 0}, .spec = {.kind = 4}},
                {.kind = OP_BACKUP}}};
    const char *given = command;
    command = NULL;
    play(&first, 1, true);
    command = given;
    warm_mappings();
}

/* In a process of its own: the sequence, and what it leaves behind. */
static void play_alone(struct sequence *sequence, uint64_t seed, bool replay)
{
    long was[LEFT], is[LEFT];
    (void)alarm(SECONDS_A_SEQUENCE);
    if (seed % RACES == 0 && command == NULL) {
        sequence->count = sequence->ran = 0;
        sequence->failed = !race(seed, sequence->complaint, sizeof sequence->complaint);
        _exit(0);
    }
    warm();
    what_is_left(was);
    play(sequence, seed, replay);
    what_is_left(is);
    for (size_t i = 0; i < LEFT && !sequence->failed; i++) {
        sequence->failed = is[i] != was[i];
        if (sequence->failed)
            (void)snprintf(sequence->complaint, sizeof sequence->complaint,
                           "left behind: %ld %s before, %ld after", was[i], left_names[i], is[i]);
    }
    _exit(0);
}

static bool fails(struct sequence *sequence, uint64_t seed, bool replay)
{
    int status;
    sequence->failed = true; /* until it says otherwise at its end */
    (void)snprintf(sequence->complaint, sizeof sequence->complaint, "it did not come to its end");
    (void)fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) play_alone(sequence, seed, replay);
    if (pid < 0 || waitpid(pid, &status, 0) != pid) err(1, "fork");
    sequence->failed |= status != 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        (void)snprintf(sequence->complaint, sizeof sequence->complaint, LATE);
    } else if (status != 0) {
        const size_t used = strlen(sequence->complaint);
        (void)snprintf(sequence->complaint + used, sizeof sequence->complaint - used,
                       " (status %#x)", (unsigned)status);
    }
    return sequence->failed;
}

/* ---- Failures ----------------------------------------------------------------------------------
 */

/* Leaves out ever smaller parts, as long as it fails without them (Zeller's delta debugging). */
static void shorten(struct sequence *kept, struct sequence *tried, uint64_t seed)
{
    const time_t end = time(NULL) + 60;
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

static void print_number(const char *field, uint64_t number)
{
    if (number != 0) (void)printf(", .%s = %lluu", field, (unsigned long long)number);
}

static void print_keys(const char *field, const struct op_keys *keys)
{
    if (keys->count > 0)
        (void)printf(", .%s = {%u, %u, %u, %u}", field, keys->from, keys->count, keys->step,
                     keys->period);
}

static void print_op(const struct op *op)
{
    (void)printf("    {.kind = OP_%s", op_names[op->kind]);
#define NUMBER(field) print_number(#field, (uint64_t)op->field)
    NUMBER(store), NUMBER(name), NUMBER(other), NUMBER(slot), NUMBER(source), NUMBER(stream),
        NUMBER(format), NUMBER(where), NUMBER(fault), NUMBER(inner), NUMBER(nth), NUMBER(error),
        NUMBER(flags), NUMBER(number), NUMBER(spec.capacity), NUMBER(spec.m_bits),
        NUMBER(spec.window_items), NUMBER(spec.seed), NUMBER(spec.window_ns), NUMBER(spec.kind),
        NUMBER(spec.k), NUMBER(spec.set), NUMBER(spec.on_full), NUMBER(spec.slices),
        NUMBER(spec.counter_bits), NUMBER(spec.flags), NUMBER(spec.pages), NUMBER(spec.secret);
#undef NUMBER
    if (op->spec.rate > 0) (void)printf(", .spec.rate = %.17g", op->spec.rate);
    print_keys("keys", &op->keys);
    print_keys("against", &op->against);
    print_keys("except", &op->except);
    (void)printf("},\n");
}

static const char head[] =
    " * To run it, save it as .build/test/tests/model_api/this.c, and\n"
    " * cmake --build .build/test --target model_this && .build/test/tests/model_api/model_this "
    "*/\n"
    "#include <stdio.h>\n#include \"run_api.h\"\n\nstatic const struct op ops[] = {\n";
static const char tail[] =
    "};\n\nint main(void)\n{\n    static struct world world;\n    static struct outcome out;\n"
    "    struct executor executor;\n    world_init(&world, \"store\");\n"
    "    world_executor(&world, &executor);\n"
    "    *world.now = INT64_C(20000) * 86400 * 1000000000; /* as the model begins */\n"
    "    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {\n"
    "        executor.run(executor.self, &ops[i], &out);\n"
    "        printf(\"%zu %s: %s%lld %s %s\\n\", i, op_names[ops[i].kind], out.ran ? \"\" : \"left "
    "out \",\n               (long long)out.rc, out.rc < 0 ? out.sentence : \"\", out.trouble);\n"
    "    }\n}\n";

static void print_program(const struct op *ops, uint32_t count, uint64_t seed,
                          const char *complaint)
{
    (void)printf("\n/* Sequence %llu of model_api: %s\n%s", (unsigned long long)seed, complaint,
                 head);
    for (uint32_t i = 0; i < count; i++)
        print_op(&ops[i]);
    (void)printf("%s", tail);
    (void)fflush(stdout);
}

static bool shortens = true;

/* Its time was over: each shorter one would take as long. */
static bool is_late(const struct sequence *sequence)
{
    return strncmp(sequence->complaint, LATE, sizeof LATE - 1) == 0;
}

static bool run_seed(struct sequence *sequence, uint64_t seed)
{
    if (!fails(sequence, seed, false)) return true;
    (void)printf("model_api: sequence %llu fails: %s\n", (unsigned long long)seed,
                 sequence->complaint);
    if (!shortens || sequence->count == 0 || is_late(sequence)) return false;
    struct sequence *tried = shared_memory(2 * sizeof *tried);
    memcpy(tried, sequence, sizeof *tried);
    if (fails(tried, seed, true))
        shorten(sequence, tried + 1, seed);
    else
        (void)printf("model_api: it does not fail again when it is replayed\n");
    if (command != NULL) {
        says = true; /* each line and each call, up to where it fails */
        (void)fails(sequence, seed, true);
    } else {
        print_program(sequence->ops, sequence->count, seed, sequence->complaint);
    }
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

/* ---- Workers -----------------------------------------------------------------------------------
 */

/* One of the processes that work side by side: every `step`-th sequence from `seed` on. */
static int work(uint64_t seed, uint64_t step, time_t end, uint64_t count)
{
    struct sequence *sequence = shared_memory(sizeof *sequence);
    outcome = shared_memory(sizeof *outcome);
    uint64_t done = 0, ops = 0;
    for (; time(NULL) < end && done < count && !*has_failed; seed += step, done++) {
        if (!run_seed(sequence, seed)) return *has_failed = true;
        ops += sequence->ran;
    }
    (void)printf("model_api: %llu sequences, %llu operations, %llu strangers\n",
                 (unsigned long long)done, (unsigned long long)ops,
                 (unsigned long long)sequence->asked);
    return rate_holds(sequence) ? 0 : 1;
}

int main(int argc, char **argv)
{
    uint64_t seconds = 120, seed = 0, first = 0, count = UINT64_MAX / 8, workers = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        const uint64_t number = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--seconds") == 0) seconds = number;
        if (strcmp(argv[i], "--first") == 0) first = number;
        if (strcmp(argv[i], "--count") == 0) count = number;
        if (strcmp(argv[i], "--seed") == 0) seed = number;
        if (strcmp(argv[i], "--workers") == 0) workers = number;
        if (strcmp(argv[i], "--shorten") == 0) shortens = number != 0;
        if (strcmp(argv[i], "--says") == 0) says = number != 0;
        if (strcmp(argv[i], "--command") == 0) command = argv[i + 1];
        if (strcmp(argv[i], "--texts") == 0) texts = argv[i + 1];
    }
    scratch_in_memory();
    tzset(); /* it allocates, once */
    (void)scratch_directory();
    has_failed = shared_memory(sizeof *has_failed);
    const time_t end = time(NULL) + (time_t)seconds;
    if (seed != 0) return work(seed, 1, end + 3600, 1);
    if (workers == 0) workers = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (first == 0) first = getenv("CI") != NULL ? 1 : random_seed() % 1000000000 + 2;
    (void)printf("model_api: sequences from %llu on\n", (unsigned long long)first);
    int failed = 0;
    (void)fflush(stdout);
    for (uint64_t i = 0; i < workers; i++) {
        const pid_t pid = fork();
        if (pid < 0) err(1, "fork");
        if (pid > 0) continue;
        const int status = work(first + i, workers, end, count / workers);
        (void)fflush(stdout);
        _exit(status);
    }
    for (int status; wait(&status) > 0;)
        failed |= status != 0;
    return failed;
}
