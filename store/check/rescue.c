/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rescue.c: makes a catalog from the segments alone.
 *
 *     store       the id that most segments have; segments with another id are left alone
 *     filter      the segments with one filter id, in the order of their numbers, which is that of
 *                 their making; its name is the label with the highest sequence
 *     list        begins at a segment with list_start; a segment without it goes on after the list
 *                 that was in force when it was made: the list whose newest segment has the
 *                 greatest live word in_force that is not above the publication of that segment
 *     in force    the list whose newest segment has the greatest in_force; the others are kept
 *                 generations
 *     window      slices that the newest one has left behind are out
 *     exceptions  from the index that the newest segment in force names; kept lists have theirs
 *                 likewise
 *
 * A list that was replaced, and not yet removed when the catalog was lost, comes back as a kept
 * generation: no file says that it is not wanted any more.
 *
 * What an old catalog that can be read knew besides stays known (rescue_old.c).
 */
#include "check/rescue.h"

#include <fcntl.h>

#include "check/lost.h"
#include "check/points.h"
#include "segment/live.h"

/*
 * Numbers and ids go on at the next round number.  Files that were dropped before the catalog was
 * lost may have had higher numbers than any file that is left, and a process may still have one
 * open.
 */
#define ROUND 1000000u

/* ---- The store ------------------------------------------------------------------------------- */

/* Takes the id that most segments have.  If two are equal, takes that of the old catalog, if it can
 * be read. */
static int choose_store_id(struct tamis__rescue_work *rescue, uint64_t old_id)
{
    const struct tamis__repair *repair = rescue->repair;
    struct tamis__numbers ids = {0};
    size_t most = 0;
    int rc = 0;
    rescue->store.store_id = old_id;
    for (size_t i = 0; rc == 0 && i < repair->found_count; i++)
        rc = tamis__numbers_append(&ids, repair->found[i].store_id);
    tamis__numbers_sort(&ids);
    for (size_t i = 0, end; i < ids.count; i = end) {
        for (end = i; end < ids.count && ids.list[end] == ids.list[i]; end++)
            continue;
        if (end - i > most || (end - i == most && ids.list[i] == old_id)) {
            most = end - i;
            rescue->store.store_id = ids.list[i];
        }
    }
    free(ids.list);
    return rc;
}

static uint64_t round_up(uint64_t number)
{
    return number / ROUND * ROUND + ROUND;
}

static void describe_store(struct tamis__rescue_work *rescue, const struct tamis__store_record *old)
{
    struct tamis__store_record *store = &rescue->store;
    const struct tamis__repair *repair = rescue->repair;
    uint64_t filter_id = 0;
    store->created_at = old ? old->created_at : tamis__now_ns();
    store->format = old ? old->format : TAMIS__STORE_FORMAT_FIRST; /* records may raise it */
    for (size_t i = 0; i < repair->found_count; i++) {
        const struct tamis__found *found = &repair->found[i];
        if (found->store_id != store->store_id) continue;
        if (found->filter_id > filter_id) filter_id = found->filter_id;
        if (found->entry.created_at < store->created_at)
            store->created_at = found->entry.created_at;
    }
    store->next_filter_id = round_up(filter_id);
    store->next_segment = round_up(repair->highest);
    if (old != NULL && old->next_filter_id > store->next_filter_id)
        store->next_filter_id = old->next_filter_id;
    if (old != NULL && old->next_segment > store->next_segment)
        store->next_segment = old->next_segment;
    if (store->store_id == 0) tamis__random_bytes(&store->store_id, sizeof store->store_id);
}

/* ---- Names ----------------------------------------------------------------------------------- */

void tamis__rescue_describe(const struct tamis__rescue_work *rescue, struct tamis__found *first,
                            struct tamis__lost_filter *filter)
{
    const struct tamis__repair *repair = rescue->repair;
    const struct tamis__found *end = repair->found + repair->found_count;
    *filter = (struct tamis__lost_filter){.first = first};
    for (struct tamis__found *found = first; found < end && found->filter_id == first->filter_id;
         found++) {
        if (found->store_id != rescue->store.store_id) continue; /* others may lie between */
        filter->count = (size_t)(found - first) + 1;
        if (found->name_sequence <= filter->name_sequence) continue;
        filter->name_sequence = found->name_sequence;
        memcpy(filter->name, found->name, sizeof filter->name);
    }
}

static int group(struct tamis__rescue_work *rescue)
{
    struct tamis__repair *repair = rescue->repair;
    rescue->filters = calloc(repair->found_count + 1, sizeof *rescue->filters);
    if (rescue->filters == NULL)
        return tamis__fail(TAMIS_ENOMEM, "out of memory for the filters of the store");
    const struct tamis__found *before = NULL;
    for (size_t i = 0; i < repair->found_count; i++) {
        if (repair->found[i].store_id != rescue->store.store_id) continue;
        if (before == NULL || before->filter_id != repair->found[i].filter_id)
            tamis__rescue_describe(rescue, &repair->found[i], &rescue->filters[rescue->count++]);
        before = &repair->found[i];
    }
    return 0;
}

static int by_filter_name(const void *a, const void *b)
{
    const struct tamis__lost_filter *x = *(const struct tamis__lost_filter *const *)a,
                                    *y = *(const struct tamis__lost_filter *const *)b;
    const int order = strcmp(x->name, y->name);
    if (order != 0) return order;
    if (x->name_sequence != y->name_sequence) return x->name_sequence > y->name_sequence ? -1 : 1;
    return x->first->filter_id > y->first->filter_id ? -1 : 1;
}

static void make_name(struct tamis__lost_filter *filter, const char *base)
{
    tamis__rescue_make_name(base, filter->first->filter_id, filter->name);
    filter->name_sequence++; /* the next open for writing gives it to the segments */
    filter->renamed = true;
}

/* Is there another filter that has, or once had, this name for its own? */
static bool is_taken(struct tamis__lost_filter *const *sorted, size_t count,
                     const struct tamis__lost_filter *filter)
{
    for (size_t i = 0; i < count; i++)
        if (sorted[i] != filter && strcmp(sorted[i]->name, filter->name) == 0) return true;
    return false;
}

int tamis__rescue_find_name(struct tamis__catalog_txn *txn, struct tamis__lost_filter *filter)
{
    struct tamis__record other;
    int rc = 0;
    if (*filter->name == '\0') make_name(filter, "lost");
    while ((rc = tamis__catalog_get(txn, filter->name, &other)) == 0)
        make_name(filter, filter->name);
    return rc == TAMIS_ENOTFOUND ? 0 : rc;
}

/* Two filters may have one name if a crash cut a rename short.  The filter with the later label has
 * the name, and the other one gets another. */
static int give_names(struct tamis__rescue_work *rescue)
{
    if (rescue->count == 0) return 0;
    struct tamis__lost_filter **sorted = calloc(rescue->count, sizeof(struct tamis__lost_filter *));
    if (sorted == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory for the filters' names");
    for (size_t i = 0; i < rescue->count; i++)
        sorted[i] = &rescue->filters[i];
    qsort(sorted, rescue->count, sizeof(struct tamis__lost_filter *), by_filter_name);
    char before[TAMIS_NAME_MAX + 1] = "";
    for (size_t i = 0; i < rescue->count; i++) {
        const bool again = i > 0 && strcmp(sorted[i]->name, before) == 0;
        memcpy(before, sorted[i]->name, sizeof before);
        if (!again && before[0] != '\0') continue;
        make_name(sorted[i], before[0] ? before : "lost");
        while (is_taken(sorted, rescue->count, sorted[i]))
            make_name(sorted[i], sorted[i]->name);
    }
    free(sorted);
    return 0;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Writes a name that was lost, or has changed, into the segments too. */
static void write_labels(const struct tamis__place *place, const struct tamis__lost_filter *filter)
{
    for (size_t i = 0; i < filter->count; i++) {
        struct tamis__segment segment;
        if (filter->first[i].store_id != filter->first->store_id ||
            tamis__segment_open(place, filter->first[i].entry.number, true, &segment) < 0)
            continue;
        (void)tamis__segment_relabel(place, &segment, filter->name_sequence, filter->name);
        tamis__segment_close(&segment);
    }
}

/*
 * Sends every handle to the catalog.  If there is a sound one, this comes before the new one is in
 * force too, so that no handle goes on with the old list if this process dies in between.  A file
 * that cannot be told may be damaged, which is no reason not to repair the rest.
 */
static void raise_epochs(const struct tamis__rescue_work *rescue)
{
    const struct tamis__repair *repair = rescue->repair;
    for (size_t i = 0; i < repair->found_count; i++)
        if (repair->found[i].store_id == rescue->store.store_id)
            (void)tamis__segment_raise_epoch(&repair->store->place, repair->found[i].entry.number);
}

void tamis__rescue_tell(const struct tamis__rescue_work *rescue)
{
    const struct tamis__place *place = &rescue->repair->store->place;
    for (size_t i = 0; i < rescue->told_count; i++)
        (void)tamis__segment_tell(place, rescue->told[i].number, rescue->told[i].offset,
                                  rescue->told[i].value);
    for (size_t i = 0; i < rescue->count; i++)
        if (rescue->filters[i].renamed) write_labels(place, &rescue->filters[i]);
}

/* Puts the old catalog aside: a copy, so that there is a catalog at every moment; what is no file
 * goes itself. */
static int keep_old_catalog(struct tamis__repair *repair)
{
    static const char why[] = "another catalog has taken its place";
    struct tamis_store *store = repair->store;
    struct tamis__file_info info = {0};
    const char *path = store->catalog.file_path;
    int fd = -1, rc = tamis__named_info(store->root_fd, TAMIS__LOST_CATALOG, path, &info);
    if (rc < 0) return rc == TAMIS_ENOTFOUND ? 0 : rc;
    if (!repair->dry && !info.is_regular) {
        rc = tamis__lost_put(store, ".", TAMIS__LOST_CATALOG, why);
    } else if (!repair->dry) {
        rc = tamis__open(store->root_fd, TAMIS__LOST_CATALOG, O_RDONLY, 0, path, &fd);
        if (rc == 0) rc = tamis__lost_keep(store, fd, ".", TAMIS__LOST_CATALOG, why);
        tamis__close(fd);
    }
    return rc < 0 ? rc : tamis__repair_tell_aside(repair, "", TAMIS__LOST_CATALOG, 0, why);
}

static int write_rescued_catalog(struct tamis__rescue_work *rescue, const char *why, bool knows_old)
{
    struct tamis__repair *repair = rescue->repair;
    int rc = repair->dry
                 ? 0
                 : tamis__catalog_begin_new(&repair->store->catalog, &rescue->store, &rescue->txn);
    for (size_t i = 0; rc == 0 && i < rescue->count; i++)
        rc = tamis__rescue_filter(rescue, &rescue->filters[i]);
    if (rc == 0 && knows_old) rc = tamis__rescue_compare(rescue);
    if (rc == 0) rc = keep_old_catalog(repair);
    if (rc == 0 && rescue->txn != NULL) {
        if (knows_old) raise_epochs(rescue);
        rc = tamis__catalog_install_new(rescue->txn);
    }
    if (rc == 0 && rescue->txn != NULL) {
        TAMIS__POINT(TAMIS__POINT_REPAIR_RENAMED);
        tamis__rescue_tell(rescue);
        raise_epochs(rescue);
    }
    tamis__catalog_end(rescue->txn);
    if (rc < 0) return rc;
    return tamis__repair_tell(
        repair, "", "catalog.mdb", 0, "%s made anew from %zu segment%s: %zu filter%s (%s)",
        repair->dry ? "would be" : "is", repair->found_count, tamis__plural(repair->found_count),
        rescue->count, tamis__plural(rescue->count), why);
}

void tamis__rescue_free(struct tamis__rescue_work *rescue)
{
    if (rescue == NULL) return;
    free(rescue->filters);
    free(rescue->told);
    free(rescue->taken.list);
    free(rescue);
}

int tamis__rescue(struct tamis__repair *repair, const char *why,
                  const struct tamis__store_record *old)
{
    struct tamis__rescue_work *rescue = calloc(1, sizeof *rescue);
    if (rescue == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory for the new catalog");
    rescue->repair = repair;
    int rc = choose_store_id(rescue, old ? old->store_id : 0);
    if (rc == 0) {
        describe_store(rescue, old);
        repair->store->store_id = rescue->store.store_id;
        rc = group(rescue);
    }
    if (rc == 0) rc = give_names(rescue);
    if (rc == 0) rc = write_rescued_catalog(rescue, why, old != NULL);
    tamis__rescue_free(rescue);
    return rc;
}
