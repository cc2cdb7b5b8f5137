/* SPDX-License-Identifier: BSD-2-Clause */
/* check.c: see check.h. */
#include "check/check.h"

#include "segment/broken.h"
#include "txn/files.h"
#include "txn/mapped.h"

const char *tamis__check_file(uint64_t number, char file[TAMIS__FILE_BYTES])
{
    char name[TAMIS__SEGMENT_NAME_BYTES];
    tamis__segment_name(number, name);
    (void)snprintf(file, TAMIS__FILE_BYTES, "segments/%s", name);
    return file;
}

const char *tamis__check_reason(const char *file, uint64_t *offset)
{
    struct tamis_error_details details = TAMIS_INIT(struct tamis_error_details);
    (void)tamis_last_error_details(&details);
    if (offset != NULL) *offset = details.offset;
    return strstr(details.what, file) != NULL ? details.reason : details.sentence;
}

bool tamis__is_of_the_system(int error)
{
    return error == TAMIS_ENOMEM || error == TAMIS_ELIMIT || error == TAMIS_EACCESS ||
           error == TAMIS_ENOSPACE || error == TAMIS_ESYSTEM;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool tamis__numbers_have(const struct tamis__numbers *numbers, uint64_t number)
{
    return numbers->count > 0 &&
           bsearch(&number, numbers->list, numbers->count, sizeof number, by_number) != NULL;
}

void tamis__numbers_sort(struct tamis__numbers *numbers)
{
    if (numbers->count > 0)
        qsort(numbers->list, numbers->count, sizeof numbers->list[0], by_number);
}

/* What note_whole() looks for. */
struct newest_kept {
    struct tamis_store *store;
    uint64_t newest; /* the newest kept generation whose files are there and sound; 0: none */
};

static int note_whole(void *context, const struct tamis__record *record)
{
    struct newest_kept *kept = context;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < record->segment_count; i++) {
        struct tamis__mapped_segment s;
        struct tamis__damage damage = {.offset = 0};
        rc = tamis__open_segment(kept->store, record, i, false, &s);
        if (rc < 0) break;
        const int wrong = tamis__check_data(&s, record->segments[i].items, NULL, &damage);
        rc = wrong < 0                     ? wrong
             : wrong > 0 && !damage.is_odd ? TAMIS_ECORRUPT
                                           : tamis__segment_check(&s.segment);
        tamis__close_segment(&s);
    }
    if (rc == 0) kept->newest = record->generation;
    return rc == TAMIS_ENOMEM || rc == TAMIS_ELIMIT ? rc : 0;
}

int tamis__check_mend(struct tamis_store *store, struct tamis__catalog_txn *txn,
                      const struct tamis__record *record, char mend[TAMIS__MEND_BYTES])
{
    char quoted[TAMIS__QUOTED_BYTES];
    struct newest_kept kept = {.store = store};
    const int rc = tamis__catalog_each_generation(txn, record->filter_id, note_whole, &kept);
    tamis__quote(quoted, record->name);
    if (kept.newest != 0)
        (void)snprintf(mend, TAMIS__MEND_BYTES,
                       TAMIS__MENDS "'tamis rollback' of %s goes back to generation %llu, which "
                                    "is kept, or build it anew, or restore a copy",
                       quoted, (unsigned long long)kept.newest);
    else
        (void)snprintf(mend, TAMIS__MEND_BYTES,
                       TAMIS__MENDS "make %s anew from its keys ('tamis build', or 'tamis drop' "
                                    "and 'tamis create'), or restore a copy",
                       quoted);
    return rc;
}

bool tamis__segment_is_unused(const struct tamis__place *place, uint64_t number, uint64_t store_id)
{
    struct tamis__segment segment;
    if (tamis__segment_open(place, number, false, &segment) < 0) return false;
    const struct tamis__segment_header *h = segment.header;
    const bool unused = h->store_id == store_id && tamis__segment_items(&segment) == 0 &&
                        h->fingerprint_bits == 0 && h->kind != TAMIS__KIND_EXCEPTIONS &&
                        tamis__segment_is_blank(&segment) && tamis__segment_check(&segment) == 0;
    tamis__segment_close(&segment);
    return unused;
}
