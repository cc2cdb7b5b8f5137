/* SPDX-License-Identifier: BSD-2-Clause */
#include "crew.h"

#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "random.h"
#include "spawn.h"

const char *const team_names[TEAMS] = {"p1", "p2", "t2", "p3", "p4", "c1"};
const unsigned team_sizes[TEAMS] = {1, 2, 2, 3, 4, 1};
const unsigned team_processes[TEAMS] = {1, 3, 1, 7, 15, 16};

/* Workers of each team, by seat. */
static const unsigned members[TEAMS][CREW_PROCESSES] = {
    [TEAM_P1] = {0},       [TEAM_P2] = {0, 2},       [TEAM_T2] = {0, 1},
    [TEAM_P3] = {0, 2, 3}, [TEAM_P4] = {0, 2, 3, 4}, [TEAM_C1] = {5}};

struct answer {
    uint64_t keys, yes;
    double ns;
    char error[1024]; /* empty: all went well */
};

/* The ends that the parent has, and those of the workers. */
static struct channel {
    int order_in, order_out, answer_in, answer_out;
} channels[CREW_WORKERS];

static pid_t pids[CREW_PROCESSES];
static pid_t parent;
static cpu_set_t allowed;
static struct spawn_barrier *barrier; /* shared by all workers; one order at a time */

volatile sig_atomic_t crew_stopped;

/* ---- In a worker ----------------------------------------------------------------------------- */

static double now_ns(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void pin(unsigned place)
{
    unsigned skip = place % (unsigned)CPU_COUNT(&allowed);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || skip-- > 0) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        (void)sched_setaffinity(0, sizeof one, &one); /* where it is forbidden, unpinned */
        return;
    }
}

static void work(struct worker *worker, const struct order *order, struct answer *answer)
{
    const uint64_t begin = order->keys * order->seat / order->seats;
    const uint64_t end = order->keys * (order->seat + 1) / order->seats;
    const bool in_step = order->seats <= (unsigned)CPU_COUNT(&allowed);
    const clockid_t clock = in_step ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    const size_t piece_keys = STREAM_KEYS / order->batch * order->batch;
    *answer = (struct answer){.keys = end - begin};
    if (!in_step) spawn_wait(barrier);
    for (uint64_t at = begin; at < end;) {
        const size_t count = end - at < piece_keys ? (size_t)(end - at) : piece_keys;
        order->prepare(worker, order, order->first + at, count);
        if (in_step && order->seats > 1) spawn_wait(barrier);
        const double start = now_ns(clock);
        const int64_t yes = order->run(worker, order, count);
        answer->ns += now_ns(clock) - start;
        if (yes >= 0)
            answer->yes += (uint64_t)yes;
        else if (answer->error[0] == '\0') /* and on, as the others wait for this one */
            (void)snprintf(answer->error, sizeof answer->error, "%s", tamis_last_error());
        at += count;
    }
}

static void serve(struct worker *worker, const struct channel *channel)
{
    struct order order;
    struct answer answer;
    while (read(channel->order_in, &order, sizeof order) == (ssize_t)sizeof order) {
        if (order.prepare != NULL) {
            work(worker, &order, &answer);
        } else {
            answer = (struct answer){0};
            const int64_t rc = order.run(worker, &order, 0);
            if (rc >= 0)
                answer.yes = (uint64_t)rc;
            else
                (void)snprintf(answer.error, sizeof answer.error, "%s", tamis_last_error());
        }
        if (write(channel->answer_out, &answer, sizeof answer) != (ssize_t)sizeof answer) break;
    }
}

static struct worker *new_worker(struct desk *desk, unsigned number)
{
    struct worker *worker = aligned_alloc(64, (sizeof *worker + 63) / 64 * 64);
    if (worker == NULL) err(1, "memory for a worker");
    memset(worker, 0, sizeof *worker);
    worker->desk = desk;
    worker->random = number + 1;
    return worker;
}

static void *second_thread(void *desk)
{
    pin(1);
    struct worker *worker = new_worker(desk, 1);
    serve(worker, &channels[1]);
    free(worker);
    return NULL;
}

static _Noreturn void run_process(unsigned process, unsigned number)
{
    struct desk desk = {0};
    pthread_t thread;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    (void)signal(SIGINT, SIG_IGN); /* the parent's to answer */
    (void)signal(SIGTERM, SIG_DFL);
    if (process == 0 && pthread_create(&thread, NULL, second_thread, &desk) != 0)
        errx(1, "no second thread is to be had");
    if (process == CREW_PROCESSES - 1 && setenv("TAMIS_SIMD", "portable", 1) != 0) err(1, "setenv");
    pin(process == CREW_PROCESSES - 1 ? 0 : process);
    struct worker *worker = new_worker(&desk, number);
    serve(worker, &channels[number]);
    _exit(0);
}

/* ---- In the parent --------------------------------------------------------------------------- */

static void stop(int number)
{
    crew_stopped = number;
}

void crew_check_stop(void)
{
    if (crew_stopped == 0) return;
    (void)fflush(stdout);
    (void)fprintf(stderr, "tamis-bench: stopped\n");
    exit(128 + crew_stopped);
}

unsigned crew_processors(void)
{
    return (unsigned)CPU_COUNT(&allowed);
}

static unsigned worker_of(unsigned process)
{
    return process == 0 ? 0 : process + 1;
}

static void open_channel(unsigned worker)
{
    int order[2], answer[2];
    if (pipe(order) != 0 || pipe(answer) != 0) err(1, "pipe");
    channels[worker] = (struct channel){order[0], order[1], answer[0], answer[1]};
}

/* Only the worker keeps its ends, so that the parent reads the end of the answers if it dies. */
static void leave_ends(unsigned worker)
{
    (void)close(channels[worker].order_in);
    (void)close(channels[worker].answer_out);
}

void crew_start(void)
{
    const struct sigaction on_stop = {.sa_handler = stop}; /* no SA_RESTART: read() must end */
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) err(1, "sched_getaffinity");
    parent = getpid();
    barrier = spawn_shared(sizeof *barrier);
    (void)sigaction(SIGINT, &on_stop, NULL);
    (void)sigaction(SIGTERM, &on_stop, NULL);
    (void)fflush(NULL);
    for (unsigned process = 0; process < CREW_PROCESSES; process++) {
        open_channel(worker_of(process));
        if (process == 0) open_channel(1);
        pids[process] = fork();
        if (pids[process] < 0) err(1, "fork");
        if (pids[process] == 0) run_process(process, worker_of(process));
        leave_ends(worker_of(process));
        if (process == 0) leave_ends(1);
    }
    if (atexit(crew_end) != 0) errx(1, "atexit");
}

void crew_end(void)
{
    if (getpid() != parent) return;
    for (unsigned process = 0; process < CREW_PROCESSES; process++) {
        if (pids[process] <= 0) continue;
        (void)kill(pids[process], SIGKILL);
        (void)waitpid(pids[process], NULL, 0);
        pids[process] = 0;
    }
}

static void send(unsigned worker, const struct order *order)
{
    if (write(channels[worker].order_out, order, sizeof *order) != (ssize_t)sizeof *order)
        err(1, "an order to worker %u", worker);
}

static void receive(unsigned worker, struct answer *answer)
{
    char *at = (char *)answer;
    for (size_t got = 0; got < sizeof *answer;) {
        const ssize_t rc = read(channels[worker].answer_in, at + got, sizeof *answer - got);
        crew_check_stop();
        if (rc < 0 && errno == EINTR) continue;
        if (rc <= 0) errx(1, "worker %u has died", worker);
        got += (size_t)rc;
    }
    if (answer->error[0] != '\0') errx(1, "%s", answer->error);
}

struct outcome crew_run(const struct order *given)
{
    struct order order = *given;
    struct outcome outcome = {0};
    double rate = 0; /* keys a ns */
    crew_check_stop();
    order.seats = team_sizes[order.team];
    order.keys -= order.keys % order.seats; /* all have as many, and so as many pieces */
    *barrier = (struct spawn_barrier){.count = order.seats};
    for (order.seat = 0; order.seat < order.seats; order.seat++)
        send(members[order.team][order.seat], &order);
    for (unsigned seat = 0; seat < order.seats; seat++) {
        struct answer answer;
        receive(members[order.team][seat], &answer);
        outcome.keys += answer.keys;
        outcome.yes += answer.yes;
        if (answer.ns > 0) rate += (double)answer.keys / answer.ns;
    }
    /* More workers than processors have these in turn. */
    if (order.seats > crew_processors()) rate *= (double)crew_processors() / order.seats;
    outcome.ns = rate > 0 ? 1 / rate : 0;
    return outcome;
}

uint64_t crew_each(const struct order *given, unsigned processes)
{
    struct order order = *given;
    struct answer answer = {0};
    crew_check_stop();
    order.prepare = NULL;
    for (unsigned process = 0; process < CREW_PROCESSES; process++) {
        if ((processes >> process & 1) == 0) continue;
        send(worker_of(process), &order);
        receive(worker_of(process), &answer);
    }
    return answer.yes;
}
