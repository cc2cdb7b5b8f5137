/* SPDX-License-Identifier: BSD-2-Clause */
/* rot.c: see rot.h. */
#include "check/rot.h"

#include <fcntl.h>

#include "check/lost.h"
#include "exceptions/index.h"
#include "os/io.h"
#include "segment/broken.h"

/* Returns the kind if it accepts the segment, or NULL. */
static const struct tamis__kind *kind_of(const struct tamis__segment *segment)
{
    const char *reason = NULL;
    const struct tamis__segment_header *h = segment->header;
    const struct tamis__kind *kind = tamis__kind_by_id(h->kind);
    if (h->kind == TAMIS__KIND_EXCEPTIONS)
        return tamis__index_check(segment, &reason) == 0 ? &tamis__kind_exceptions : NULL;
    return kind != NULL && kind->check(h, &reason) == 0 ? kind : NULL;
}

int tamis__rest_look(const struct tamis__place *place, uint64_t number, struct tamis__resting *rest)
{
    struct tamis__mapped_segment s = {.kind = NULL};
    *rest = (struct tamis__resting){.store_id = 0};
    int rc = tamis__segment_open(place, number, false, &s.segment);
    if (rc < 0) return rc;
    const struct tamis__segment_header *h = s.segment.header;
    rest->store_id = h->store_id;
    rest->filter_id = h->filter_id;
    rest->constant = h->checksum;
    rest->items = tamis__segment_items(&s.segment);
    /* ORDER acquire: a writer that comes later than this load changes the mark of the verdict. */
    rest->mark = __atomic_load_n(&s.segment.live->mark, __ATOMIC_ACQUIRE);
    rest->file_bytes = tamis__header_file_bytes(h);
    s.kind = kind_of(&s.segment);
    rest->is_accepted = s.kind != NULL;
    rc =
        s.kind != NULL ? tamis__look_at_rest(&s, &rest->verdict) : tamis__segment_check(&s.segment);
    tamis__segment_close(&s.segment);
    return rc;
}

bool tamis__rest_is_same(const struct tamis__resting *a, const struct tamis__resting *b)
{
    return a->constant == b->constant && a->mark == b->mark && a->file_bytes == b->file_bytes;
}

/* ---- Mending --------------------------------------------------------------------------------- */

struct mending {
    int to, from;
    const char *what;
};

static int mend_bytes(const struct mending *m, uint64_t at, uint64_t bytes)
{
    return tamis__copy_range(m->from, m->to, at, bytes, m->what);
}

/* What is constant in the header and not in its checksum, and the items; no other live word. */
static int mend_header(const struct mending *m, const struct tamis__segment_header *h)
{
    const uint64_t locks = 8 * (uint64_t)tamis__header_block_locks(h);
    int rc =
        mend_bytes(m, offsetof(struct tamis__segment_header, attachment), sizeof h->attachment);
    if (rc == 0 && locks < sizeof h->block_locks)
        rc = mend_bytes(m, offsetof(struct tamis__segment_header, block_locks) + locks,
                        sizeof h->block_locks - locks);
    for (uint32_t i = 0; rc == 0 && i < tamis__header_stripes(h); i++) {
        const uint64_t at = offsetof(struct tamis__segment_header, items) + i * sizeof h->items[0];
        rc = mend_bytes(m, at, sizeof h->items[0].items);
        if (rc == 0)
            rc = mend_bytes(m, at + offsetof(struct tamis__stripe, key_rule),
                            sizeof h->items[0].key_rule);
    }
    return rc;
}

static int mend_file(const struct mending *m)
{
    struct tamis__segment_header h;
    int rc = tamis__read_at(m->to, &h, sizeof h, 0, m->what);
    const uint64_t begin = tamis__sums_from(h.data_offset);
    if (rc == 0) rc = mend_header(m, &h);
    if (rc == 0) rc = mend_bytes(m, begin, tamis__header_file_bytes(&h) - begin);
    return rc == 0 ? tamis__sync_file(m->to, m->what) : rc;
}

int tamis__rot_mend(const struct tamis_store *store, const struct tamis__place *backup,
                    uint64_t number, const char *why)
{
    char what[TAMIS__SEGMENT_PATH_BYTES], from[TAMIS__SEGMENT_PATH_BYTES];
    char name[TAMIS__SEGMENT_NAME_BYTES];
    struct mending m = {.to = -1, .from = -1, .what = what};
    int rc = tamis__segment_open_file(&store->place, number, O_RDWR, what, &m.to);
    if (rc == 0) rc = tamis__segment_open_file(backup, number, O_RDONLY, from, &m.from);
    tamis__segment_name(number, name);
    if (rc == 0) rc = tamis__lost_keep(store, m.to, "segments", name, why);
    if (rc == 0) rc = mend_file(&m);
    tamis__close(m.from);
    tamis__close(m.to);
    return rc;
}

/* ---- Looking for rot ------------------------------------------------------------------------- */

static int find_rot(void *context, const char *name)
{
    struct tamis__repair *repair = context;
    struct tamis__resting rest;
    const uint64_t number = tamis__segment_number(name);
    if (number == 0) return 0;
    const int rc = tamis__rest_look(&repair->store->place, number, &rest);
    if (rc < 0) return rc == TAMIS_ENOMEM ? rc : 0;
    return rest.verdict.state == TAMIS__SUMS_BROKEN ? tamis__numbers_append(&repair->rotted, number)
                                                    : 0;
}

int tamis__rot_find(struct tamis__repair *repair)
{
    const struct tamis__place *place = &repair->store->place;
    const int rc = tamis__each_name(place->segments_fd, place->path, find_rot, repair);
    tamis__numbers_sort(&repair->rotted);
    return rc == TAMIS_ENOMEM ? rc : 0;
}
