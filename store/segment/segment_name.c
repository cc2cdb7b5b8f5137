/* SPDX-License-Identifier: BSD-2-Clause */
/* segment_name.c: what the files of segments are called, and the numbers in these names. */
#include "os/inside.h"
#include "segment/segment.h"

void tamis__segment_name(uint64_t number, char name[TAMIS__SEGMENT_NAME_BYTES])
{
    (void)snprintf(name, TAMIS__SEGMENT_NAME_BYTES, "%016" PRIu64 ".seg", number);
}

uint64_t tamis__segment_number(const char *name)
{
    uint64_t number = 0;
    char again[TAMIS__SEGMENT_NAME_BYTES];
    if (sscanf(name, "%20" SCNu64, &number) != 1) return 0;
    tamis__segment_name(number, again);
    return strcmp(name, again) == 0 ? number : 0;
}

bool tamis__is_drawer(const char *name)
{
    const char *end = strrchr(name, '.');
    return end != NULL && strcmp(end, ".drw") == 0;
}

int tamis__fail_drawers(const char *store_path)
{
    return tamis__fail(
        TAMIS_EVERSION,
        "the store %s has drawers, files that small filters share, which no release of "
        "Tamis reads: export its filters with the version that made it and import "
        "them into a new store, or remove the store and make the filters anew",
        store_path);
}

void tamis__segment_path(const struct tamis__place *place, uint64_t number,
                         char path[TAMIS__SEGMENT_PATH_BYTES])
{
    char name[TAMIS__SEGMENT_NAME_BYTES];
    tamis__segment_name(number, name);
    (void)snprintf(path, TAMIS__SEGMENT_PATH_BYTES, "%s/segments/%s", place->path, name);
}

int tamis__segment_open_file(const struct tamis__place *place, uint64_t number, int flags,
                             char what[TAMIS__SEGMENT_PATH_BYTES], int *fd)
{
    char name[TAMIS__SEGMENT_NAME_BYTES];
    *fd = -1;
    tamis__segment_path(place, number, what);
    tamis__segment_name(number, name);
    return tamis__inside_open_shared(place->segments_fd, name, flags, what, fd);
}
