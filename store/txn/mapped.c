/* SPDX-License-Identifier: BSD-2-Clause */
/* mapped.c: see mapped.h. */
#include "txn/mapped.h"

#include "segment/broken.h"

int tamis__adopt_segment(struct tamis_store *store, uint64_t filter_id, int rc,
                         struct tamis__mapped_segment *out)
{
    const struct tamis__segment_header *header = out->segment.header;
    char what[TAMIS__SEGMENT_PATH_BYTES];
    (void)tamis__segment_path(&store->place, header->number, what);
    if (rc == 0 && (header->store_id != store->store_id || header->filter_id != filter_id))
        rc =
            tamis__fail_at(TAMIS_EFOREIGN, what, "%s belongs to another %s; restore the right file",
                           what, header->store_id != store->store_id ? "store" : "filter");
    if (rc == 0) {
        out->references = malloc(sizeof *out->references);
        if (out->references != NULL)
            *out->references = 1;
        else
            rc = tamis__fail_at(TAMIS_ENOMEM, what, "out of memory opening %s", what);
    }
    if (rc < 0) tamis__segment_close(&out->segment);
    return rc;
}

int tamis__map_segment(struct tamis_store *store, uint64_t number, uint64_t filter_id,
                       bool writable, struct tamis__mapped_segment *out)
{
    const char *reason = "is of a kind that this library does not have; use a newer Tamis";
    char what[TAMIS__SEGMENT_PATH_BYTES];
    int rc = tamis__segment_open(&store->place, number, writable, &out->segment);
    if (rc < 0) return rc;
    const struct tamis__segment_header *header = out->segment.header;
    (void)tamis__segment_path(&store->place, number, what);
    out->kind = tamis__kind_by_id(header->kind);
    rc = out->kind ? out->kind->check(header, &reason) : TAMIS_EVERSION;
    if (rc < 0)
        rc = tamis__fail_at(rc, what, "%s %s", what, reason);
    else if (writable && (header->compat_flags & ~TAMIS__COMPAT_KNOWN) != 0)
        rc = tamis__fail_at(TAMIS_EVERSION, what,
                            "%s was extended by a newer version of Tamis; open it "
                            "read-only, or use that version",
                            what);
    return tamis__adopt_segment(store, filter_id, rc, out);
}

int tamis__map_recorded(struct tamis_store *store, const struct tamis__record *record,
                        uint32_t index, bool writable, struct tamis__mapped_segment *out)
{
    const struct tamis__listed_segment *entry = &record->segments[index];
    char what[TAMIS__SEGMENT_PATH_BYTES];
    int rc = tamis__map_segment(store, entry->number, record->filter_id, writable, out);
    if (rc < 0) return rc;
    const char *field = tamis__record_contradiction(entry, out->segment.header);
    if (field == NULL) return 0;
    (void)tamis__segment_path(&store->place, entry->number, what);
    rc = tamis__fail_at(TAMIS_ECORRUPT, what,
                        "%s contradicts the catalog in its %s; restore both from one "
                        "copy",
                        what, field);
    tamis__close_segment(out);
    return rc;
}

int tamis__open_segment(struct tamis_store *store, const struct tamis__record *record,
                        uint32_t index, bool writable, struct tamis__mapped_segment *out)
{
    int rc = tamis__map_recorded(store, record, index, writable, out);
    if (rc < 0 || !writable) return rc;
    rc = tamis__segment_relabel(&store->place, &out->segment, record->name_sequence, record->name);
    if (rc < 0) tamis__close_segment(out);
    return rc;
}

uint32_t tamis__pages_recorded(const struct tamis__record *record, uint32_t index,
                               const struct tamis__segment *segment)
{
    const struct tamis__pages_case known = {.setting = record->policy.pages,
                                            .takes_keys = index + 1 == record->segment_count};
    return tamis__pages_wanted(segment, known);
}

int tamis__look_at_rest(const struct tamis__mapped_segment *s, struct tamis__sums_verdict *verdict)
{
    const char *text = "";
    int rc = 0;
    *verdict = (struct tamis__sums_verdict){.state = TAMIS__SUMS_HOLD};
    if (s->segment.header->data_checksum == 0) {
        rc = tamis__sums_check(&s->segment, NULL, NULL, verdict);
    } else if (s->kind->verify(&s->segment, &verdict->offset, &text) != 0) {
        verdict->state = TAMIS__SUMS_BROKEN;
        (void)snprintf(verdict->reason, sizeof verdict->reason, "%s", text);
    }
    return rc < 0 ? rc : tamis__segment_check(&s->segment);
}

int tamis__check_at_rest(const struct tamis__mapped_segment *s)
{
    char what[TAMIS__SEGMENT_PATH_BYTES];
    struct tamis__sums_verdict sums;
    const int rc = tamis__look_at_rest(s, &sums);
    if (rc < 0 || sums.state != TAMIS__SUMS_BROKEN) return rc;
    tamis__segment_path(s->segment.place, s->segment.header->number, what);
    const struct tamis__fault fault = {.what = what, .offset = sums.offset};
    return tamis__fail_of(TAMIS_ECORRUPT, &fault, "%s (at byte %" PRIu64 ") %s", what, sums.offset,
                          sums.reason);
}

void tamis__close_segment(struct tamis__mapped_segment *s)
{
    if (s->references == NULL) return;
    /* ORDER acq_rel: the last user unmaps the file after all that the other users did. */
    if (__atomic_sub_fetch(s->references, 1, __ATOMIC_ACQ_REL) != 0) return;
    tamis__segment_close(&s->segment);
    free(s->references);
}
