/* SPDX-License-Identifier: BSD-2-Clause */
/* segment.c: see segment.h for the life cycle and docs/format.md for the layout. */
#include "segment/segment.h"
#include "segment/broken.h"
#include "segment/live.h"
#include "segment/stage.h"

#include <assert.h>
#include <fcntl.h>
#include <unistd.h>

#include "os/inside.h"
#include "os/io.h"
#include "os/overlay.h"

#define PATH_BYTES TAMIS__SEGMENT_PATH_BYTES
#define FOLIO_BYTES_MAX ((uint64_t)2 << 20)

/* Watches the mapping, so that the constant part of the header outlives the page that it
 * is on (guard.h). */
static int watch(struct tamis__segment *segment, const struct tamis__segment_header *header,
                 const char *what)
{
    segment->guard = tamis__guard_of(segment->map);
    segment->kept = calloc(1, sizeof *segment->kept);
    if (segment->kept == NULL) {
        tamis__segment_close(segment);
        return tamis__fail_at(TAMIS_ENOMEM, what, "out of memory opening %s", what);
    }
    segment->kept->anew = true; /* other programs have read the file, it may be, as they like */
    memcpy(segment->kept->header, header, sizeof segment->kept->header);
    tamis__guard_keep(segment->guard, segment->kept->header);
    tamis__segment_choose_tail(segment);
    return 0;
}

int tamis__segment_map_staged(const struct tamis__place *place, const struct tamis__staged *staged,
                              const struct tamis__segment_header *header,
                              struct tamis__segment *segment)
{
    char what[PATH_BYTES];
    void *map = NULL;
    tamis__staged_path(place, staged, what);
    const uint64_t map_bytes = tamis__header_file_bytes_max(header);
    const int rc = tamis__map(staged->file.fd, map_bytes, true, what, &map);
    if (rc < 0) return rc;
    tamis__header_copy(map, header);
    *segment = tamis__segment_at(map, (char *)map + header->data_offset);
    segment->map_bytes = map_bytes;
    segment->writable = true;
    segment->place = place;
    segment->staged = staged;
    return watch(segment, header, what);
}

/* Reads what a file begins with, and checks it. */
static int read_header(int fd, const char *what, struct tamis__file_info *info,
                       struct tamis__segment_header *header, struct tamis__refusal *refusal)
{
    uint64_t buffer[TAMIS__HEADER_BYTES / 8];
    int rc = tamis__file_info(fd, what, info);
    if (rc < 0) return rc;
    const size_t bytes = (size_t)(info->bytes < sizeof buffer ? info->bytes : sizeof buffer);
    rc = tamis__read_at(fd, buffer, bytes, 0, what);
    if (rc < 0) return rc;
    /* The length is read once more, as the file may have grown: it includes every level that
     * the header has. */
    rc = tamis__file_info(fd, what, info);
    if (rc == 0) rc = tamis__header_check(buffer, bytes, info->bytes, refusal);
    if (rc == 0) memcpy(header, buffer, sizeof *header);
    return rc;
}

/* Reads and checks the header of an open segment file. */
static int check_file(int fd, uint64_t number, const char *what, struct tamis__file_info *info,
                      struct tamis__segment_header *header)
{
    struct tamis__refusal refusal = {0};
    const int rc = read_header(fd, what, info, header, &refusal);
    if (rc < 0 && refusal.reason[0] != '\0') {
        const char *mend =
            rc == TAMIS_EVERSION ? "" : "; restore it from a copy, or drop the filter";
        const struct tamis__fault fault = {
            .what = what, .offset = refusal.offset, .mend = *mend != '\0' ? mend + 2 : NULL};
        return tamis__fail_of(rc, &fault, "%s %s (at byte %" PRIu64 ")%s", what, refusal.reason,
                              refusal.offset, mend);
    }
    if (rc < 0) return rc;
    if (header->number != number)
        return tamis__fail_at(TAMIS_EFOREIGN, what,
                              "%s says that it is segment %" PRIu64
                              "; it was copied over another one, restore the right file",
                              what, header->number);
    return 0;
}

static int map_file(int fd, const struct tamis__segment_header *header, bool writable,
                    const char *what, struct tamis__segment *segment)
{
    const uint64_t bytes = tamis__header_file_bytes_max(header);
    void *map = NULL;
    const int rc = tamis__map(fd, bytes, writable, what, &map);
    if (rc < 0) return rc;
    *segment = tamis__segment_at(map, (char *)map + header->data_offset);
    segment->map_bytes = bytes;
    return 0;
}

/* Nobody dirties static data.  So what is not in memory comes in folios of 2 MiB, each mapped by
 * one entry (docs/decisions/0015-small-folios.md). */
static void advise_static(const struct tamis__segment *segment)
{
    const struct tamis__segment_header *h = segment->header;
    if (h->data_checksum == 0 || h->data_bytes < FOLIO_BYTES_MAX) return;
    tamis__advise_large(segment->data, (size_t)h->data_bytes);
    segment->kept->pages = TAMIS_PAGES_HUGE;
}

static int open_to_map(const struct tamis__place *place, uint64_t number, bool writable,
                       char what[PATH_BYTES], int *fd)
{
    char name[TAMIS__SEGMENT_NAME_BYTES];
    int rc = 0;
    *fd = -1;
    tamis__segment_path(place, number, what);
    tamis__segment_name(number, name);
    if (place->overlay && !writable) rc = tamis__overlay_copy_up(place->segments_fd, name, what);
    if (rc < 0) return rc;
    return tamis__segment_open_file(place, number, writable ? O_RDWR : O_RDONLY, what, fd);
}

int tamis__segment_open(const struct tamis__place *place, uint64_t number, bool writable,
                        struct tamis__segment *segment)
{
    char what[PATH_BYTES];
    struct tamis__segment_header header; /* as it was checked */
    struct tamis__file_info info = {0};
    int fd = -1, rc = open_to_map(place, number, writable, what, &fd);
    if (rc == TAMIS_ENOTFOUND)
        rc = tamis__fail_at(
            TAMIS_ECORRUPT, what,
            "%s is missing, though the catalog has it; restore it from a copy, or drop "
            "the filter",
            what);
    if (rc == 0) rc = check_file(fd, number, what, &info, &header);
    /* A copy may have come with holes; writing into one on a full disk would be a SIGBUS. */
    if (rc == 0 && writable && info.allocated_bytes < info.bytes)
        rc = tamis__fill_holes(fd, info.bytes, what);
    if (rc == 0) rc = map_file(fd, &header, writable, what, segment);
    tamis__close(fd); /* the mapping outlives the descriptor */
    if (rc < 0) return rc;
    segment->number = number;
    segment->writable = writable;
    segment->place = place;
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
    return tamis__fail_at(TAMIS_ENOMEM, what, "out of memory opening %s", what);
}

void tamis__segment_close(struct tamis__segment *segment)
{
    if (segment->owner != NULL) tamis__owner_free(*segment->owner);
    free(segment->owner);
    if (segment->writer != NULL) tamis__owner_free(segment->writer->owner);
    free(segment->writer);
    tamis__unmap(segment->map, segment->map_bytes);
    free(segment->kept);
    *segment = (struct tamis__segment){0};
}

static int open_private(const struct tamis__place *place, uint64_t number, char what[PATH_BYTES],
                        struct tamis__private_fd *file)
{
    char name[TAMIS__SEGMENT_NAME_BYTES];
    tamis__segment_path(place, number, what);
    tamis__segment_name(number, name);
    return tamis__inside_open_private(place->segments_fd, name, O_RDWR, what, file);
}

int tamis__segment_open_again(const struct tamis__segment *segment, char what[PATH_BYTES],
                              struct tamis__private_fd *file)
{
    if (segment->place == NULL)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "a segment without a file has no table and no locks");
    const int rc = open_private(segment->place, segment->header->number, what, file);
    if (rc == TAMIS_ENOTFOUND)
        return tamis__fail_at(TAMIS_EDROPPED, what,
                              "%s was dropped while it was open; close the filter", what);
    return rc;
}

int tamis__segment_extend(const struct tamis__segment *segment, uint64_t file_bytes)
{
    char what[PATH_BYTES];
    struct tamis__private_fd file;
    if (segment->staged != NULL) {
        tamis__staged_path(segment->place, segment->staged, what);
        return tamis__extend(segment->staged->file.fd, segment->header->file_bytes, file_bytes,
                             what);
    }
    struct tamis__file_info info = {0};
    int rc = tamis__segment_open_again(segment, what, &file);
    if (rc < 0) return rc;
    rc = tamis__file_info(file.fd, what, &info);
    if (rc == 0 && info.bytes < segment->header->file_bytes) /* a longer file would seem whole */
        rc = tamis__fail_at(TAMIS_ECORRUPT, what, "%s is truncated; restore it from a copy", what);
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
    return &segment->header->block_locks[block % tamis__header_block_locks(segment->header)];
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
    if (segment->place == NULL || h->data_checksum != 0 || offset >= h->data_bytes ||
        tamis__pages_are_huge(segment))
        return;
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
    char what[PATH_BYTES], name[TAMIS__SEGMENT_NAME_BYTES];
    tamis__segment_path(place, number, what);
    tamis__segment_name(number, name);
    return tamis__exists(place->segments_fd, name, what);
}

int tamis__segment_hold(const struct tamis__place *place, uint64_t number, int *fd)
{
    char what[PATH_BYTES];
    char name[TAMIS__SEGMENT_NAME_BYTES];
    tamis__segment_path(place, number, what);
    tamis__segment_name(number, name);
    return tamis__open(place->segments_fd, name, O_RDONLY, 0, what, fd);
}

int tamis__segment_remove(const struct tamis__place *place, uint64_t number)
{
    char what[PATH_BYTES], name[TAMIS__SEGMENT_NAME_BYTES];
    tamis__segment_path(place, number, what);
    tamis__segment_name(number, name);
    return tamis__unlink(place->segments_fd, name, what);
}

int tamis__segment_sync(const struct tamis__place *place, const struct tamis__segment *segment)
{
    char what[PATH_BYTES];
    tamis__segment_path(place, segment->header->number, what);
    return tamis__sync_map(segment->map, tamis__header_file_bytes(segment->header), what);
}

int tamis__segment_relabel(const struct tamis__place *place, const struct tamis__segment *segment,
                           uint64_t sequence, const char *name)
{
    struct tamis__segment_header *header = segment->header;
    const struct tamis__name_label *current = tamis__label_current(header);
    if (current != NULL && current->sequence >= sequence) return 0;
    if (header->compat_flags & ~TAMIS__COMPAT_KNOWN) return 0; /* not ours to write */
    tamis__label_write(&header->labels[current == &header->labels[0] ? 1 : 0], sequence, name);
    (void)place;
    return tamis__segment_sync_live(segment);
}

int tamis__segment_judge(const struct tamis__place *place, uint64_t number,
                         struct tamis__segment_header *header)
{
    char what[PATH_BYTES];
    struct tamis__file_info info = {0};
    int fd = -1;
    int rc = tamis__segment_open_file(place, number, O_RDONLY, what, &fd);
    if (rc == 0) rc = check_file(fd, number, what, &info, header);
    tamis__close(fd);
    return rc;
}

int tamis__segment_guard(const struct tamis__place *place, uint64_t number,
                         struct tamis__private_fd *guard)
{
    char what[PATH_BYTES];
    const int rc = guard->is_open ? 0 : open_private(place, number, what, guard);
    if (rc < 0) return rc;
    tamis__segment_path(place, number, what);
    return tamis__try_lock(guard->fd, TAMIS__LOCK_EXCLUSIVE, what);
}

uint64_t tamis__segment_items(const struct tamis__segment *segment)
{
    uint64_t stripes[TAMIS__STRIPES];
    for (uint32_t i = 0; i < segment->stripe_count; i++) /* ORDER relaxed: as above */
        stripes[i] = __atomic_load_n(&segment->stripes[i].items, __ATOMIC_RELAXED);
    return tamis__stripes_sum(stripes, segment->stripe_count, segment->header->counter_bits != 0);
}
