/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * truncate_under_us.c: somebody else truncates a file of the store while it is open.
 *
 * Every act of acts.h, after each file was cut in each way, and with all files cut before each of
 * its system calls and at points inside its loops: it is right, or an error; nothing is ever told
 * wrongly, by it or by any later call, nor when the file is made as long again; the process lives.
 * All in one process, so one SIGBUS ends the test.
 *
 * Seen to fail: without the handler (the control does that every time); with calls that do not look
 * at the table before they answer; with a header page whose constants are gone (SIGFPE of kind
 * bloom).
 */
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acts.h"
#include "base/point.h"
#include "os/guard.h"
#include "os/io.h"

static unsigned points_covered, errors_told, calls_right, wrong_answers;

/* ---- Cutting --------------------------------------------------------------------------------- */

/* A cut within the header takes no page of it away: from there on the header reads as 0. */
enum cut {
    CUT_ALL,
    CUT_BEHIND_HEADER,
    CUT_HALF,
    CUT_LAST_PAGE,
    CUTS_OF_PAGES,
    CUT_BEFORE_M = CUTS_OF_PAGES, /* m, k, words and all that follows read as 0 */
    CUT_BEFORE_WORDS,
    CUT_BEFORE_DATA_BYTES,
    CUT_BEFORE_COUNTERS,
    CUTS
};

static enum cut cut_of_header(unsigned way)
{
    return (enum cut)(CUTS_OF_PAGES + way % (CUTS - CUTS_OF_PAGES));
}

static off_t length_after(enum cut cut, off_t length)
{
    switch (cut) {
    case CUT_ALL:
        return 0;
    case CUT_BEHIND_HEADER:
        return 4096;
    case CUT_HALF:
        return length / 2 + 100;
    case CUT_BEFORE_M:
        return 64;
    case CUT_BEFORE_WORDS:
        return 76;
    case CUT_BEFORE_DATA_BYTES:
        return 100;
    case CUT_BEFORE_COUNTERS:
        return 300;
    default:
        return (length - 1) / 4096 * 4096;
    }
}

struct cutting {
    enum cut cut;
    int only; /* of the files, in the order of scene_each_file(); -1: all */
    int at;
    off_t lengths[64];
    bool undo;
    bool whole_pages; /* no file is cut within its last page */
};

/*
 * A cut within the last page takes no page away: the kernel writes zeros there, in some 100 ns,
 * from the cut to the end.  A thread may read one of them while the file's last word is not 0 yet,
 * which no call can notice (docs/durability.md, "Faults").  So if threads ask during the cut, that
 * page is cut off as a whole.
 */
static off_t without_last_page(off_t cut_at, off_t length)
{
    const off_t last_page = (length - 1) / 4096 * 4096;
    return cut_at > last_page ? last_page : cut_at;
}

static void cut_file(void *context, const char *file)
{
    struct cutting *c = context;
    struct stat st;
    const int at = c->at++;
    if (c->only >= 0 && at != c->only) return;
    if (stat(file, &st) != 0) err(1, "%s", file);
    if (!c->undo && at < 64) c->lengths[at] = st.st_size;
    off_t length = c->undo ? c->lengths[at < 64 ? at : 63] : length_after(c->cut, st.st_size);
    if (c->whole_pages) length = without_last_page(length, st.st_size);
    if (truncate(file, length) != 0) err(1, "truncate %s", file);
}

static void cut(const struct scene *scene, struct cutting *c)
{
    c->at = 0;
    scene_each_file(scene, cut_file, c);
}

static void judge(const char *act, const char *when, int64_t rc)
{
    points_covered++;
    if (rc == SCENE_WRONG) {
        wrong_answers++;
        print_error("WRONG: %s, %s\n", act, when);
    } else if (rc < 0) {
        errors_told++;
        if (*tamis_last_error() == '\0') fail_msg("%s, %s: an error without a sentence", act, when);
    } else {
        calls_right++;
    }
}

/* ---- Before an act --------------------------------------------------------------------------- */

static void run_after_cut(const struct act *act, struct cutting c)
{
    AUTO_SCENE scene;
    char when[64];
    scene_set_for(&scene, act);
    (void)snprintf(when, sizeof when, "file %d cut in way %d", c.only, c.cut);
    cut(&scene, &c);
    judge(act->name, when, act->run(&scene));
    judge(act->name, "and asked then", scene_ask(&scene));
}

static void count_file(void *context, const char *file)
{
    (void)file;
    ++*(int *)context;
}

static void truncation_before_any_call_is_an_error(void)
{
    struct scene scene;
    int files = 0;
    scene_copy(&scene);
    scene_each_file(&scene, count_file, &files);
    scene_clear(&scene);
    for (size_t i = 0; i < acts_count; i++)
        for (int file = 0; file < files; file++) {
            const unsigned way = (unsigned)i + (unsigned)file;
            run_after_cut(&acts[i],
                          (struct cutting){.cut = (enum cut)(way % CUTS_OF_PAGES), .only = file});
            run_after_cut(&acts[i], (struct cutting){.cut = cut_of_header(way), .only = file});
        }
    assert_int_equal(wrong_answers, 0);
}

/* ---- In an act ------------------------------------------------------------------------------- */

static struct {
    const struct scene *scene;
    struct cutting cutting;
    unsigned left; /* calls, or points, until it is cut; 0: not armed */
    bool done;
} armed;

static void come_by(void)
{
    if (armed.left == 0 || --armed.left > 0) return;
    armed.done = true;
    cut(armed.scene, &armed.cutting);
}

static int at_call(const char *verb, const char *what)
{
    (void)verb;
    (void)what;
    come_by();
    return 0;
}

static void at_point(unsigned point)
{
    (void)point;
    come_by();
}

static bool run_with_cut(const struct act *act, unsigned nth, bool calls)
{
    AUTO_SCENE scene;
    char when[64];
    scene_set_for(&scene, act);
    armed.scene = &scene;
    armed.left = nth;
    armed.done = false;
    armed.cutting = (struct cutting){.cut = (enum cut)(nth % CUTS_OF_PAGES), .only = -1};
    if (calls)
        tamis__io_hook = at_call;
    else
        tamis__point_hook = at_point;
    const int64_t rc = act->run(&scene);
    tamis__io_hook = NULL;
    tamis__point_hook = NULL;
    armed.left = 0;
    (void)snprintf(when, sizeof when, "all cut at its %s %u", calls ? "call" : "point", nth);
    if (armed.done) {
        judge(act->name, when, rc);
        judge(act->name, "and asked then", scene_ask(&scene));
    }
    return armed.done;
}

static void truncation_in_any_call_is_an_error(void)
{
    for (size_t i = 0; i < acts_count; i++) {
        const unsigned step = FIXTURE_SANITIZED ? 23 : 7; /* and all four ways */
        for (unsigned nth = 1; run_with_cut(&acts[i], nth, true); nth += step)
            continue;
        for (unsigned nth = 1; run_with_cut(&acts[i], nth, false); nth = nth * 5 + step)
            continue;
    }
    assert_int_equal(wrong_answers, 0);
}

/* ---- And then -------------------------------------------------------------------------------- */

/* As long as it was: still an error, until the file is restored and opened again. */
static void truncation_that_is_undone_is_an_error_until_reopened(void)
{
    for (int way = 0; way < CUTS_OF_PAGES; way++)
        for (int noticed = 0; noticed < 2; noticed++) {
            struct scene scene, sound;
            scene_set(&scene);
            struct cutting c = {.cut = (enum cut)way, .only = -1};
            /* Of counters, which go down as well, and of one with no bit on its last page it cannot
             * be told. */
            for (size_t i = PHP; !noticed && i <= COUNTING; i++) {
                assert_done(tamis_filter_close(scene.filters[i]));
                scene.filters[i] = NULL;
            }
            cut(&scene, &c);
            if (noticed) judge("contains", "cut", scene_ask(&scene));
            c.undo = true;
            cut(&scene, &c);
            const int64_t rc = scene_ask(&scene);
            judge("contains", noticed ? "cut, noticed, undone" : "cut, undone", rc);
            assert_true(rc < 0);
            scene_clear(&scene);
            scene_set(&sound);
            assert_int_equal(scene_ask(&sound), 0);
            scene_clear(&sound);
        }
    assert_int_equal(wrong_answers, 0);
}

/* Not fixture_child(), whose child has the default action of SIGBUS. */
static int in_child(fixture_body *body, void *context)
{
    int status;
    (void)fflush(NULL);
    const pid_t pid = fork();
    if (pid < 0) err(1, "fork");
    if (pid == 0) {
        body(context);
        _exit(0);
    }
    if (waitpid(pid, &status, 0) != pid) err(1, "waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static bool stop;

static void *ask_on(void *context)
{
    static int64_t wrong = SCENE_WRONG;
    struct scene *scene = context;
    int64_t worst = 0;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        const int64_t rc = scene_ask(scene);
        if (rc == SCENE_WRONG) return &wrong;
        worst = rc < 0 ? rc : worst;
    }
    return NULL;
}

static void ask_in_child(void *context)
{
    _exit(scene_ask(context) == SCENE_WRONG);
}

static void truncation_under_threads_and_children_is_an_error(void)
{
    for (int way = 0; way < CUTS_OF_PAGES; way++) {
        AUTO_SCENE scene;
        pthread_t threads[3];
        void *wrong = NULL;
        scene_set(&scene);
        __atomic_store_n(&stop, false, __ATOMIC_RELAXED);
        for (size_t i = 0; i < 3; i++)
            if (pthread_create(&threads[i], NULL, ask_on, &scene) != 0) err(1, "thread");
        struct cutting c = {.cut = (enum cut)way, .only = -1, .whole_pages = true};
        tamis__pause_us(3000);
        cut(&scene, &c);
        assert_int_equal(in_child(ask_in_child, &scene), 0);
        tamis__pause_us(3000);
        __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
        for (size_t i = 0; i < 3; i++) {
            if (pthread_join(threads[i], &wrong) != 0) err(1, "join");
            judge("contains", "threads", wrong != NULL ? SCENE_WRONG : 0);
        }
        assert_int_equal(in_child(ask_in_child, &scene), 0);
    }
    assert_int_equal(wrong_answers, 0);
}

/* ---- Whose handler --------------------------------------------------------------------------- */

static struct scene *shared;

static void cut_and_ask(void)
{
    struct cutting c = {.cut = CUT_ALL, .only = -1};
    cut(shared, &c);
    _exit(scene_ask(shared) < 0 ? 0 : 1);
}

static void leave_default(void *context)
{
    (void)context;
    (void)signal(SIGBUS, SIG_DFL); /* the parent's is inherited */
    cut_and_ask();
}

static void on_own(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)context;
    if (!tamis_sigbus_mend(info->si_addr)) _exit(99);
}

static void have_own(void *context)
{
    struct sigaction action = {.sa_sigaction = on_own, .sa_flags = SA_SIGINFO};
    (void)context;
    (void)sigaction(SIGBUS, &action, NULL);
    cut_and_ask();
}

/* Not the library's: it is not swallowed. */
static void fault_elsewhere(void *context)
{
    char name[] = "/tmp/tamis-faultXXXXXX";
    const int fd = mkstemp(name);
    (void)context;
    (void)unlink(name);
    if (fd < 0 || ftruncate(fd, 4096) != 0) err(98, "%s", name);
    volatile char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED || ftruncate(fd, 0) != 0) err(98, "mmap");
    _exit(map[0] + 1);
}

static void sent_signal(void *context)
{
    (void)context;
    (void)raise(SIGBUS);
    _exit(0);
}

static void sigbus_belongs_to_whom_it_concerns(void)
{
    struct scene scene;
    shared = &scene;
    scene_set(&scene);
    assert_int_equal(in_child(leave_default, NULL), 256 + SIGBUS); /* the control */
    scene_clear(&scene);
    scene_set(&scene);
    assert_int_equal(in_child(have_own, NULL), 0);
    scene_clear(&scene);
    assert_int_equal(in_child(fault_elsewhere, NULL), 256 + SIGBUS);
    assert_int_equal(in_child(sent_signal, NULL), 256 + SIGBUS);
}

/* Not by cmocka's runner, which has a SIGBUS handler; its assertions end a program that is not run
 * by it. */
int main(void)
{
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    truncation_before_any_call_is_an_error();
    (void)printf("before the calls: %u points\n", points_covered);
    truncation_in_any_call_is_an_error();
    (void)printf("in the calls as well: %u points\n", points_covered);
    truncation_that_is_undone_is_an_error_until_reopened();
    truncation_under_threads_and_children_is_an_error();
    sigbus_belongs_to_whom_it_concerns();
    (void)printf(
        "truncate-under-us: %u points, SIGBUS 0, crashes 0, wrong answers %u; %u errors with "
        "a sentence, %u right; %llu faults were met\n",
        points_covered, wrong_answers, errors_told, calls_right,
        (unsigned long long)tamis__guard_faults);
    return tamis__guard_faults < 100 || wrong_answers > 0; /* else the test does nothing */
}
