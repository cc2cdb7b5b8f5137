/* SPDX-License-Identifier: BSD-2-Clause */
/* segment.c: see segment.h for the life cycle and docs/format.md for the layout. */
#include "file/segment.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/point.h"
#include "file/io.h"

#define PATH_BYTES 4200 /* PATH_MAX and a segment's name */

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

static void segment_path(const struct tamis__place *place, uint64_t number, char path[PATH_BYTES])
{
    char name[TAMIS__SEGMENT_NAME_BYTES];
    tamis__segment_name(number, name);
    (void)snprintf(path, PATH_BYTES, "%s/segments/%s", place->path, name);
}

/* Remove one staged file if its maker is dead, that is, if nobody holds its lock. */
static int sweep_one(void *context, const char *name)
{
    const struct tamis__place *place = context;
    int fd;
    if (tamis__open(place->staging_fd, name, O_RDWR, 0, name, &fd) < 0) return 0;
    if (tamis__try_lock(fd, name) == 1) (void)tamis__unlink(place->staging_fd, name, name);
    tamis__close(fd);
    return 0; /* what cannot be removed now stays for the next maker; it does no harm */
}

int tamis__segment_stage(const struct tamis__place *place, uint64_t file_bytes,
                         struct tamis__staged *staged)
{
    char what[PATH_BYTES];
    struct tamis__file_info info;
    uint64_t random;
    int rc = 0;
    *staged = (struct tamis__staged){.fd = -1};
    (void)snprintf(what, sizeof what, "%s/staging", place->path);
    (void)tamis__each_name(place->staging_fd, what, sweep_one,
                           (void *)(uintptr_t)(const void *)place);
    do {
        tamis__random_bytes(&random, sizeof random);
        (void)snprintf(staged->name, sizeof staged->name, "%016" PRIx64 ".seg", random);
        (void)snprintf(what, sizeof what, "%s/staging/%s", place->path, staged->name);
        tamis__close(staged->fd);
        staged->fd = -1;
        rc = tamis__open(place->staging_fd, staged->name, O_RDWR | O_CREAT | O_EXCL, 0666, what,
                         &staged->fd);
        if (rc < 0) return rc;
        rc = tamis__lock(staged->fd, TAMIS__LOCK_EXCLUSIVE, what);
        if (rc == 0) rc = tamis__exists(place->staging_fd, staged->name, what);
        /* Not there: a sweeper took it between our open and our lock.  Make another. */
    } while (rc == 0);
    if (rc > 0) rc = tamis__allocate(staged->fd, file_bytes, what);
    if (rc == 0) rc = tamis__file_info(staged->fd, what, &info);
    if (rc == 0 && info.bytes != file_bytes)
        rc = tamis__fail(TAMIS_EIO, "%s was not allocated in full by the file system", what);
    if (rc < 0) tamis__segment_discard(place, staged);
    TAMIS__POINT(TAMIS__POINT_STAGED);
    return rc;
}

int tamis__segment_publish(const struct tamis__place *place, struct tamis__staged *staged,
                           struct tamis__segment_header *header)
{
    char what[PATH_BYTES], name[TAMIS__SEGMENT_NAME_BYTES];
    int rc;
    segment_path(place, header->number, what);
    tamis__segment_name(header->number, name);
    tamis__header_seal(header);
    rc = tamis__write_at(staged->fd, header, sizeof *header, 0, what);
    if (rc == 0) rc = tamis__sync_file(staged->fd, what);
    /* A file of this number can only be an orphan of a maker that died before its commit: we hold
     * the catalog's lock, and the catalog gives each number once. */
    if (rc == 0)
        rc = tamis__rename(place->staging_fd, staged->name, place->segments_fd, name, what);
    if (rc < 0) return rc;
    tamis__close(staged->fd);
    *staged = (struct tamis__staged){.fd = -1};
    TAMIS__POINT(TAMIS__POINT_RENAMED);
    rc = tamis__sync_file(place->segments_fd, what);
    if (rc < 0) (void)tamis__unlink(place->segments_fd, name, what);
    return rc;
}

static void staged_path(const struct tamis__place *place, const struct tamis__staged *staged,
                        char path[PATH_BYTES])
{
    (void)snprintf(path, PATH_BYTES, "%s/staging/%s", place->path, staged->name);
}

int tamis__segment_fill(const struct tamis__place *place, const struct tamis__staged *staged,
                        uint64_t offset, const void *bytes, size_t count)
{
    char what[PATH_BYTES];
    staged_path(place, staged, what);
    return tamis__write_at(staged->fd, bytes, count, offset, what);
}

int tamis__segment_settle(const struct tamis__place *place, const struct tamis__staged *staged)
{
    char what[PATH_BYTES];
    staged_path(place, staged, what);
    return tamis__sync_file(staged->fd, what);
}

void tamis__segment_discard(const struct tamis__place *place, struct tamis__staged *staged)
{
    if (staged->fd < 0 || staged->name[0] == '\0') return;
    (void)tamis__unlink(place->staging_fd, staged->name, staged->name);
    tamis__close(staged->fd);
    *staged = (struct tamis__staged){.fd = -1};
}

/* Read and judge the header of an open segment file. */
static int check_file(int fd, uint64_t number, const char *what, struct tamis__file_info *info)
{
    unsigned char buffer[TAMIS__HEADER_BYTES];
    struct tamis__refusal refusal;
    int rc = tamis__file_info(fd, what, info);
    if (rc < 0) return rc;
    if (!info->is_regular)
        return tamis__fail(TAMIS_EFOREIGN, "%s is not a regular file; remove it", what);
    const size_t bytes = info->bytes < sizeof buffer ? (size_t)info->bytes : sizeof buffer;
    rc = tamis__read_at(fd, buffer, bytes, 0, what);
    if (rc < 0) return rc;
    rc = tamis__header_check(buffer, bytes, info->bytes, &refusal);
    if (rc < 0)
        return tamis__fail(
            rc, "%s %s (at byte %" PRIu64 ")%s", what, refusal.reason, refusal.offset,
            rc == TAMIS_EVERSION ? "" : "; restore it from a copy, or drop the filter");
    const uint64_t found = tamis__get64(buffer + offsetof(struct tamis__segment_header, number));
    if (found != number)
        return tamis__fail(TAMIS_EFOREIGN,
                           "%s says that it is segment %" PRIu64
                           "; it was copied over another one, restore the right file",
                           what, found);
    return 0;
}

int tamis__segment_open(const struct tamis__place *place, uint64_t number, bool writable,
                        struct tamis__segment *segment)
{
    char what[PATH_BYTES], name[TAMIS__SEGMENT_NAME_BYTES];
    struct tamis__file_info info = {0};
    void *map = NULL;
    int fd = -1, rc;
    segment_path(place, number, what);
    tamis__segment_name(number, name);
    rc = tamis__open(place->segments_fd, name, writable ? O_RDWR : O_RDONLY, 0, what, &fd);
    if (rc == TAMIS_ENOTFOUND)
        return tamis__fail(
            TAMIS_ECORRUPT,
            "%s is missing, though the catalog has it; restore it from a copy, or drop "
            "the filter",
            what);
    if (rc < 0) return rc;
    rc = check_file(fd, number, what, &info);
    /* A copy may have come with holes; writing into one on a full disk would be a SIGBUS. */
    if (rc == 0 && writable && info.allocated_bytes < info.bytes)
        rc = tamis__allocate(fd, info.bytes, what);
    const uint64_t file_bytes = info.bytes;
    if (rc == 0) rc = tamis__map(fd, file_bytes, writable, what, &map);
    tamis__close(fd); /* the mapping outlives the descriptor */
    if (rc < 0) return rc;
    *segment =
        (struct tamis__segment){.header = map, .file_bytes = file_bytes, .writable = writable};
    segment->data = (uint64_t *)(void *)((char *)map + segment->header->data_offset);
    return 0;
}

void tamis__segment_close(struct tamis__segment *segment)
{
    tamis__unmap(segment->header, segment->file_bytes);
    *segment = (struct tamis__segment){0};
}

void tamis__segment_release(const struct tamis__segment *segment, uint64_t offset, uint64_t bytes)
{
    tamis__release_map((char *)segment->data + offset, bytes);
}

int tamis__segment_remove(const struct tamis__place *place, uint64_t number)
{
    char what[PATH_BYTES], name[TAMIS__SEGMENT_NAME_BYTES];
    segment_path(place, number, what);
    tamis__segment_name(number, name);
    return tamis__unlink(place->segments_fd, name, what);
}

int tamis__segment_sync(const struct tamis__place *place, const struct tamis__segment *segment)
{
    char what[PATH_BYTES];
    segment_path(place, segment->header->number, what);
    return tamis__sync_map(segment->header, segment->file_bytes, what);
}

int tamis__segment_relabel(const struct tamis__place *place, const struct tamis__segment *segment,
                           uint64_t sequence, const char *name)
{
    char what[PATH_BYTES];
    struct tamis__segment_header *header = segment->header;
    const struct tamis__name_label *current = tamis__label_current(header);
    if (current != NULL && current->sequence >= sequence) return 0;
    segment_path(place, header->number, what);
    tamis__label_write(&header->labels[current == &header->labels[0] ? 1 : 0], sequence, name);
    return tamis__sync_map(header, TAMIS__HEADER_BYTES, what);
}

void tamis__segment_raise_epoch(const struct tamis__segment *segment)
{
    /* ORDER release: pairs with tamis__segment_epoch; see there. */
    (void)__atomic_add_fetch(&segment->header->epoch, 1, __ATOMIC_RELEASE);
}

void tamis__segment_count(const struct tamis__segment *segment, uint64_t items)
{
    const int cpu = sched_getcpu(); /* a hint: any stripe is right, the own one is not contended */
    const size_t stripe = cpu < 0 ? 0 : (size_t)cpu % TAMIS__STRIPES;
    /* ORDER relaxed: additions lose nothing, and no reader infers other memory from a count. */
    (void)__atomic_fetch_add(&segment->header->items[stripe].items, items, __ATOMIC_RELAXED);
}

uint64_t tamis__segment_items(const struct tamis__segment *segment)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < TAMIS__STRIPES; i++) /* ORDER relaxed: as above */
        sum += __atomic_load_n(&segment->header->items[i].items, __ATOMIC_RELAXED);
    return sum;
}
