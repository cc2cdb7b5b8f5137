/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live.c: the live words in the header of a segment, which others may have open: its epoch, which
 * sends them to the catalog, and `next`, which says where the list of segments goes on.  The words
 * are read and changed in a mapping of the header alone.  It is no error if the segment is gone.
 */
#include "segment/live.h"

#include <fcntl.h>
#include <unistd.h>

#include "os/io.h"

#define PATH_BYTES TAMIS__SEGMENT_PATH_BYTES

static int map_header(int fd, const char *what, struct tamis__live_map *words)
{
    struct tamis__file_info info = {0};
    int rc = tamis__file_info(fd, what, &info);
    words->map_bytes = TAMIS__HEADER_BYTES;
    if (rc < 0 || info.bytes < TAMIS__HEADER_BYTES) return rc;
    rc = tamis__map_part(fd, 0, words->map_bytes, true, what, &words->map);
    if (rc < 0) return rc;
    struct tamis__segment_header *header = words->map;
    words->live = &header->live;
    words->created_at = header->created_at;
    return 0;
}

int tamis__live_map(const struct tamis__place *place, uint64_t number,
                    struct tamis__live_map *words)
{
    char what[PATH_BYTES];
    int fd;
    *words = (struct tamis__live_map){.live = NULL};
    int rc = tamis__segment_open_file(place, number, O_RDWR, what, &fd);
    if (rc == TAMIS_ENOTFOUND) return 0;
    if (rc == 0) rc = map_header(fd, what, words);
    tamis__close(fd);
    return rc;
}

void tamis__live_unmap(struct tamis__live_map *words)
{
    tamis__unmap(words->map, words->map_bytes);
}

int tamis__live_sync(const struct tamis__place *place, uint64_t number,
                     const struct tamis__live_map *words)
{
    char what[PATH_BYTES];
    tamis__segment_path(place, number, what);
    return tamis__sync_map(words->map, words->map_bytes, what);
}

int tamis__segment_sync_live(const struct tamis__segment *segment)
{
    char what[PATH_BYTES];
    tamis__segment_path(segment->place, segment->number, what);
    return tamis__sync_map(segment->map, TAMIS__HEADER_BYTES, what);
}

int tamis__segment_peek(const struct tamis__place *place, uint64_t number,
                        struct tamis__segment_header *header)
{
    char what[PATH_BYTES];
    int fd = -1;
    int rc = tamis__segment_open_file(place, number, O_RDONLY, what, &fd);
    if (rc == 0) rc = tamis__read_at(fd, header, sizeof *header, 0, what);
    tamis__close(fd);
    return rc;
}

int tamis__segment_raise_epoch(const struct tamis__place *place, uint64_t number)
{
    struct tamis__live_map words;
    const int rc = tamis__live_map(place, number, &words);
    if (rc < 0 || words.live == NULL) return rc;
    /* ORDER release: pairs with tamis__segment_epoch; see there. */
    (void)__atomic_add_fetch(&words.live->epoch, 1, __ATOMIC_RELEASE);
    tamis__live_unmap(&words);
    return 0;
}

int tamis__segment_tell(const struct tamis__place *place, uint64_t number, size_t offset,
                        uint64_t value)
{
    struct tamis__live_map words;
    const int rc = tamis__live_map(place, number, &words);
    if (rc < 0 || words.live == NULL) return rc;
    /* ORDER seq_cst, for the reason that tamis__segment_leave() gives. */
    __atomic_store_n((uint64_t *)(void *)((char *)words.live + offset), value, __ATOMIC_SEQ_CST);
    tamis__live_unmap(&words);
    return 0;
}

int tamis__segment_stay(const struct tamis__place *place, uint64_t number)
{
    struct tamis__live_map words;
    const int rc = tamis__live_map(place, number, &words);
    if (rc < 0 || words.live == NULL) return rc;
    uint64_t *next = &words.live->next;
    uint64_t is = __atomic_load_n(next, __ATOMIC_RELAXED);
    /* ORDER seq_cst: as tamis__segment_leave. */
    while (is != 0 && is != TAMIS__NEXT_REFUSE &&
           !__atomic_compare_exchange_n(next, &is, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        continue;
    tamis__live_unmap(&words);
    return 0;
}

void tamis__segment_leave(const struct tamis__segment *segment, uint64_t next)
{
    uint64_t *place = &segment->live->next;
    uint64_t is = __atomic_load_n(place, __ATOMIC_RELAXED);
    /* ORDER seq_cst: docs/concurrency.md, "The list goes on". */
    while (
        (is == 0 || tamis__next_spare(is) != 0 || (is == TAMIS__NEXT_REFUSE && next != is)) &&
        !__atomic_compare_exchange_n(place, &is, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        continue;
}

void tamis__segment_take_again(const struct tamis__segment *segment)
{
    uint64_t refuses = TAMIS__NEXT_REFUSE; /* ORDER seq_cst: the room is there before. */
    (void)__atomic_compare_exchange_n(&segment->live->next, &refuses, 0, false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST);
}

void tamis__segment_offer(const struct tamis__segment *segment, uint64_t number)
{
    uint64_t none = 0; /* ORDER seq_cst: the spare is whole before it is offered. */
    (void)__atomic_compare_exchange_n(&segment->live->next, &none, TAMIS__NEXT_SPARE | number,
                                      false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

bool tamis__segment_enter_spare(const struct tamis__segment *segment)
{
    uint64_t *place = &segment->live->next;
    uint64_t is = __atomic_load_n(place, __ATOMIC_SEQ_CST);
    /* ORDER seq_cst: as tamis__segment_leave. */
    while (tamis__next_spare(is) != 0 &&
           !__atomic_compare_exchange_n(place, &is, tamis__next_spare(is), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
        continue;
    return tamis__segment_is_left(segment);
}

int tamis__segment_take_back(const struct tamis__place *place, uint64_t number)
{
    struct tamis__live_map words;
    const int rc = tamis__live_map(place, number, &words);
    if (rc < 0 || words.live == NULL) return rc;
    uint64_t is = __atomic_load_n(&words.live->next, __ATOMIC_SEQ_CST);
    /* ORDER seq_cst: as tamis__segment_leave. */
    while (tamis__next_spare(is) != 0 &&
           !__atomic_compare_exchange_n(&words.live->next, &is, 0, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
        continue;
    const bool left = tamis__next_is_left(is);
    tamis__live_unmap(&words);
    return left;
}
