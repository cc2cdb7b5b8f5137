/* SPDX-License-Identifier: BSD-2-Clause */
/* segment_name.c: what the files of segments are called, the numbers in these names, and the file
 * that a number stands for. */
#include "os/inside.h"
#include "segment/sheet.h"

void tamis__drawer_name(uint64_t drawer, char name[TAMIS__DRAWER_NAME_BYTES])
{
    (void)snprintf(name, TAMIS__DRAWER_NAME_BYTES, "%016" PRIu64 ".drw", drawer);
}

uint64_t tamis__drawer_number(const char *name)
{
    uint64_t drawer = 0;
    char again[TAMIS__DRAWER_NAME_BYTES];
    if (sscanf(name, "%20" SCNu64, &drawer) != 1 || drawer > TAMIS__DRAWER_MAX) return 0;
    tamis__drawer_name(drawer, again);
    return strcmp(name, again) == 0 ? drawer : 0;
}

void tamis__segment_name(uint64_t number, char name[TAMIS__SEGMENT_NAME_BYTES])
{
    if (!tamis__is_sheet(number)) {
        (void)snprintf(name, TAMIS__SEGMENT_NAME_BYTES, "%016" PRIu64 ".seg", number);
        return;
    }
    tamis__drawer_name(tamis__sheet_drawer(number), name);
    (void)snprintf(name + strlen(name), TAMIS__SEGMENT_NAME_BYTES - strlen(name), ":%u",
                   tamis__sheet_index(number));
}

void tamis__segment_file(uint64_t number, char name[TAMIS__SEGMENT_NAME_BYTES])
{
    if (tamis__is_sheet(number))
        tamis__drawer_name(tamis__sheet_drawer(number), name);
    else
        tamis__segment_name(number, name);
}

uint64_t tamis__segment_number(const char *name)
{
    uint64_t number = 0;
    char again[TAMIS__SEGMENT_NAME_BYTES];
    if (sscanf(name, "%20" SCNu64, &number) != 1 || tamis__is_sheet(number)) return 0;
    tamis__segment_name(number, again);
    return strcmp(name, again) == 0 ? number : 0;
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
    tamis__segment_file(number, name);
    return tamis__inside_open_shared(place->segments_fd, name, flags, what, fd);
}
