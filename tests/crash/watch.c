/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch.c: see watch.h.
 *
 *     player    plays the scene; at each cut it writes a byte and waits for one
 *     watcher   (this process) takes pictures, has each judged by a child, and answers
 *     judge     opens what the picture has, under another boot
 *
 * The player is not killed: what a cut leaves is in the picture, and the scene goes on to its next
 * call. Now and then a picture becomes the disk of another player, who comes up on it and is
 * watched in turn.
 */
#include "watch.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/io.h"
#include "picture.h"
#include "points.h"
#include "random.h"
#include "scratch.h"
#include "spawn.h"
#include "steps.h"

#define ARENA_BYTES ((size_t)1 << 30)
#define PLAYER_SECONDS 600u
#define JUDGE_SECONDS 20u
#define DEEP_STRIDE 16u
#define POINT_STRIDE 79u /* of those that every key passes */

struct level {
    struct disk *disk;
    struct ledger *ledger;
};
static struct level levels[WATCH_LEVELS];

struct play {
    const struct watch *watch;
    unsigned level;
    char root[512], path[640];
    int request_fd, reply_fd; /* the watcher's ends */
    uint64_t random;
    uint64_t cuts, pictures;
    bool sound;
};

/* Each level is a boot of its own, and the judge comes after it. */
static void boot(unsigned number)
{
    static uint8_t id[16];
    memset(id, (int)number + 1, sizeof id);
    tamis__boot_hook = id;
}

/* ---- The player ------------------------------------------------------------------------------ */

static void tick_at_point(unsigned point)
{
    static const char *const names[] = {
#define NAME(name, where) [name] = #name,
        TAMIS__POINT_MAP(NAME)
#undef NAME
    };
    static unsigned passed;
    if (point_is_of_a_key(point) && ++passed % POINT_STRIDE != 0) return;
    disk_tick(names[point]);
}

static void run_player(void *context, unsigned index)
{
    struct play *play = context;
    struct scene scene = {
        .ledger = levels[play->level].ledger, .path = play->path, .root = play->root};
    (void)index;
    (void)alarm(PLAYER_SECONDS);
    boot(play->level);
    tamis__io_no_openat2 = true; /* which does not pass through calls.c */
    tamis__point_hook = tick_at_point;
    disk_attach(levels[play->level].disk);
    if (play->level == 0) {
        step_open_store(&scene);
        play->watch->kind->play(&scene);
        step_close_store(&scene);
    } else {
        scene_go_on(&scene);
    }
    disk_detach();
}

/* ---- The judge ------------------------------------------------------------------------------- */

struct picture_case {
    struct ledger_case judged;
    unsigned level;
};

static void run_judge(void *context, unsigned index)
{
    const struct picture_case *c = context;
    (void)index;
    (void)alarm(JUDGE_SECONDS);
    boot(c->level + 1);
    const uint64_t wrong = ledger_judge(&c->judged);
    (void)fflush(stdout);
    _exit(wrong == 0 ? 0 : 1);
}

static bool ended_well(pid_t child, const char *title, bool quiet)
{
    int status = 0;
    if (waitpid(child, &status, 0) != child) err(1, "waitpid");
    if (status == 0) return true;
    if (WIFSIGNALED(status) && !quiet) printf("%s: died of signal %d\n", title, WTERMSIG(status));
    return false;
}

static bool play_on(const struct watch *watch, unsigned level, const char *root, uint64_t seed);

/* Lay a picture out and judge it, or go on from it; returns how many choices it had. */
static unsigned judge_picture(struct play *play, struct ledger *ledger, enum picture_kind kind)
{
    char title[512], root[512], path[640];
    const struct watch *watch = play->watch;
    struct disk *disk = levels[play->level].disk;
    const uint64_t seed = random_next(&play->random);
    char *directory = scratch_path("picture");
    (void)snprintf(root, sizeof root, "%.500s", directory);
    (void)snprintf(path, sizeof path, "%s/store", root);
    (void)snprintf(title, sizeof title, "%s, seed %" PRIu64 ", level %u, cut %" PRIu64 " %s, %s",
                   watch->kind->name, watch->seed, play->level, play->cuts, disk->site,
                   picture_names[kind]);
    const unsigned choices = picture_take(disk, kind, seed, root);
    const bool deep = play->level + 1 < WATCH_LEVELS && watch->deep != 0 &&
                      random_below(&play->random, watch->deep) == 0;
    if (deep) {
        *levels[play->level + 1].ledger = *ledger;
        if (!play_on(watch, play->level + 1, root, seed)) play->sound = false;
    } else {
        struct picture_case c = {{ledger, watch->figures, path, title, watch->quiet}, play->level};
        if (!ended_well(spawn_one(run_judge, &c, 0), title, watch->quiet)) play->sound = false;
    }
    play->pictures++;
    scratch_remove(directory);
    free(directory);
    return choices;
}

/* All kinds in turn, the random ones most; one only where nothing is left to choose. */
static void judge_cut(struct play *play)
{
    static const enum picture_kind order[] = {PICTURE_MIX, PICTURE_NONE,  PICTURE_TORN,
                                              PICTURE_MIX, PICTURE_NAMES, PICTURE_TORN,
                                              PICTURE_MIX, PICTURE_DATA,  PICTURE_ALL};
    const size_t kinds = sizeof order / sizeof order[0];
    static struct ledger
        now; /* not of the instant of the last picture: a player may be on its way */
    now = *levels[play->level].ledger;
    struct ledger copy = now;
    for (unsigned i = 0; i < play->watch->pictures; i++) {
        const size_t at = (play->cuts * play->watch->pictures + i) % kinds;
        if (judge_picture(play, &copy, order[at]) == 0) break;
    }
}

static void serve(struct play *play)
{
    char byte;
    while (read(play->request_fd, &byte, 1) == 1) {
        const unsigned stride = play->level == 0 ? play->watch->stride : DEEP_STRIDE;
        if (stride <= 1 || random_below(&play->random, stride) == 0) {
            play->cuts++;
            judge_cut(play);
        }
        if (write(play->reply_fd, "g", 1) != 1) break;
    }
}

static void open_pipes(struct play *play, struct disk *disk)
{
    int request[2], reply[2];
    if (pipe2(request, O_CLOEXEC) != 0 || pipe2(reply, O_CLOEXEC) != 0) err(1, "pipe");
    play->request_fd = request[0];
    play->reply_fd = reply[1];
    disk->request_fd = request[1];
    disk->reply_fd = reply[0];
}

static bool play_on(const struct watch *watch, unsigned level, const char *root, uint64_t seed)
{
    struct disk *disk = levels[level].disk;
    struct play play = {.watch = watch, .level = level, .random = seed, .sound = true};
    char title[128];
    (void)snprintf(play.root, sizeof play.root, "%s", root);
    (void)snprintf(play.path, sizeof play.path, "%s/store", root);
    (void)snprintf(title, sizeof title, "%s, seed %" PRIu64 ", level %u: the player",
                   watch->kind->name, watch->seed, level);
    disk_begin(disk, root, watch->deaf, seed);
    open_pipes(&play, disk);
    const pid_t player = spawn_one(run_player, &play, 0);
    (void)close(disk->request_fd);
    (void)close(disk->reply_fd);
    serve(&play);
    (void)close(play.request_fd);
    (void)close(play.reply_fd);
    if (!ended_well(player, title, watch->quiet)) play.sound = false;
    *(level == 0 ? &watch->figures->cuts : &watch->figures->deep_cuts) += play.cuts;
    watch->figures->pictures += play.pictures;
    return play.sound;
}

bool watch_scene(const struct watch *watch)
{
    for (unsigned i = 0; i < WATCH_LEVELS && levels[i].disk == NULL; i++) {
        levels[i].disk = disk_new(ARENA_BYTES);
        levels[i].ledger = spawn_shared(sizeof *levels[i].ledger);
    }
    char *root = scratch_path("disk");
    if (mkdir(root, 0777) != 0) err(1, "mkdir %s", root);
    memset(levels[0].ledger, 0, sizeof *levels[0].ledger);
    const bool sound = play_on(watch, 0, root, watch->seed);
    scratch_remove(root);
    free(root);
    return sound;
}
