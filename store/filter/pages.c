/* SPDX-License-Identifier: BSD-2-Clause */
/* pages.c: the setting of a filter that says in which pages it is mapped, and what became of it. */
#include "segment/pages.h"

#include "handle/follow.h"
#include "handle/pages.h"
#include "plan/policy.h"
#include "segment/obstacle.h"
#include "txn/spares.h"
#include "txn/write.h"

static int set_pages(struct tamis_store *store, struct tamis__catalog_txn *txn,
                     struct tamis__record *record, uint32_t pages)
{
    if (record->policy.pages == pages) return 0;
    record->policy.pages = pages;
    int rc = tamis__raise_epochs(store, record);
    if (rc == 0) rc = tamis__catalog_put(txn, record);
    return rc < 0 ? rc : tamis__catalog_commit(txn);
}

TAMIS_API int tamis_filter_set_pages(tamis_store *store, const char *name, uint32_t pages)
{
    TAMIS__REFUSE_NULL(store, "store");
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__check_name(name);
    if (rc == 0) rc = tamis__check_pages(pages);
    if (rc == 0) rc = tamis__store_begin_write(store, &txn);
    if (rc < 0) return rc;
    rc = tamis__store_get(store, txn, name, &record);
    rc = rc == TAMIS_ENOTFOUND ? tamis__fail_no_filter(store, name)
         : rc == 0             ? set_pages(store, txn, &record, pages)
                               : rc;
    tamis__catalog_end(txn);
    return rc;
}

static int count(const struct tamis__view *view, struct tamis_filter_mapped *mapped)
{
    struct tamis__pages_count sum = {0};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < view->count; i++)
        rc = tamis__pages_count(&view->segments[i].segment, &sum);
    mapped->bytes = sum.mapped;
    mapped->present = sum.present;
    mapped->huge_bytes = sum.huge;
    return rc;
}

/* Huge pages begin and end at multiples of 2 MiB, and the header is read before anything is known
 * of the segment.  So the first and the last part of each file have none. */
#define EDGE_BYTES ((uint64_t)6 << 20)

static bool is_lacking(const struct tamis__view *view, const struct tamis_filter_mapped *mapped)
{
    const uint64_t small = mapped->present - mapped->huge_bytes;
    return mapped->wanted == TAMIS_PAGES_HUGE && mapped->huge_bytes < mapped->present &&
           small > EDGE_BYTES * view->count && small > mapped->present / 16;
}

TAMIS_API int tamis_filter_mapped(tamis_filter *filter, struct tamis_filter_mapped *mapped)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct tamis_filter_mapped own;
    struct tamis__view *view;
    int rc = tamis__take_struct(mapped, &own, sizeof own, "struct tamis_filter_mapped");
    if (rc == 0) rc = tamis__visit(filter, &view);
    if (rc < 0) return rc;
    const struct tamis__segment *newest = &tamis__newest(view)->segment;
    rc = count(view, &own);
    own.wanted = tamis__pages_are_huge(newest) ? TAMIS_PAGES_HUGE : TAMIS_PAGES_SMALL;
    const struct tamis__obstacle *obstacle =
        is_lacking(view, &own) ? tamis__pages_obstacle(newest) : NULL;
    own.obstacle = obstacle != NULL ? obstacle->why : NULL;
    own.mend = obstacle != NULL ? obstacle->mend : NULL;
    own.mend_command = obstacle != NULL ? obstacle->command : NULL;
    if (rc == 0) tamis__give_struct(&own, sizeof own, mapped);
    return (int)tamis__leave_with(filter, view, rc);
}
