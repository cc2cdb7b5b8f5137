/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * files.c: see files.h.
 *
 * The catalog files each kept generation under the filter's id and the number of the generation.  A
 * kept generation shares no file with another one or with the one in force.  If its build has found
 * exceptions, it keeps the index that was in force with it.
 */
#include "txn/files.h"

int tamis__numbers_append(struct tamis__numbers *numbers, uint64_t number)
{
    uint64_t *added = tamis__array_add(&numbers->list, &numbers->count, &numbers->room,
                                       sizeof *added, "for a list of segments");
    if (added == NULL) return TAMIS_ENOMEM;
    *added = number;
    return 0;
}

int tamis__remove_later(struct tamis__catalog_txn *txn, struct tamis__numbers *files,
                        uint64_t number)
{
    const int rc = tamis__numbers_append(files, number);
    return rc < 0 ? rc : tamis__catalog_put_garbage(txn, number);
}

void tamis__remove_files(struct tamis_store *store, struct tamis__numbers *files)
{
    for (size_t i = 0; i < files->count; i++)
        (void)tamis__segment_remove(&store->place, files->list[i]);
}

int tamis__note_kept(void *context, const struct tamis__record *record)
{
    struct tamis__kept *kept = context;
    if (tamis__array_add(&kept->list, &kept->count, &kept->room, sizeof *kept->list,
                         "for the generations") == NULL)
        return TAMIS_ENOMEM;
    kept->list[kept->count - 1].generation = record->generation;
    kept->list[kept->count - 1].publication = record->publication;
    return 0;
}

int tamis__generation_forget(struct tamis__catalog_txn *txn, const struct tamis__record *record,
                             struct tamis__numbers *files)
{
    int rc = tamis__catalog_forget_generation(txn, record->filter_id, record->generation);
    if (rc == 0 && record->exceptions != 0)
        rc = tamis__remove_later(txn, files, record->exceptions);
    for (uint32_t i = 0; rc == 0 && i < record->segment_count; i++)
        rc = tamis__remove_later(txn, files, record->segments[i].number);
    return rc;
}

/* The generations that have been out of force the longest are forgotten. */
int tamis__generations_trim(struct tamis__catalog_txn *txn, uint64_t filter_id, uint32_t keep,
                            struct tamis__numbers *files)
{
    struct tamis__kept kept = {0};
    struct tamis__record record;
    int rc = tamis__catalog_each_generation(txn, filter_id, tamis__note_kept, &kept);
    while (rc == 0 && kept.count > keep) {
        size_t oldest = 0;
        for (size_t i = 1; i < kept.count; i++)
            if (kept.list[i].publication < kept.list[oldest].publication) oldest = i;
        rc = tamis__catalog_get_generation(txn, filter_id, kept.list[oldest].generation, &record);
        if (rc == 0) rc = tamis__generation_forget(txn, &record, files);
        kept.list[oldest] = kept.list[--kept.count];
    }
    free(kept.list);
    return rc;
}

int tamis__numbers_append_files(void *numbers, const struct tamis__record *record)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < record->segment_count + record->spare_count; i++)
        rc = tamis__numbers_append(numbers, record->segments[i].number);
    if (rc == 0 && record->exceptions != 0) rc = tamis__numbers_append(numbers, record->exceptions);
    return rc;
}

int tamis__list_files(struct tamis__catalog_txn *txn, const struct tamis__record *record,
                      struct tamis__numbers *files)
{
    const int rc = tamis__numbers_append_files(files, record);
    return rc < 0 ? rc
                  : tamis__catalog_each_generation(txn, record->filter_id,
                                                   tamis__numbers_append_files, files);
}

int tamis__forget_all(struct tamis__catalog_txn *txn, const struct tamis__record *record,
                      struct tamis__numbers *files)
{
    int rc = tamis__generations_trim(txn, record->filter_id, 0, files);
    if (rc == 0) rc = tamis__catalog_forget(txn, record);
    if (rc == 0)
        rc = tamis__catalog_put_trouble(txn, record->filter_id, (struct tamis__trouble){0});
    if (rc == 0) rc = tamis__catalog_forget_tag(txn, record->filter_id);
    if (rc == 0) rc = tamis__generation_forget(txn, record, files);
    return rc;
}
