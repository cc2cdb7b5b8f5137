/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * remake.c: an index of exceptions that is missing or damaged is made again: the catalog has them exactly.
 *
 * As in a publication (change.c) the file's number is noted as garbage in a commit of its own, until the
 * last one takes it off that list: so a death in between leaves nothing that belongs to nobody.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "check/repair.h"

static int publish(struct tamis_store *store, struct tamis__catalog_txn *txn,
                   struct tamis__record *record, struct tamis__draft *draft)
{
    struct tamis__segment_header *header = &draft->header;
    const uint64_t before = record->exceptions;
    int rc = tamis__take_segment_number(store, tamis__catalog_store(txn), &header->number);
    if (rc == 0) rc = tamis__catalog_put_garbage(txn, header->number);
    if (rc == 0) rc = tamis__catalog_commit_part(txn);
    header->filter_id = record->filter_id;
    header->generation = record->generation;
    header->publication = ++record->publication;
    header->keep = record->keep;
    tamis__draft_set_policy(draft, &record->policy);
    tamis__label_write(&header->labels[0], record->name_sequence, record->name);
    if (rc == 0) rc = tamis__segment_publish(&store->place, &draft->staged, header);
    record->exceptions = header->number;
    if (rc == 0) rc = tamis__catalog_put_garbage(txn, before);
    if (rc == 0) rc = tamis__catalog_forget_garbage(txn, header->number);
    if (rc == 0) rc = tamis__catalog_put(txn, record);
    return rc < 0 ? rc : tamis__raise_epochs(store, record);
}

int tamis__repair_index(struct tamis__repair *repair, struct tamis__catalog_txn *txn,
                        uint64_t filter_id)
{
    char file[TAMIS__FILE_BYTES];
    struct tamis__draft draft = {.staged.file.fd = -1};
    struct tamis__exceptions all = {0};
    struct tamis__record *record = malloc(sizeof *record); /* large */
    if (record == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory repairing the store");
    int rc = tamis__catalog_get_by_id(txn, filter_id, record);
    if (rc == 0) rc = tamis__exceptions_load_all(txn, record, &all);
    const uint64_t before = rc == 0 ? record->exceptions : 0;
    if (rc == 0 && !repair->dry) {
        record->exception_count = all.count;
        rc = tamis__exceptions_stage(repair->store, &all, record->name, &draft);
        if (rc == 0) rc = publish(repair->store, txn, record, &draft);
    }
    if (rc == 0)
        rc =
            tamis__repair_tell(repair, record->name, tamis__check_file(before, file), 0,
                               "%s made again, as the index of %zu exceptions that the catalog has",
                               repair->dry ? "would be" : "is", all.count);
    tamis__segment_discard(&repair->store->place, &draft.staged);
    tamis__exceptions_clear(&all);
    free(record);
    return rc;
}
