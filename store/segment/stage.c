/* SPDX-License-Identifier: BSD-2-Clause */
/* stage.c: files on their way into segments/, which have no name there yet; see segment.h. */
#include "segment/stage.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "os/inside.h"
#include "os/io.h"
#include "segment/huge.h"
#include "segment/points.h"
#include "segment/sums.h"

#define PATH_BYTES TAMIS__SEGMENT_PATH_BYTES

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

void tamis__staged_path(const struct tamis__place *place, const struct tamis__staged *staged,
                        char path[PATH_BYTES])
{
    (void)snprintf(path, PATH_BYTES, "%s/staging/%s", place->path, staged->name);
}

/* Makes a new locked file in staging/.  Returns 1, or 0 if a sweeper took the file between our open
 * and our lock. */
static int stage_one(const struct tamis__place *place, const char *what,
                     struct tamis__staged *staged)
{
    char path[PATH_BYTES];
    int rc = tamis__inside_make_private(place->root_fd, place->staging_fd, staged->name, what,
                                        &staged->file);
    if (rc < 0) return rc;
    tamis__staged_path(place, staged, path);
    rc = tamis__try_lock(staged->file.fd, TAMIS__LOCK_EXCLUSIVE, path); /* one may be stopped */
    if (rc > 0) rc = tamis__exists(place->staging_fd, staged->name, what);
    if (rc == 0) tamis__private_close(&staged->file);
    return rc;
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

int tamis__segment_stage_more(const struct tamis__place *place, uint64_t file_bytes,
                              const char *what, struct tamis__staged *staged)
{
    struct tamis__file_info info;
    uint64_t random;
    int rc;
    *staged = (struct tamis__staged){.file = {.fd = -1}};
    do {
        tamis__random_bytes(&random, sizeof random);
        (void)snprintf(staged->name, sizeof staged->name, "%016" PRIx64 ".seg", random);
        rc = stage_one(place, what, staged);
    } while (rc == 0);
    if (rc > 0) write_in_place(staged->file.fd);
    if (rc > 0) rc = tamis__allocate(staged->file.fd, file_bytes, what);
    if (rc == 0) rc = tamis__file_info(staged->file.fd, what, &info);
    if (rc == 0 && info.bytes != file_bytes)
        rc = tamis__fail_at(TAMIS_EIO, what, "%s was not allocated in full by the file system",
                            what);
    if (rc < 0) tamis__segment_discard(place, staged);
    TAMIS__POINT(TAMIS__POINT_STAGED);
    return rc;
}

int tamis__segment_stage(const struct tamis__place *place, uint64_t file_bytes, const char *what,
                         struct tamis__staged *staged)
{
    char directory[PATH_BYTES];
    (void)snprintf(directory, sizeof directory, "%s/staging", place->path);
    (void)tamis__each_name(place->staging_fd, directory, sweep_one,
                           (void *)(uintptr_t)(const void *)place);
    return tamis__segment_stage_more(place, file_bytes, what, staged);
}

int tamis__header_write(int fd, const struct tamis__segment_header *header, const char *what)
{
    const bool one_page = tamis__header_is_one_page(header);
    int rc = tamis__write_at(fd, header, header->header_bytes, 0, what);
    if (rc == 0 && one_page)
        rc = tamis__write_at(fd, (const char *)header + TAMIS__ONE_PAGE_END, 8, TAMIS__ONE_PAGE_END,
                             what);
    return rc;
}

int tamis__segment_write_header(const struct tamis__place *place,
                                const struct tamis__staged *staged,
                                struct tamis__segment_header *header)
{
    char what[PATH_BYTES];
    tamis__segment_path(place, header->number, what);
    tamis__header_seal(header);
    const int rc = tamis__sums_stage_head(staged, header, what);
    return rc < 0 ? rc : tamis__header_write(staged->file.fd, header, what);
}

int tamis__segment_take_name(const struct tamis__place *place, struct tamis__staged *staged,
                             uint64_t number)
{
    char what[PATH_BYTES], name[TAMIS__SEGMENT_NAME_BYTES];
    tamis__segment_path(place, number, what);
    tamis__segment_name(number, name);
    const int rc = tamis__rename(place->staging_fd, staged->name, place->segments_fd, name, what);
    if (rc < 0) return rc;
    tamis__private_close(&staged->file);
    TAMIS__POINT(TAMIS__POINT_RENAMED);
    return 0;
}

int tamis__segment_publish(const struct tamis__place *place, struct tamis__staged *staged,
                           struct tamis__segment_header *header)
{
    char what[PATH_BYTES], name[TAMIS__SEGMENT_NAME_BYTES];
    tamis__segment_path(place, header->number, what);
    tamis__segment_name(header->number, name);
    int rc = tamis__segment_write_header(place, staged, header);
    if (rc == 0) rc = tamis__sync_file(staged->file.fd, what);
    if (rc == 0) rc = tamis__segment_take_name(place, staged, header->number);
    if (rc < 0) return rc;
    rc = tamis__sync_file(place->segments_fd, what);
    if (rc < 0) (void)tamis__unlink(place->segments_fd, name, what);
    return rc;
}

int tamis__segments_sync_names(const struct tamis__place *place)
{
    return tamis__sync_file(place->segments_fd, place->path);
}

int tamis__segment_fill(const struct tamis__place *place, const struct tamis__staged *staged,
                        uint64_t offset, const void *bytes, size_t count)
{
    char what[PATH_BYTES];
    tamis__staged_path(place, staged, what);
    return tamis__write_at(staged->file.fd, bytes, count, offset, what);
}

void tamis__segment_large_folios(const struct tamis__staged *staged, uint64_t offset,
                                 uint64_t bytes)
{
    tamis__file_huge(staged->file.fd, offset, bytes);
}

int tamis__segment_write_out(const struct tamis__place *place, const struct tamis__staged *staged,
                             uint64_t offset, uint64_t bytes)
{
    char what[PATH_BYTES];
    tamis__staged_path(place, staged, what);
    tamis__start_writing(staged->file.fd, offset + bytes, bytes);
    return tamis__write_out(staged->file.fd, offset, bytes, what);
}

int tamis__segment_sync_staged(const struct tamis__place *place, struct tamis__staged *staged,
                               const struct tamis__segment_header *header)
{
    char what[PATH_BYTES];
    tamis__staged_path(place, staged, what);
    const int rc = tamis__sums_stage(staged, header, what);
    return rc < 0 ? rc : tamis__sync_file(staged->file.fd, what);
}

void tamis__segment_discard(const struct tamis__place *place, struct tamis__staged *staged)
{
    if (!staged->file.is_open) return;
    (void)tamis__unlink(place->staging_fd, staged->name, staged->name);
    tamis__private_close(&staged->file);
}
