/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy.c: copies a segment file while others write to it.
 *
 * Bits only ever appear, so a copy has all bits that were set before it began, in whatever order it
 * is read.  Data that belong together are read in the opposite order of their writing:
 *
 *     items     are counted after the bits are set: the header is read before the data
 *     counters  get their slot of overflow, and the slot gets its level, before they are marked; so
 *               the counters are read before the levels in force and before the table, word by
 *               word, as they also go down; then slots that are newer than the counters are put
 *               right
 *     slots     get their owner before their count; so the count is read first, and a count in a
 *               free slot of the copy is damage of the original, which stays for verify to find
 */
#include "check/copy.h"

#include <fcntl.h>

#include "check/points.h"
#include "os/inside.h"
#include "os/replace.h"
#include "segment/huge.h"
#include "segment/live.h"
#include "segment/sums.h"
#include "txn/exceptions.h"

#define PIECE_BYTES ((uint64_t)4 << 20)

/* ---- Opening --------------------------------------------------------------------------------- */

static int open_file(struct tamis_store *store, uint64_t number, struct tamis__source_file *file)
{
    char what[TAMIS__SEGMENT_PATH_BYTES];
    *file = (struct tamis__source_file){.fd = -1, .number = number, .exceptions = TAMIS__AS_IT_IS};
    return tamis__segment_open_file(&store->place, number, O_RDONLY, what, &file->fd);
}

int tamis__source_open(struct tamis_store *store, const struct tamis__record *record,
                       uint32_t index, struct tamis__source_file *file)
{
    struct tamis__mapped_segment s;
    int rc = tamis__open_segment(store, record, index, false, &s);
    if (rc < 0) return rc;
    const uint32_t pages = tamis__pages_recorded(record, index, &s.segment);
    const uint32_t header_bytes = s.segment.header->header_bytes;
    tamis__close_segment(&s);
    rc = open_file(store, record->segments[index].number, file);
    file->header_bytes = header_bytes;
    file->is_huge = pages == TAMIS_PAGES_HUGE && record->policy.pages == TAMIS_PAGES_HUGE;
    return rc;
}

int tamis__source_open_index(struct tamis_store *store, const struct tamis__record *record,
                             struct tamis__source_file *file)
{
    struct tamis__mapped_segment s;
    int rc = tamis__open_index(store, record->exceptions, record->filter_id, &s);
    if (rc < 0) return rc;
    const uint32_t header_bytes = s.segment.header->header_bytes;
    tamis__close_segment(&s);
    rc = open_file(store, record->exceptions, file);
    file->header_bytes = header_bytes;
    return rc;
}

/* ---- Copying --------------------------------------------------------------------------------- */

struct copying {
    const struct tamis__source_file *file;
    int to;
    const char *what, *to_what;
    struct tamis__segment_header header;
    tamis__copied_fn *fn;
    void *context;
};

typedef void read_fn(const uint64_t *from, uint64_t *to, uint64_t count);

/* ORDER acquire: words that are read later show all that was written before this word. */
static void read_words(const uint64_t *from, uint64_t *to, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
}

/*
 * As read_words(), for slots of overflow: of each slot the count is read first, then the owner.  In
 * the other order, a slot that is taken and counted in between would look like a free slot with a
 * count.
 */
static void read_slots(const uint64_t *from, uint64_t *to, uint64_t count)
{
    for (uint64_t i = 0; i < count; i += 2) {
        read_words(from + i + 1, to + i + 1, 1);
        TAMIS__POINT(TAMIS__POINT_SLOT_HALF);
        read_words(from + i, to + i, 1);
    }
}

static int read_header(struct copying *c)
{
    void *map = NULL;
    const int rc = tamis__map(c->file->fd, sizeof c->header, false, c->what, &map);
    if (rc < 0) return rc;
    uint64_t words[sizeof c->header / 8];
    read_words(map, words, sizeof words / sizeof words[0]);
    memcpy(&c->header, words, sizeof c->header);
    const int whole = tamis__map_check(map, c->what);
    tamis__unmap(map, sizeof c->header);
    return whole;
}

/* What a copy reads stays in memory, so it comes in the pages that the filter is set to have.  That
 * takes twice as long as the kernel's readahead, so it is not done where nobody has asked for huge
 * ones. */
static void want_piece(const struct copying *c, uint64_t at, uint64_t bytes)
{
    if (c->file->is_huge)
        tamis__file_huge(c->file->fd, at, bytes);
    else if (c->header.data_checksum == 0)
        tamis__want_file(c->file->fd, at, bytes);
}

static int copy_bits(const struct copying *c)
{
    const uint64_t end = c->header.data_offset + c->header.data_bytes;
    int rc = 0;
    for (uint64_t at = c->header.data_offset; rc == 0 && at < end; at += PIECE_BYTES) {
        const uint64_t now = end - at < PIECE_BYTES ? end - at : PIECE_BYTES;
        want_piece(c, at, now);
        rc = tamis__copy_range(c->file->fd, c->to, at, now, c->to_what);
        if (rc == 0) rc = c->fn(c->context, now);
    }
    if (rc == 0 && tamis__mark_is_sealed(c->header.live.mark)) /* with its table of checksums */
        rc = tamis__copy_range(c->file->fd, c->to, end, c->header.file_bytes - end, c->to_what);
    return rc;
}

/* Copies the words from byte `at` to byte `end`.  `read` reads them. */
static int copy_words(const struct copying *c, uint64_t at, uint64_t end, read_fn *read)
{
    char *map = NULL, *buffer = malloc(PIECE_BYTES);
    if (buffer == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory copying %s", c->what);
    int rc = tamis__map(c->file->fd, end, false, c->what, (void **)(void *)&map);
    for (; rc == 0 && at < end; at += PIECE_BYTES) {
        const uint64_t now = end - at < PIECE_BYTES ? end - at : PIECE_BYTES;
        want_piece(c, at, now);
        read((const uint64_t *)(const void *)(map + at), (uint64_t *)(void *)buffer, now / 8);
        rc = tamis__write_at(c->to, buffer, (size_t)now, at, c->to_what);
        tamis__release_map(map + at, now);
        if (rc == 0) rc = c->fn(c->context, now);
    }
    if (map != NULL && rc == 0) rc = tamis__map_check(map, c->what);
    tamis__unmap(map, end);
    free(buffer);
    return rc;
}

static int finish_counters(const struct copying *c, uint64_t bytes)
{
    void *map = NULL;
    const struct tamis__kind *kind = tamis__kind_by_id(c->header.kind);
    int rc = tamis__header_write(c->to, &c->header, c->to_what);
    if (rc == 0) rc = tamis__map(c->to, bytes, true, c->to_what, &map);
    if (rc != 0 || kind == NULL || kind->mend_copy == NULL) return rc;
    struct tamis__segment segment = tamis__segment_at(map, (char *)map + c->header.data_offset);
    segment.map_bytes = bytes;
    segment.writable = true;
    kind->mend_copy(&segment);
    rc = tamis__map_check(map, c->to_what);
    tamis__unmap(map, bytes);
    return rc;
}

/* Copies the counters, then as much of their table as is in force when they are read. */
static int copy_counters(struct copying *c)
{
    const struct tamis__segment_header *h = &c->header;
    struct tamis__stripe items[TAMIS__STRIPES];
    memcpy(items, h->items, sizeof items);
    const bool sealed = tamis__mark_is_sealed(h->live.mark); /* with its table of checksums */
    const uint64_t end = sealed ? h->file_bytes : h->data_offset + h->data_bytes;
    int rc = copy_words(c, h->data_offset, end, read_words);
    if (rc == 0) rc = read_header(c); /* for the levels */
    if (rc < 0) return rc;
    memcpy(c->header.items, items, sizeof items);
    const uint64_t all = tamis__header_file_bytes(h);
    if (all == h->file_bytes) return 0;
    rc = tamis__extend(c->to, h->file_bytes, all, c->to_what);
    if (rc == 0) rc = copy_words(c, h->file_bytes, all, read_slots);
    return rc != 0 ? rc : finish_counters(c, all);
}

/* If keys came or went meanwhile, the pages of the copy are of different moments. */
static int note_writers(struct copying *c, uint64_t items)
{
    struct copying now = *c;
    const int rc = read_header(&now);
    if (rc == 0 && (tamis__header_items(&now.header) != items ||
                    now.header.live.mixed != c->header.live.mixed))
        c->header.live.mixed |= TAMIS__MIXED_BEGUN;
    if (rc == 0 && now.header.live.mark != c->header.live.mark)
        c->header.live.mark &= ~TAMIS__MARK_SEALED;
    return rc;
}

/* Makes the header of the copy from that of the source. */
static void change_header(struct copying *c)
{
    struct tamis__segment_header *h = &c->header;
    if (h->live.next != TAMIS__NEXT_REFUSE || c->file->next != TAMIS__NEXT_REFUSE)
        h->live.next = c->file->next == TAMIS__NEXT_REFUSE ? 0 : c->file->next;
    if (c->file->exceptions != TAMIS__AS_IT_IS) h->live.exceptions = c->file->exceptions;
    memset(h->block_locks, 0, tamis__header_block_locks(h) * sizeof h->block_locks[0]);
    /* The copy has all keys that had been added before it began, and it is synced whole. */
    h->live.unclean_since = tamis__unclean_since_of(&h->live, h->created_at);
    if (!tamis__mark_is_sealed(h->live.mark)) h->live.mark &= ~TAMIS__MARK_SEALED;
    h->live.mark &= ~TAMIS__MARK_BITS; /* how many handles have written stays */
    h->live.syncs_begun = h->live.syncs_done = h->live.unlogged = 0;
    h->live.degraded_since = 0;
    memset(h->live.boot_id, 0, sizeof h->live.boot_id);
}

static int write_header(struct copying *c)
{
    change_header(c);
    return tamis__header_write(c->to, &c->header, c->to_what);
}

/* If the segment is sealed, `copy` has the bytes that were sealed.  If not, the segment is
 * damaged. */
static int check_sums(const struct copying *c, int copy)
{
    void *map = NULL;
    struct tamis__sums_verdict verdict;
    if (c->file->as_it_is || !tamis__mark_is_sealed(c->header.live.mark)) return 0;
    const uint64_t bytes = tamis__header_file_bytes(&c->header);
    int rc = tamis__map(copy, bytes, false, c->to_what, &map);
    if (rc < 0) return rc;
    const struct tamis__segment segment =
        tamis__segment_at(map, (char *)map + c->header.data_offset);
    rc = tamis__sums_check(&segment, NULL, NULL, &verdict);
    if (rc == 0) rc = tamis__map_check(map, c->to_what);
    tamis__unmap(map, bytes);
    if (rc < 0 || verdict.state != TAMIS__SUMS_BROKEN) return rc;
    const struct tamis__fault fault = {.what = c->what, .offset = verdict.offset};
    return tamis__fail_of(TAMIS_ECORRUPT, &fault, "%s (at byte %" PRIu64 ") %s", c->what,
                          verdict.offset, verdict.reason);
}

static int copy_open(struct copying *c)
{
    struct tamis__refusal refusal;
    int rc = read_header(c);
    if (rc < 0) return rc;
    /* The header was checked when the file was opened; the copy depends on it, so it is checked
     * again. */
    rc = tamis__header_check(&c->header, sizeof c->header, tamis__header_file_bytes(&c->header),
                             &refusal);
    if (rc < 0) return tamis__fail(rc, "%s %s", c->what, refusal.reason);
    rc = tamis__allocate(c->to, c->header.file_bytes, c->to_what);
    const uint64_t items = tamis__header_items(&c->header);
    if (rc == 0) rc = c->header.counter_bits != 0 ? copy_counters(c) : copy_bits(c);
    if (rc == 0) rc = note_writers(c, items);
    if (rc == 0) rc = write_header(c);
    if (rc == 0) rc = check_sums(c, c->to);
    return rc;
}

/* ---- Copies on the way to the disk ----------------------------------------------------------- */

#define UNSYNCED_BYTES ((uint64_t)64 << 20) /* as much as waits in memory for the disk */

void tamis__copies_drop(struct tamis__copies *copies)
{
    for (size_t i = 0; i < copies->count; i++)
        tamis__close(copies->fds[i]);
    copies->count = 0;
    copies->bytes = 0;
}

int tamis__copies_sync(struct tamis__copies *copies)
{
    const int rc =
        copies->count > 0 ? tamis__sync_files(copies->fds, copies->count, copies->what) : 0;
    /* The copies were written in large writes.  Their pages leave the cache, so that they are not
     * in large folios when somebody opens them. */
    for (size_t i = 0; rc == 0 && i < copies->count; i++)
        tamis__forget_file(copies->fds[i]);
    tamis__copies_drop(copies);
    return rc;
}

/* Takes a copy over. */
static int add_copy(struct tamis__copies *copies, struct copying *c)
{
    copies->fds[copies->count++] = c->to;
    copies->bytes += c->header.file_bytes;
    c->to = -1;
    return copies->count == sizeof copies->fds / sizeof *copies->fds ||
                   copies->bytes >= UNSYNCED_BYTES
               ? tamis__copies_sync(copies)
               : 0;
}

/* ---- What the older copy has already --------------------------------------------------------- */

static int same_bytes(const struct copying *c, int before, uint64_t end)
{
    char *mine = malloc(PIECE_BYTES), *older = malloc(PIECE_BYTES);
    int rc = mine == NULL || older == NULL
                 ? tamis__fail(TAMIS_ENOMEM, "out of memory copying %s", c->what)
                 : 1;
    for (uint64_t at = c->header.data_offset; rc == 1 && at < end; at += PIECE_BYTES) {
        const size_t now = (size_t)(end - at < PIECE_BYTES ? end - at : PIECE_BYTES);
        if (tamis__read_at(before, older, now, at, c->to_what) < 0) {
            rc = 0; /* it is damaged, and is replaced */
        } else {
            want_piece(c, at, now);
            const int read = tamis__read_at(c->file->fd, mine, now, at, c->what);
            rc = read < 0 ? read : memcmp(mine, older, now) == 0;
        }
    }
    free(mine);
    free(older);
    return rc;
}

/* Is the file of the older copy what a copy would be now? */
static int is_unchanged(struct copying *c, int before)
{
    struct tamis__segment_header header;
    struct tamis__file_info info;
    int rc = read_header(c);
    if (rc < 0) return rc;
    const uint64_t end = tamis__header_file_bytes(&c->header);
    const uint64_t items = tamis__header_items(&c->header);
    const struct tamis__segment_header now = c->header;
    change_header(c);
    if (tamis__file_info(before, c->to_what, &info) < 0 || info.bytes != end ||
        tamis__read_at(before, &header, sizeof header, 0, c->to_what) < 0 ||
        memcmp(&header, &c->header, sizeof header) != 0)
        return 0;
    rc = same_bytes(c, before, end);
    c->header = now;
    if (rc != 1) return rc;
    rc = note_writers(c, items);
    return rc < 0 ? rc : memcmp(&c->header, &now, sizeof now) == 0;
}

static int take_older(struct copying *c, const struct tamis__place *to,
                      const struct tamis__place *before)
{
    char older[TAMIS__SEGMENT_PATH_BYTES], name[TAMIS__SEGMENT_NAME_BYTES];
    int fd = -1;
    if (before == NULL ||
        tamis__segment_open_file(before, c->file->number, O_RDONLY, older, &fd) < 0)
        return 0;
    tamis__segment_name(c->file->number, name);
    int rc = is_unchanged(c, fd);
    const int damaged = rc == 1 ? check_sums(c, fd) : 0; /* both may have it */
    if (damaged < 0) rc = damaged;
    const bool taken =
        rc == 1 && tamis__link_between(before->segments_fd, to->segments_fd, name, c->to_what);
    tamis__close(fd);
    if (!taken) return rc < 0 ? rc : 0;
    rc = c->fn(c->context, tamis__header_file_bytes(&c->header));
    return rc != 0 ? rc : 1;
}

int tamis__source_copy(const struct tamis_store *store, const struct tamis__source_file *file,
                       const struct tamis__place *to, const struct tamis__place *before,
                       struct tamis__copies *copies, tamis__copied_fn *fn, void *context)
{
    char what[TAMIS__SEGMENT_PATH_BYTES], to_what[TAMIS__SEGMENT_PATH_BYTES];
    char name[TAMIS__SEGMENT_NAME_BYTES];
    struct copying c = {
        .file = file, .to = -1, .what = what, .to_what = to_what, .fn = fn, .context = context};
    tamis__segment_path(&store->place, file->number, what);
    tamis__segment_path(to, file->number, to_what);
    tamis__segment_name(file->number, name);
    int rc = take_older(&c, to, before);
    if (rc != 0) return rc;
    rc = tamis__inside_make_copy(to->root_fd, to->segments_fd, name, to_what, &c.to);
    if (rc == 0) rc = copy_open(&c);
    if (rc == 0) rc = add_copy(copies, &c);
    tamis__close(c.to);
    return rc;
}
