/* SPDX-License-Identifier: BSD-2-Clause */
/* broken.c: checks that a mapping is not broken, and says what happened to one that is.  A mapping
 * is broken when the system could not give one of its pages (guard.h). */
#include "segment/broken.h"

#include <fcntl.h>

#include "os/guard.h"
#include "os/io.h"
#include "segment/stage.h"

#define PATH_BYTES TAMIS__SEGMENT_PATH_BYTES

#define MEND "; restore it from a copy, then open it again"

/* The header as it was, whatever has become of the file. */
static const struct tamis__segment_header *kept_header(const struct tamis__segment *segment)
{
    return (const void *)segment->kept->header;
}

/* Says what is wrong by looking at the file as it is now: the fault itself does not say why. */
static int fail_broken(const struct tamis__segment *segment, const char *what)
{
    char name[TAMIS__SEGMENT_NAME_BYTES];
    struct tamis__file_info info = {0};
    const uint64_t bytes = kept_header(segment)->file_bytes;
    tamis__segment_name(segment->number, name);
    int fd = -1, rc = tamis__open(segment->place->segments_fd, name, O_RDONLY, 0, what, &fd);
    if (rc == 0) rc = tamis__file_info(fd, what, &info);
    tamis__close(fd);
    if (rc == 0 && info.bytes < bytes)
        return tamis__fail_at(TAMIS_ECORRUPT, what,
                              "%s was truncated by somebody else while it was open: it has %" PRIu64
                              " bytes of %" PRIu64 MEND,
                              what, info.bytes, bytes);
    return tamis__fail_at(
        TAMIS_EIO, what,
        "the system could not give a page of %s: it was truncated for a while, the disk is "
        "full, or it fails (dmesg); see to that, then open the filter again and run "
        "'tamis verify'",
        what);
}

static uint64_t load_word_relaxed(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED); /* ORDER: as tamis__segment_is_whole() */
}

void tamis__segment_choose_tail(struct tamis__segment *segment)
{
    const struct tamis__segment_header *h = kept_header(segment);
    const uint64_t end = h->data_offset + h->data_bytes, page = (end - 1) / 4096 * 4096;
    const uint64_t first = page > h->data_offset ? (page - h->data_offset) / 8 : 0;
    const uintptr_t now = __atomic_load_n(&segment->tail, __ATOMIC_RELAXED);
    uint64_t at = h->data_bytes / 8 - 1;
    if ((now & TAMIS__TAIL_SET) != 0 &&
        (tamis__header_is_one_page(h) || !tamis__segment_is_whole(segment)))
        return; /* a broken one keeps its tail */
    if (tamis__header_is_one_page(h)) {
        const uintptr_t word = (uintptr_t)segment->map + TAMIS__ONE_PAGE_END;
        __atomic_store_n(&segment->tail, word | TAMIS__TAIL_SET, __ATOMIC_RELAXED);
        return;
    }
    while (at > first && load_word_relaxed(&segment->data[at]) == 0)
        at--;
    const bool set = h->counter_bits == 0 && load_word_relaxed(&segment->data[at]) != 0;
    __atomic_store_n(&segment->tail, (uintptr_t)&segment->data[at] | (set ? TAMIS__TAIL_SET : 0),
                     __ATOMIC_RELAXED);
}

bool tamis__segment_is_cut(const struct tamis__segment *segment)
{
    const uint64_t *end =
        (const uint64_t *)(const void *)((char *)segment->map + TAMIS__ONE_PAGE_END);
    if (segment->guard != NULL && tamis__header_is_one_page(kept_header(segment)) &&
        load_word_relaxed(end) != TAMIS__MAGIC_WORD)
        (void)tamis_sigbus_mend(segment->map);
    return false;
}

int tamis__segment_check(const struct tamis__segment *segment)
{
    char what[PATH_BYTES], name[TAMIS__SEGMENT_NAME_BYTES] = "";
    if (segment->guard == NULL) return 0;
    const bool staged = segment->staged != NULL;
    const bool whole = staged || tamis__segment_is_whole(segment); /* this may break it */
    const bool broken = tamis__guard_is_broken(segment->guard);
    if (whole && !broken) return 0;
    if (!staged) tamis__segment_name(segment->number, name);
    (void)snprintf(what, sizeof what, "%s/%s/%s", segment->place->path,
                   staged ? "staging" : "segments", staged ? segment->staged->name : name);
    if (broken && !staged) return fail_broken(segment, what);
    if (broken)
        return tamis__fail_at(
            TAMIS_EIO, what,
            "the system could not give a page of %s: the disk is full, or it fails "
            "(dmesg), or somebody truncated it",
            what);
    return tamis__fail_at(TAMIS_ECORRUPT, what,
                          "%s was overwritten by somebody else while it was open" MEND, what);
}
