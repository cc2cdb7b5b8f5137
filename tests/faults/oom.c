/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oom.c: memory that cannot be had, at any allocation of any call.
 *
 * Every act of acts.h, and what is not among them, with its 1st, 2nd, ... allocation failing
 * (LMDB's and libc's too) until a run passes untouched: it is right, or TAMIS_ENOMEM with a
 * sentence; no crash; the handles that were open answer rightly; no block of memory and no
 * descriptor is lost; the store opens and is sound. Then commands, each in a process whose nth
 * allocation fails (oom_preload.c): exit 0 with the whole answer, or 1 or 2 with a sentence, and
 * never a signal.  Where what was asked for is done, no sentence may leave its reader to believe
 * that it is not.
 *
 * Seen to fail: with the second tamis_filter_generations() of rollback an error like any other;
 * with the answer of calloc() not looked at where a view is made (a call and a command die of
 * SIGSEGV); with one of two arrays not given back where a merge lacks the other (a block is lost);
 * with `tamis verify` silent where the listing behind its problems fails, as it was.
 */
#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acts.h"
#include "auto.h"
#include "base/point.h"
#include "faults.h"
#include "segment/header.h"

static unsigned points, told, right, wrong;

/* ---- What acts.h has not --------------------------------------------------------------------- */

static int64_t act_explain(struct scene *s)
{
    char hashes[1024];
    uint64_t positions[64];
    int64_t worst = 0;
    for (size_t i = BLOCKED; i <= GROWN; i++) {
        struct tamis_explanation explanation = {.size = sizeof explanation,
                                                .hashes = hashes,
                                                .hashes_bytes = sizeof hashes,
                                                .positions = positions,
                                                .positions_max = 64};
        worst = worse(worst, tamis_filter_explain(s->filters[i], 0, "key", 3, &explanation));
    }
    return worst;
}

static int64_t act_interval(struct scene *s)
{
    const int rc = tamis_filter_set_sync_interval(s->filters[BLOCKED], (int64_t)3600 * 1000000000);
    return worse(rc, tamis_filter_set_sync_interval(s->filters[BLOCKED], 0));
}

/* The catalog is lost: `away` is a store without one. */
static int64_t act_rescue(struct scene *s)
{
    const int64_t rc = tamis_store_repair(s->away, 0, NULL, NULL);
    return rc < 0 ? rc : 0;
}

/* The machine went down: `away` is what the disk had. */
static int64_t act_recover(struct scene *s)
{
    static const uint8_t other_boot[TAMIS__BOOT_ID_BYTES] = "another boot...";
    tamis_store *store = NULL;
    tamis_filter *filter = NULL;
    tamis__boot_hook = other_boot;
    int64_t rc = tamis_store_open(s->away, 0, &store);
    if (rc == 0) rc = tamis_filter_open(store, "down", 0, &filter);
    if (rc == 0) {
        rc = tamis_filter_contains(filter, "answered", 8);
        if (rc == 0) rc = SCENE_WRONG;
        if (rc == 1) rc = 0;
        rc = worse(rc, tamis_filter_close(filter));
    }
    tamis_store_close(store);
    tamis__boot_hook = NULL;
    return rc;
}

static const struct act more_acts[] = {
    {"explain", act_explain, NULL},
    {"interval", act_interval, NULL},
    {"rescue", act_rescue, NULL},
    {"recover", act_recover, NULL},
};

/* A durable filter as it is on the disk while it is in use: dirty, its log with a key that the
 * segment lacks. */
static char *down_path(void)
{
    static char *down;
    char *path, from[4096], to[4096];
    if (down != NULL) return down;
    down = scratch_path("down");
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter =
        fixture_create(store, "down", SPEC(.capacity = 1000, .flags = TAMIS_FILTER_DURABLE));
    assert_int_equal(tamis_filter_add(filter, "first", 5), 1);
    scratch_copy(path, down);
    assert_int_equal(tamis_filter_add(filter, "answered", 8), 1);
    (void)snprintf(from, sizeof from, "%s/logs", path);
    (void)snprintf(to, sizeof to, "%s/logs", down);
    scratch_remove(to);
    scratch_copy(from, to);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    free(path);
    return down;
}

static void set_away(const struct act *act, const struct scene *scene)
{
    if (act->run == act_recover) scratch_copy(down_path(), scene->away);
    if (act->run != act_rescue) return;
    scratch_copy(scene->path, scene->away);
    if (unlink(fixture_join(scene->away, "catalog.mdb")) != 0) err(1, "%s", scene->away);
}

/* ---- One allocation -------------------------------------------------------------------------- */

static void judge(const struct act *act, unsigned nth, bool reached, int64_t rc)
{
    points += reached;
    if (rc == SCENE_WRONG) {
        wrong++;
        print_error("WRONG: %s, allocation %u (%s)\n", act->name, nth, faults_where());
    } else if (rc < 0) {
        told++;
        if (!reached || rc != TAMIS_ENOMEM || *tamis_last_error() == '\0')
            fail_msg("%s, allocation %u (%s): %s: '%s'", act->name, nth,
                     reached ? faults_where() : "not reached", tamis_error_name((int)rc),
                     tamis_last_error());
    } else {
        right++;
    }
}

/* Open, sound, and nothing lost. */
static void look(const struct act *act, unsigned nth, struct scene *scene)
{
    if (scene_ask(scene) != 0) {
        wrong++;
        print_error("WRONG afterwards: %s, allocation %u (%s): %s\n", act->name, nth,
                    faults_where(), tamis_last_error());
    }
    scene_name_back(scene);
    (void)scene_close(scene);
    if (scene_open(scene) < 0)
        fail_msg("%s, allocation %u: not usable: %s", act->name, nth, tamis_last_error());
    assert_int_equal(scene_ask(scene), 0);
    assert_int_equal(scene_close(scene), 0);
    assert_int_equal(fixture_problems(scene->path), 0);
    if (act->run == act_recover || act->run == act_rescue) {
        assert_int_equal(act->run(scene), 0);
        assert_int_equal(fixture_problems(scene->away), 0);
    }
}

/* False once the act does not come as far as that. */
static bool run_failing(const struct act *act, unsigned nth)
{
    struct scene scene;
    const int descriptors = fixture_descriptors();
    const long blocks = faults_blocks();
    scene_copy(&scene);
    set_away(act, &scene);
    assert_done(scene_open(&scene));
    faults_arm_memory(nth);
    const int64_t rc = act->run(&scene);
    const bool reached = faults_disarm();
    judge(act, nth, reached, rc);
    look(act, nth, &scene);
    scene_clear(&scene);
    if (faults_blocks() != blocks && nth != UINT_MAX)
        fail_msg("%s, allocation %u (%s): %ld blocks were lost", act->name, nth, faults_where(),
                 faults_blocks() - blocks);
    assert_int_equal(fixture_descriptors(), descriptors);
    return reached;
}

static void run_each(const struct act *act)
{
    unsigned nth = 1;
    (void)run_failing(act, UINT_MAX); /* what is made once in a process is made, and kept */
    for (; run_failing(act, nth); nth += FIXTURE_SANITIZED ? 7 : 1)
        continue;
    (void)printf("%s: %u allocations\n", act->name, nth - 1);
}

/* ---- Commands -------------------------------------------------------------------------------- */

#ifdef OOM_PRELOAD /* where no sanitizer must come first */

#define ARGUMENTS_MAX 8

static const char *const commands[][ARGUMENTS_MAX] = {
    {"create", "new", "-n", "1000"},
    {"create", "sure", "-n", "1000", "--durable"},
    {"add", "old", "key", "other"},
    {"check", "old", "key"},
    {"list"},
    {"info", "old"},
    {"sync"},
    {"build", "block", "keys", "-p", "0.001"},
    {"verify"},
    {"rollback", "listed"},
    {"rollback", "listed", "--json"},
    {"create", "json", "-n", "1000", "--json"},
    {"merge", "merged", "old", "--json"},
};

/* Run it with its nth allocation failing; what it printed, into those files.  Its exit status, or
 * 256 + the signal. */
static int run_command(const char *const *arguments, const char *directory, unsigned nth)
{
    char *argv[ARGUMENTS_MAX + 2] = {"tamis"};
    char number[32];
    int status;
    for (size_t i = 0; i < ARGUMENTS_MAX && arguments[i] != NULL; i++)
        argv[i + 1] = (char *)(uintptr_t)arguments[i];
    (void)snprintf(number, sizeof number, "%u", nth);
    const pid_t pid = fork();
    if (pid < 0) err(1, "fork");
    if (pid == 0) {
        if (chdir(directory) != 0 || setenv("TAMIS_STORE", "store", 1) != 0 ||
            freopen("out", "w", stdout) == NULL || freopen("err", "w", stderr) == NULL ||
            setenv("LD_PRELOAD", OOM_PRELOAD, 1) != 0 || setenv("OOM_NTH", number, 1) != 0)
            _exit(99);
        (void)execv(OOM_COMMAND, argv);
        _exit(98);
    }
    if (waitpid(pid, &status, 0) != pid) err(1, "waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static size_t slurp(const char *directory, const char *name, char *text, size_t bytes)
{
    FILE *file = fopen(fixture_join(directory, name), "r");
    if (file == NULL) err(1, "%s", name);
    const size_t got = fread(text, 1, bytes - 1, file);
    text[got] = '\0';
    (void)fclose(file);
    return got;
}

/* A store with a filter that has "key", and keys in a file. */
static char *command_template(void)
{
    char *directory = scratch_path("commands");
    if (mkdir(directory, 0755) != 0) err(1, "%s", directory);
    tamis_store *store = fixture_open(fixture_join(directory, "store"), TAMIS_OPEN_CREATE);
    tamis_filter *filter = fixture_filter(store, "old", 1000);
    assert_int_equal(tamis_filter_add(filter, "key", 3), 1);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    FILE *keys = fopen(fixture_join(directory, "keys"), "w");
    if (keys == NULL) err(1, "%s", directory);
    for (int i = 0; i < 500; i++)
        (void)fprintf(keys, "key %d\n", i);
    (void)fclose(keys);
    FILE *more = fopen(fixture_join(directory, "more"), "w");
    if (more == NULL || fputs("more\n", more) < 0) err(1, "%s", directory);
    (void)fclose(more);
    for (int i = 0; i < 2; i++) { /* two generations */
        static const char *const build[2][ARGUMENTS_MAX] = {{"build", "listed", "keys"},
                                                            {"build", "listed", "more"}};
        if (run_command(build[i], directory, UINT_MAX) != 0) errx(1, "build");
    }
    return directory;
}

/* Is what the command makes there: a filter, or the first generation of "listed"? */
static bool is_done(const char *const *arguments, const char *directory)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    tamis_store *store = fixture_open(fixture_join(directory, "store"), TAMIS_OPEN_READ_ONLY);
    tamis_filter *filter = NULL;
    bool done = tamis_filter_open(store, arguments[1], TAMIS_OPEN_READ_ONLY, &filter) == 0;
    if (done && strcmp(arguments[0], "rollback") == 0)
        done = tamis_filter_stat(filter, &stat) == 0 && stat.generation == 1;
    close_anyhow(filter);
    tamis_store_close(store);
    return done;
}

/* Has an error of a command that has done its work said so? */
static void check_said_done(const char *const *arguments, const char *directory, unsigned nth,
                            const char *said)
{
    static const char *const makers[] = {"rollback", "create", "merge"};
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++)
        if (strcmp(arguments[0], makers[i]) == 0 && is_done(arguments, directory) &&
            strstr(said, "it only cannot be shown") == NULL &&
            strcmp(said, "tamis: out of memory\n") != 0) /* the command ends where it is */
            fail_msg("tamis %s, allocation %u: it is done, and '%s' is told", *arguments, nth,
                     said);
}

static bool fail_command(const char *template, const char *const *arguments, unsigned nth)
{
    static char whole[65536], out[65536], said[65536];
    AUTO_FREE char *directory = scratch_path("command");
    scratch_copy(template, directory);
    const int status = run_command(arguments, directory, nth);
    (void)slurp(directory, "out", out, sizeof out);
    const bool sentence = slurp(directory, "err", said, sizeof said) > 0;
    const bool reached = access(fixture_join(directory, "reached"), F_OK) == 0;
    const bool asks = strcmp(*arguments, "check") == 0 || strcmp(*arguments, "list") == 0;
    points += reached;
    if (status > 2 || (status > 0 && !sentence) || (status > 0 && !reached))
        fail_msg("tamis %s, allocation %u: %s %d, stderr '%s'", *arguments, nth,
                 status >= 256 ? "signal" : "exit", status & 255, said);
    if (nth == UINT_MAX) (void)snprintf(whole, sizeof whole, "%s", out);
    if (status == 0 && asks && strcmp(out, whole) != 0) {
        wrong++;
        print_error("WRONG: tamis %s, allocation %u: '%s'\n", *arguments, nth, out);
    }
    if (status > 0) check_said_done(arguments, directory, nth, said);
    told += status != 0;
    right += status == 0;
    assert_int_equal(fixture_problems(fixture_join(directory, "store")), 0);
    scratch_remove(directory);
    return reached;
}

static void run_commands(void)
{
    AUTO_FREE char *template = command_template();
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        unsigned nth = 1;
        (void)fail_command(template, commands[i], UINT_MAX);
        while (fail_command(template, commands[i], nth))
            nth += nth < 60 ? 1 : 7;
        (void)printf("tamis %s: %u allocations\n", commands[i][0], nth - 1);
    }
}

#else

static void run_commands(void)
{
    (void)printf("commands left out: under a sanitizer\n");
}

#endif

/* Not by cmocka's runner: see truncate_under_us.c.  With the name of an act: that alone. */
int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : NULL;
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    scratch_in_memory();
    for (size_t i = 0; i < acts_count;
         i++) /* one with preparations is below in a form of its own */
        if (acts[i].prepare == NULL && (only == NULL || strcmp(only, acts[i].name) == 0))
            run_each(&acts[i]);
    for (size_t i = 0; i < sizeof more_acts / sizeof more_acts[0]; i++)
        if (only == NULL || strcmp(only, more_acts[i].name) == 0) run_each(&more_acts[i]);
    const unsigned in_calls = points;
    if (only == NULL || strcmp(only, "commands") == 0) run_commands();
    (void)printf("oom: %u points, %u of them in commands; crashes 0, leaks 0, wrong answers %u; %u "
                 "errors with a sentence, %u right\n",
                 points, points - in_calls, wrong, told, right);
    return wrong > 0 || told == 0;
}
