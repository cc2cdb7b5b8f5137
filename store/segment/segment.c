/* SPDX-License-Identifier: BSD-2-Clause */
/* segment.c: see segment.h for the life cycle and docs/format.md for the layout. */
#include "segment/segment.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "os/inside.h"
#include "os/io.h"
#include "os/overlay.h"
#include "segment/points.h"

#define PATH_BYTES TAMIS__SEGMENT_PATH_BYTES
#define FOLIO_BYTES_MAX ((uint64_t)2 << 20)

/* Removes one staged file if its maker is dead, that is, if nobody holds its lock. */
static int sweep_one(void *context, const char *name)
{
    const struct tamis__place *place = context;
    struct tamis__private_fd file;
    if (tamis__private_open(place->staging_fd, name, O_RDWR, 0, name, &file) < 0) return 0;
    if (tamis__try_lock(file.fd, TAMIS__LOCK_EXCLUSIVE, name) == 1)
        (void)tamis__unlink(place->staging_fd, name, name);
    tamis__private_close(&file);
    return 0; /* what cannot be removed now stays for the next maker; it does no harm */
}

/* Makes a new locked file in staging/.  Returns 1, or 0 if a sweeper took the file between our open
 * and our lock. */
static int stage_one(const struct tamis__place *place, const char *what,
                     struct tamis__staged *staged)
{
    int rc = tamis__inside_make_private(place->root_fd, place->staging_fd, staged->name, what,
                                        &staged->file);
    if (rc < 0) return rc;
    rc = tamis__try_lock(staged->file.fd, TAMIS__LOCK_EXCLUSIVE, what); /* one may be stopped */
    if (rc > 0) rc = tamis__exists(place->staging_fd, staged->name, what);
    if (rc == 0) tamis__private_close(&staged->file);
    return rc;
}

static void staged_path(const struct tamis__place *place, const struct tamis__staged *staged,
                        char path[PATH_BYTES])
{
    (void)snprintf(path, PATH_BYTES, "%s/staging/%s", place->path, staged->name);
}

/*
 * For a new file without data.  Some file systems (btrfs) write a changed page to a new place;
 * this asks them not to.  Otherwise each rewrite would need new room although room was allocated,
 * and a full disk would show itself when a mapping is written to.  It is a hint: on other file
 * systems it does nothing.
 */
static void write_in_place(int fd)
{
    int flags = 0;
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return;
    flags |= FS_NOCOW_FL;
    (void)ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

int tamis__segment_stage(const struct tamis__place *place, uint64_t file_bytes,
                         struct tamis__staged *staged)
{
    char what[PATH_BYTES];
    struct tamis__file_info info;
    uint64_t random;
    int rc;
    *staged = (struct tamis__staged){.file = {.fd = -1}};
    (void)snprintf(what, sizeof what, "%s/staging", place->path);
    (void)tamis__each_name(place->staging_fd, what, sweep_one,
                           (void *)(uintptr_t)(const void *)place);
    do {
        tamis__random_bytes(&random, sizeof random);
        (void)snprintf(staged->name, sizeof staged->name, "%016" PRIx64 ".seg", random);
        staged_path(place, staged, what);
        rc = stage_one(place, what, staged);
    } while (rc == 0);
    if (rc > 0) write_in_place(staged->file.fd);
    if (rc > 0) rc = tamis__allocate(staged->file.fd, file_bytes, what);
    if (rc == 0) rc = tamis__file_info(staged->file.fd, what, &info);
    if (rc == 0 && info.bytes != file_bytes)
        rc = tamis__fail(TAMIS_EIO, "%s was not allocated in full by the file system", what);
    if (rc < 0) tamis__segment_discard(place, staged);
    TAMIS__POINT(TAMIS__POINT_STAGED);
    return rc;
}

int tamis__segment_publish(const struct tamis__place *place, struct tamis__staged *staged,
                           struct tamis__segment_header *header)
{
    char what[PATH_BYTES];
    int rc;
    const char *name = tamis__segment_path(place, header->number, what);
    tamis__header_seal(header);
    rc = tamis__write_at(staged->file.fd, header, sizeof *header, 0, what);
    if (rc == 0) rc = tamis__sync_file(staged->file.fd, what);
    if (rc == 0)
        rc = tamis__rename(place->staging_fd, staged->name, place->segments_fd, name, what);
    if (rc < 0) return rc;
    tamis__private_close(&staged->file);
    TAMIS__POINT(TAMIS__POINT_RENAMED);
    rc = tamis__sync_file(place->segments_fd, what);
    if (rc < 0) (void)tamis__unlink(place->segments_fd, name, what);
    return rc;
}

int tamis__segment_fill(const struct tamis__place *place, const struct tamis__staged *staged,
                        uint64_t offset, const void *bytes, size_t count)
{
    char what[PATH_BYTES];
    staged_path(place, staged, what);
    return tamis__write_at(staged->file.fd, bytes, count, offset, what);
}

/* Watches the mapping, so that the constant part of the header outlives the page that it
 * is on (guard.h). */
static int watch(struct tamis__segment *segment, const struct tamis__segment_header *header,
                 const char *what)
{
    segment->guard = tamis__guard_of(segment->header);
    segment->kept = malloc(TAMIS__GUARD_KEPT_BYTES);
    if (segment->kept == NULL) {
        tamis__segment_close(segment);
        return tamis__fail(TAMIS_ENOMEM, "out of memory opening %s", what);
    }
    memcpy(segment->kept, header, TAMIS__GUARD_KEPT_BYTES);
    tamis__guard_keep(segment->guard, segment->kept);
    tamis__segment_choose_tail(segment);
    return 0;
}

int tamis__segment_map_staged(const struct tamis__place *place, const struct tamis__staged *staged,
                              const struct tamis__segment_header *header,
                              struct tamis__segment *segment)
{
    char what[PATH_BYTES];
    void *map = NULL;
    staged_path(place, staged, what);
    const uint64_t map_bytes = tamis__header_file_bytes_max(header);
    const int rc = tamis__map(staged->file.fd, map_bytes, true, what, &map);
    if (rc < 0) return rc;
    memcpy(map, header, sizeof *header);
    *segment = (struct tamis__segment){
        .header = map, .map_bytes = map_bytes, .writable = true, .place = place, .staged = staged};
    segment->data = (uint64_t *)(void *)((char *)map + header->data_offset);
    return watch(segment, header, what);
}

int tamis__segment_write_out(const struct tamis__place *place, const struct tamis__staged *staged,
                             uint64_t offset, uint64_t bytes)
{
    char what[PATH_BYTES];
    staged_path(place, staged, what);
    tamis__start_writing(staged->file.fd, offset + bytes, bytes);
    return tamis__write_out(staged->file.fd, offset, bytes, what);
}

int tamis__segment_sync_staged(const struct tamis__place *place, const struct tamis__staged *staged)
{
    char what[PATH_BYTES];
    staged_path(place, staged, what);
    return tamis__sync_file(staged->file.fd, what);
}

void tamis__segment_discard(const struct tamis__place *place, struct tamis__staged *staged)
{
    if (!staged->file.is_open) return;
    (void)tamis__unlink(place->staging_fd, staged->name, staged->name);
    tamis__private_close(&staged->file);
}

/* Reads and checks the header of an open segment file. */
static int check_file(int fd, uint64_t number, const char *what, struct tamis__file_info *info,
                      struct tamis__segment_header *header)
{
    unsigned char buffer[TAMIS__HEADER_BYTES];
    struct tamis__refusal refusal;
    int rc = tamis__file_info(fd, what, info);
    if (rc < 0) return rc;
    const size_t bytes = info->bytes < sizeof buffer ? (size_t)info->bytes : sizeof buffer;
    rc = tamis__read_at(fd, buffer, bytes, 0, what);
    if (rc < 0) return rc;
    /* The length is read once more, as the file may have grown: it includes every level that
     * the header has. */
    rc = tamis__file_info(fd, what, info);
    if (rc < 0) return rc;
    rc = tamis__header_check(buffer, bytes, info->bytes, &refusal);
    if (rc < 0)
        return tamis__fail(
            rc, "%s %s (at byte %" PRIu64 ")%s", what, refusal.reason, refusal.offset,
            rc == TAMIS_EVERSION ? "" : "; restore it from a copy, or drop the filter");
    memcpy(header, buffer, sizeof *header);
    if (header->number != number)
        return tamis__fail(TAMIS_EFOREIGN,
                           "%s says that it is segment %" PRIu64
                           "; it was copied over another one, restore the right file",
                           what, header->number);
    return 0;
}

/* Nobody dirties static data.  So what is not in memory comes in folios of 2 MiB, each mapped by
 * one entry (docs/decisions/0015-small-folios.md). */
static void advise_static(const struct tamis__segment *segment)
{
    const struct tamis__segment_header *h = segment->header;
    if (h->data_checksum != 0 && h->data_bytes >= FOLIO_BYTES_MAX)
        tamis__advise_large(segment->data, (size_t)h->data_bytes);
}

int tamis__segment_open(const struct tamis__place *place, uint64_t number, bool writable,
                        struct tamis__segment *segment)
{
    char what[PATH_BYTES];
    struct tamis__segment_header header; /* as it was checked */
    struct tamis__file_info info = {0};
    void *map = NULL;
    int fd = -1, rc;
    const char *name = tamis__segment_path(place, number, what);
    rc = place->overlay && !writable ? tamis__overlay_copy_up(place->segments_fd, name, what) : 0;
    if (rc == 0)
        rc = tamis__inside_open(place->segments_fd, name, writable ? O_RDWR : O_RDONLY, what, &fd);
    if (rc == TAMIS_ENOTFOUND)
        return tamis__fail(
            TAMIS_ECORRUPT,
            "%s is missing, though the catalog has it; restore it from a copy, or drop "
            "the filter",
            what);
    if (rc < 0) return rc;
    rc = check_file(fd, number, what, &info, &header);
    /* A copy may have come with holes; writing into one on a full disk would be a SIGBUS. */
    if (rc == 0 && writable && info.allocated_bytes < info.bytes)
        rc = tamis__fill_holes(fd, info.bytes, what);
    if (rc == 0) rc = tamis__map(fd, tamis__header_file_bytes_max(&header), writable, what, &map);
    tamis__close(fd); /* the mapping outlives the descriptor */
    if (rc < 0 || map == NULL) return rc;
    *segment = (struct tamis__segment){.header = map,
                                       .map_bytes = tamis__header_file_bytes_max(&header),
                                       .number = number,
                                       .writable = writable,
                                       .place = place};
    segment->data = (uint64_t *)(void *)((char *)map + header.data_offset);
    rc = watch(segment, &header, what);
    if (rc == 0) rc = tamis__segment_check(segment); /* the mapped file is the checked one */
    if (rc < 0) {
        tamis__segment_close(segment);
        return rc;
    }
    advise_static(segment);
    if (!writable) return 0;
    segment->writer = calloc(1, sizeof *segment->writer);
    if (header.counter_bits != 0) segment->owner = calloc(1, sizeof(struct tamis__owner *));
    if (segment->writer != NULL && (header.counter_bits == 0 || segment->owner != NULL)) return 0;
    tamis__segment_close(segment);
    return tamis__fail(TAMIS_ENOMEM, "out of memory opening %s", what);
}

void tamis__segment_close(struct tamis__segment *segment)
{
    if (segment->owner != NULL) tamis__owner_free(*segment->owner);
    free(segment->owner);
    if (segment->writer != NULL) tamis__owner_free(segment->writer->owner);
    free(segment->writer);
    tamis__unmap(segment->header, segment->map_bytes);
    free(segment->kept);
    *segment = (struct tamis__segment){0};
}

int tamis__segment_open_again(const struct tamis__segment *segment, char what[PATH_BYTES],
                              struct tamis__private_fd *file)
{
    if (segment->place == NULL)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "a segment without a file has no table and no locks");
    const char *name = tamis__segment_path(segment->place, segment->header->number, what);
    const int rc =
        tamis__inside_open_private(segment->place->segments_fd, name, O_RDWR, what, file);
    if (rc == TAMIS_ENOTFOUND)
        return tamis__fail(TAMIS_EDROPPED, "%s was dropped while it was open; close the filter",
                           what);
    return rc;
}

int tamis__segment_extend(const struct tamis__segment *segment, uint64_t file_bytes)
{
    char what[PATH_BYTES];
    struct tamis__private_fd file;
    if (segment->staged != NULL) {
        staged_path(segment->place, segment->staged, what);
        return tamis__extend(segment->staged->file.fd, segment->header->file_bytes, file_bytes,
                             what);
    }
    struct tamis__file_info info = {0};
    int rc = tamis__segment_open_again(segment, what, &file);
    if (rc < 0) return rc;
    rc = tamis__file_info(file.fd, what, &info);
    if (rc == 0 && info.bytes < segment->header->file_bytes) /* a longer file would seem whole */
        rc = tamis__fail(TAMIS_ECORRUPT, "%s is truncated; restore it from a copy", what);
    if (rc == 0) rc = tamis__extend(file.fd, segment->header->file_bytes, file_bytes, what);
    /* Sync before the header says that the file is so long: after a power cut it would else be
     * taken for truncated. */
    if (rc == 0) rc = tamis__sync_file(file.fd, what);
    tamis__private_close(&file);
    return rc;
}

int tamis__segment_file_bytes(const struct tamis__segment *segment, uint64_t *file_bytes)
{
    char what[PATH_BYTES];
    struct tamis__private_fd file;
    struct tamis__file_info info = {0};
    int rc = tamis__segment_open_again(segment, what, &file);
    if (rc < 0) return rc;
    rc = tamis__file_info(file.fd, what, &info);
    tamis__private_close(&file);
    *file_bytes = info.bytes;
    return rc;
}

static uint64_t *lock_of(const struct tamis__segment *segment, uint64_t block)
{
    return &segment->header->block_locks[block % TAMIS__BLOCK_LOCKS];
}

/* Makes the handle an owner of locks, at its first remove, and again at the first one in a
 * child of fork(). */
static int become_owner(const struct tamis__segment *segment, struct tamis__owner **owner)
{
    char what[PATH_BYTES];
    struct tamis__owner *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory for a lock");
    int rc = tamis__segment_open_again(segment, what, &fresh->file);
    if (rc == 0) rc = tamis__owner_announce(fresh, segment->header->block_locks, what);
    if (rc == 0) {
        *owner = tamis__owner_enter(segment->owner, fresh);
        return 0;
    }
    tamis__owner_free(fresh);
    return rc;
}

int tamis__segment_lock_block(const struct tamis__segment *segment, uint64_t block)
{
    struct tamis__owner *owner = segment->owner ? tamis__owner_current(segment->owner) : NULL;
    if (owner == NULL) {
        const int rc = become_owner(segment, &owner);
        if (rc < 0) return rc;
    }
    return tamis__owner_lock(owner, lock_of(segment, block));
}

void tamis__segment_unlock_block(const struct tamis__segment *segment, uint64_t block)
{
    tamis__owner_unlock(lock_of(segment, block));
}

void tamis__segment_want(const struct tamis__segment *segment, uint64_t offset, uint64_t bytes)
{
    const struct tamis__segment_header *h = segment->header;
    if (segment->place == NULL || h->data_checksum != 0 || offset >= h->data_bytes) return;
    if (bytes > h->data_bytes - offset) bytes = h->data_bytes - offset;
    tamis__want_map((char *)segment->data + offset, bytes);
}

void tamis__segment_release(const struct tamis__segment *segment, uint64_t offset, uint64_t bytes)
{
    /* Behind the file's mapping lies memory that would lose its contents. */
    assert(offset <= segment->header->data_bytes && bytes <= segment->header->data_bytes - offset);
    if (segment->guard == NULL) return; /* plain memory would lose all of its contents */
    /* Where a folio is mapped by one entry of 2 MiB, a touch of the page that two pieces share
     * brings back what was released with the first piece.  So that part is released once more. */
    const uint64_t again = offset < FOLIO_BYTES_MAX ? offset : FOLIO_BYTES_MAX;
    tamis__release_map((char *)segment->data + offset - again, bytes + again);
}

bool tamis__segment_is_blank(const struct tamis__segment *segment)
{
    const uint64_t words = segment->header->data_bytes / 8;
    for (uint64_t i = 0; i < words; i++) { /* ORDER relaxed: nothing else is inferred from a bit */
        if (i % TAMIS__WANT_WORDS == 0) tamis__segment_want(segment, i * 8, TAMIS__WANT_BYTES);
        if (__atomic_load_n(&segment->data[i], __ATOMIC_RELAXED) != 0) return false;
    }
    return true;
}

int tamis__segment_vacate(const struct tamis__place *place, uint64_t number, uint64_t *filter_id)
{
    struct tamis__segment segment = {0};
    int rc = tamis__segment_exists(place, number);
    if (rc <= 0) return rc < 0 ? rc : 1;
    if (tamis__segment_open(place, number, false, &segment) < 0 || segment.header == NULL)
        return 0; /* not ours to remove */
    const bool unused = tamis__segment_items(&segment) == 0 && tamis__segment_is_blank(&segment) &&
                        tamis__segment_check(&segment) == 0;
    *filter_id = segment.header->filter_id;
    tamis__segment_close(&segment);
    if (!unused) return 0;
    rc = tamis__segment_remove(place, number);
    return rc < 0 ? rc : 1;
}

int tamis__segment_exists(const struct tamis__place *place, uint64_t number)
{
    char what[PATH_BYTES];
    const char *name = tamis__segment_path(place, number, what);
    return tamis__exists(place->segments_fd, name, what);
}

int tamis__segment_hold(const struct tamis__place *place, uint64_t number, int *fd)
{
    char what[PATH_BYTES];
    const char *name = tamis__segment_path(place, number, what);
    return tamis__open(place->segments_fd, name, O_RDONLY, 0, what, fd);
}

int tamis__segment_remove(const struct tamis__place *place, uint64_t number)
{
    char what[PATH_BYTES];
    const char *name = tamis__segment_path(place, number, what);
    return tamis__unlink(place->segments_fd, name, what);
}

int tamis__segment_sync(const struct tamis__place *place, const struct tamis__segment *segment)
{
    char what[PATH_BYTES];
    tamis__segment_path(place, segment->header->number, what);
    return tamis__sync_map(segment->header, tamis__header_file_bytes(segment->header), what);
}

int tamis__segment_relabel(const struct tamis__place *place, const struct tamis__segment *segment,
                           uint64_t sequence, const char *name)
{
    struct tamis__segment_header *header = segment->header;
    const struct tamis__name_label *current = tamis__label_current(header);
    if (current != NULL && current->sequence >= sequence) return 0;
    if (header->compat_flags & ~TAMIS__COMPAT_KNOWN) return 0; /* not ours to write */
    tamis__label_write(&header->labels[current == &header->labels[0] ? 1 : 0], sequence, name);
    return tamis__segment_sync_header(place, header);
}

int tamis__segment_judge(const struct tamis__place *place, uint64_t number,
                         struct tamis__segment_header *header)
{
    char what[PATH_BYTES];
    struct tamis__file_info info = {0};
    int fd = -1;
    const char *name = tamis__segment_path(place, number, what);
    int rc = tamis__inside_open(place->segments_fd, name, O_RDONLY, what, &fd);
    if (rc == 0) rc = check_file(fd, number, what, &info, header);
    tamis__close(fd);
    return rc;
}

int tamis__segment_guard(const struct tamis__place *place, uint64_t number,
                         struct tamis__private_fd *guard)
{
    char what[PATH_BYTES];
    const char *name = tamis__segment_path(place, number, what);
    int rc = guard->is_open
                 ? 0
                 : tamis__inside_open_private(place->segments_fd, name, O_RDWR, what, guard);
    return rc < 0 ? rc : tamis__try_lock(guard->fd, TAMIS__LOCK_EXCLUSIVE, what);
}

uint64_t tamis__segment_items(const struct tamis__segment *segment)
{
    uint64_t stripes[TAMIS__STRIPES];
    for (size_t i = 0; i < TAMIS__STRIPES; i++) /* ORDER relaxed: as above */
        stripes[i] = __atomic_load_n(&segment->header->items[i].items, __ATOMIC_RELAXED);
    return tamis__stripes_sum(stripes, segment->header->counter_bits != 0);
}
