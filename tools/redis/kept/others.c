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

bool others_use(const char *filter)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    tamis_filter *opened = NULL;
    char path[PATH_ROOM];
    bool used = tamis_filter_open(registry_store(), filter, TAMIS_READ_ONLY, &opened) != 0;
    uint64_t numbers[SEGMENTS_MAX];
    uint32_t count = 0;
    while (!used && count < SEGMENTS_MAX && tamis_filter_segment(opened, count, &segment) == 0)
        numbers[count++] = segment.number;
    (void)tamis_filter_close(opened);
    for (uint32_t i = 0; !used && i < count; i++) {
        char file[TAMIS_SEGMENT_FILE_BYTES];
        (void)tamis_segment_file(numbers[i], file);
        file[strcspn(file, ":")] = '\0'; /* of one in a drawer: the drawer */
        const int bytes = snprintf(path, sizeof path, "%s/%s", config.store, file);
        used = bytes < 0 || (size_t)bytes >= sizeof path || is_open(path);
    }
    return used;
}
