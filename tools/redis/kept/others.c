/* SPDX-License-Identifier: BSD-2-Clause */
/* others.c: see others.h. */
#include "kept/others.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "registry/registry.h"
#include "server/config.h"
#include "value/handles.h"
#include "value/light.h"

#define PATH_ROOM 4096
#define SEGMENTS_MAX 64 /* who has a filter open has all of them open */

static int directory = -1; /* of the store; with the shared lock if `seen` */
static bool seen;

void others_see_us(void)
{
    if (seen || registry_store() == NULL) return;
    if (directory < 0) directory = open(config.store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    seen = directory >= 0 && flock(directory, LOCK_SH | LOCK_NB) == 0;
}

bool others_are_none(void)
{
    others_see_us();
    if (!seen) return false;
    const bool alone = flock(directory, LOCK_EX | LOCK_NB) == 0;
    /* Linux has taken the shared lock away even if it has not given the other one. */
    seen = flock(directory, LOCK_SH | LOCK_NB) == 0;
    return alone;
}

/* Has another process the file open, or mapped? */
static bool is_open(const char *path)
{
    /* O_NONBLOCK: where another process has a lease, open() would wait for its end. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    /* Who opens the file just now makes the kernel send a signal, which would be SIGIO and end the
     * server.  SIGURG does nothing where nobody waits for it. */
    const bool free =
        fd >= 0 && fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
    if (fd >= 0) (void)close(fd); /* which gives the lease back */
    return !free;
}

/* ---- Drawers --------------------------------------------------------------------------------- */

/* docs/format.md 3.8: the number of a sheet, and the byte that its writers share. */
#define IS_SHEET(number) ((number) >> 48 == 1)
#define SHEET_OF(number) ((number)&1023u)
#define DRAWER_OF(number) ((number) >> 12)
#define WRITERS_BYTE(number) ((off_t)(((uint64_t)1 << 61) + 2 * SHEET_OF(number)))

/* Does another process write to the sheet? */
static bool is_written(const char *path, uint64_t number)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = WRITERS_BYTE(number), .l_len = 1};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const bool told = fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0;
    if (fd >= 0) (void)close(fd);
    return !told || lock.l_type != F_UNLCK;
}

static bool is_in_drawer(void *context, tamis_filter *filter)
{
    struct tamis_segment_stat first = {.size = sizeof first};
    return tamis_filter_segment(filter, 0, &first) == 0 && IS_SHEET(first.number) &&
           DRAWER_OF(first.number) == *(const uint64_t *)context;
}

/* Has another process the sheet, or one of the same drawer? */
static enum use use_of_sheet(const char *path, uint64_t number)
{
    uint64_t drawer = DRAWER_OF(number);
    if (is_written(path, number)) return USED;
    if (!is_open(path)) return UNUSED;
    handles_close_those(is_in_drawer, &drawer);
    light_forget(number);
    return is_open(path) ? USED_PERHAPS : UNUSED;
}

/* ---- A filter -------------------------------------------------------------------------------- */

static enum use use_of(uint64_t number)
{
    char path[PATH_ROOM], file[TAMIS_SEGMENT_FILE_BYTES];
    (void)tamis_segment_file(number, file);
    file[strcspn(file, ":")] = '\0'; /* of one in a drawer: the drawer */
    const int bytes = snprintf(path, sizeof path, "%s/%s", config.store, file);
    if (bytes < 0 || (size_t)bytes >= sizeof path) return USED;
    if (IS_SHEET(number)) return use_of_sheet(path, number);
    return is_open(path) ? USED : UNUSED;
}

enum use others_use(const char *filter)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    tamis_filter *opened = NULL;
    uint64_t numbers[SEGMENTS_MAX];
    uint32_t count = 0;
    enum use use = UNUSED;
    if (tamis_filter_open(registry_store(), filter, TAMIS_READ_ONLY, &opened) != 0) return USED;
    while (count < SEGMENTS_MAX && tamis_filter_segment(opened, count, &segment) == 0)
        numbers[count++] = segment.number;
    (void)tamis_filter_close(opened);
    for (uint32_t i = 0; use != USED && i < count; i++) {
        const enum use one = use_of(numbers[i]);
        if (one != UNUSED) use = one;
    }
    return use;
}
