/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * populate.c: fills page tables before anybody reads, and makes folios (pages that the kernel keeps
 * together) before anybody writes.
 *
 * Writers use MADV_POPULATE_READ too, because MADV_POPULATE_WRITE dirties every page, and the next
 * sync would write the whole filter (docs/decisions/0016-mapping.md).
 */
#include <sys/mman.h>
#include <unistd.h>

#include "os/io.h"
#include "segment/broken.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14; a C library may be older than the kernel */
#endif

/* Bytes that are populated at once.  The step is short so that a signal is heeded soon, and so that
 * it is no more than the kernel reads for one call of tamis__want_map().  The rest of a greater
 * step would come by the kernel's readahead, in large folios. */
#define STEP_BYTES TAMIS__WANT_BYTES
#define AGAIN_MAX 100

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Touches each page, where the kernel has no MADV_POPULATE_READ.  A page that cannot be had breaks
 * the mapping (guard.h). */
static void touch(const char *at, uint64_t bytes, uint64_t page)
{
    for (uint64_t done = 0; done < bytes; done += page)
        (void)__atomic_load_n(at + done, __ATOMIC_RELAXED); /* ORDER: the value is not used */
}

/* Populates one step.  Returns 0, or the error that the kernel reports. */
static int populate_step(char *at, uint64_t bytes, const char *what)
{
    int error = tamis__may_fail("populate", what);
    for (int again = 0; error == 0 || error == EINTR || (error == EAGAIN && again < AGAIN_MAX);
         again++) {
        if (madvise(at, (size_t)bytes, MADV_POPULATE_READ) == 0) return 0;
        error = errno;
    }
    return error;
}

static int populate(void *map, uint64_t bytes, bool small_folios, const char *what)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    bool unknown = false;
    if (small_folios) tamis__want_map(map, bytes < STEP_BYTES ? bytes : STEP_BYTES);
    for (uint64_t done = 0, now; done < bytes; done += now) {
        char *at = (char *)map + done;
        now = bytes - done < STEP_BYTES ? bytes - done : STEP_BYTES;
        const uint64_t ahead = bytes - done - now; /* the disk reads them while these are mapped */
        if (small_folios && ahead > 0)
            tamis__want_map(at + now, ahead < STEP_BYTES ? ahead : STEP_BYTES);
        const int error = unknown ? EINVAL : populate_step(at, now, what);
        unknown = error == EINVAL;
        if (unknown)
            touch(at, now, page);
        else if (error == EFAULT || error == EHWPOISON)
            return tamis__fail_at(
                TAMIS_EIO, what,
                "a page of %s could not be read into memory: the disk fails (dmesg), "
                "or somebody truncated it",
                what);
        else if (error != 0)
            return tamis__fail_errno(error, "read into memory", what);
    }
    return 0;
}

/* Populates without the kernel's readahead, which the read of the header has begun and which
 * brings large folios. */
static int populate_small(void *map, uint64_t bytes, const char *what)
{
    (void)madvise(map, (size_t)bytes, MADV_RANDOM);
    const int rc = populate(map, bytes, true, what);
    (void)madvise(map, (size_t)bytes, MADV_NORMAL);
    return rc;
}

int tamis__segment_populate(const struct tamis__segment *segment)
{
    char what[TAMIS__SEGMENT_PATH_BYTES];
    const struct tamis__segment_header *h = segment->header;
    if (h == NULL || segment->place == NULL) return 0;
    tamis__segment_path(segment->place, segment->number, what);
    const uint64_t bytes = round_up(tamis__header_file_bytes(h), (uint64_t)sysconf(_SC_PAGESIZE));
    const int rc = h->data_checksum != 0 || tamis__pages_are_huge(segment)
                       ? populate(segment->map, bytes, false, what)
                       : populate_small(segment->map, bytes, what);
    return rc < 0 ? rc : tamis__segment_check(segment);
}
