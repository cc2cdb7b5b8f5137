/* SPDX-License-Identifier: BSD-2-Clause */
/* commit.c: see commit.h. */
#include "txn/commit.h"

#include <assert.h>

#include "segment/live.h"
#include "txn/points.h"
#include "txn/recover.h"
#include "txn/spares.h"
#include "txn/write.h"

/* Does the list stay and only get further segments? */
static bool goes_on(const struct tamis__commit *c)
{
    return c->come == TAMIS__COME_SPARES || c->come == TAMIS__COME_BEHIND;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/*
 * Gives the next free segment number.  If a file has that number already, its maker died before the
 * commit.  Such a file is removed if nothing was ever added to it.  Otherwise this catalog is older
 * than its segments (it was restored from a copy): the file is left alone, the next number is
 * tried, and filter ids go on above that of the file.
 */
static int take_number(struct tamis_store *store, struct tamis__store_record *counters,
                       uint64_t *number)
{
    for (;;) {
        uint64_t filter_id = 0;
        *number = counters->next_segment++;
        const int rc = tamis__segment_vacate(&store->place, *number, &filter_id);
        if (rc != 0) return rc < 0 ? rc : 0;
        if (filter_id >= counters->next_filter_id) counters->next_filter_id = filter_id + 1;
        if (counters->passed == 0) counters->passed = *number; /* repair must not remove it */
    }
}

static int number_one(struct tamis__commit *c, struct tamis__draft *draft, bool filled)
{
    uint64_t *number = &draft->header.number;
    struct tamis__store_record *counters = tamis__catalog_store(c->txn);
    const int rc = take_number(c->store, counters, number);
    if (tamis__header_is_one_page(&draft->header))
        tamis__catalog_raise_format(c->txn, TAMIS__STORE_FORMAT_ONE_PAGE);
    return rc == 0 && filled ? tamis__catalog_put_garbage(c->txn, *number) : rc;
}

/*
 * Files with contents are noted as garbage, in a commit of its own under the same lock.  Until the
 * last commit takes them off the list of garbage, they belong to no filter.  If the maker dies, the
 * next writer removes them.  A blank file needs no note: the next writer sees that it is blank. But
 * it looks at a few numbers only, so many blank files are noted too.
 */
static int number_files(struct tamis__commit *c)
{
    const bool notes = ((c->filled && c->count > 0) || c->index != NULL) && !c->is_one_of_many;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < c->count; i++)
        rc = number_one(c, &c->drafts[i], c->filled);
    if (rc == 0 && c->index != NULL) rc = number_one(c, c->index, true);
    /* The filter id is above those of files that were in the way. */
    if (rc == 0 && c->before == NULL)
        c->after->filter_id = tamis__catalog_store(c->txn)->next_filter_id++;
    return rc == 0 && notes ? tamis__catalog_commit_part(c->txn) : rc;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static int name_file(struct tamis__commit *c, struct tamis__draft *draft, uint64_t generation)
{
    struct tamis__segment_header *header = &draft->header;
    const struct tamis__record *after = c->after;
    header->filter_id = after->filter_id;
    header->generation = generation;
    header->publication = after->publication;
    header->keep = after->keep;
    tamis__draft_set_policy(draft, &after->policy);
    tamis__label_write(&header->labels[0], after->name_sequence, after->name);
    return c->is_one_of_many ? tamis__segment_write_header(&c->store->place, &draft->staged, header)
                             : tamis__segment_publish(&c->store->place, &draft->staged, header);
}

static void describe_in_list(const struct tamis__commit *c, uint32_t i)
{
    struct tamis__segment_header *header = &c->drafts[i].header;
    const bool last = i + 1 == c->count;
    header->list_start = i == 0;
    header->live.in_force = last ? c->after->publication : 0;
    header->live.exceptions = last ? c->after->exceptions : 0;
    header->live.next = last ? 0 : c->drafts[i + 1].header.number;
    memcpy(header->key_digest, c->after->key_digest, sizeof header->key_digest);
}

static void describe_behind(const struct tamis__commit *c, uint32_t i)
{
    struct tamis__segment_header *header = &c->drafts[i].header;
    header->live.in_force = c->after->publication;
    header->live.exceptions = c->after->exceptions;
    if (c->come == TAMIS__COME_SPARES) header->flags |= TAMIS__SEGMENT_AHEAD;
    if (i + 1 < c->count) header->live.next = TAMIS__NEXT_SPARE | c->drafts[i + 1].header.number;
}

static int name_draft(struct tamis__commit *c, uint32_t i)
{
    struct tamis__record *after = c->after;
    const bool is_list = c->come == TAMIS__COME_LIST;
    if (is_list)
        describe_in_list(c, i);
    else
        describe_behind(c, i);
    /* A spare has the generation that begins when it is entered. */
    const int rc =
        name_file(c, &c->drafts[i], is_list ? after->generation : after->last_generation + 1 + i);
    if (rc < 0) return rc;
    struct tamis__listed_segment *segment =
        &after->segments[after->segment_count + after->spare_count];
    tamis__listed_segment_from_header(&c->drafts[i].header, segment);
    segment->items = tamis__header_items(&c->drafts[i].header);
    if (is_list)
        after->segment_count++;
    else
        after->spare_count++;
    return 0;
}

static int name_files(struct tamis__commit *c)
{
    struct tamis__record *after = c->after;
    int rc = 0;
    if (c->index != NULL) {
        rc = name_file(c, c->index, after->generation);
        after->exceptions = c->index->header.number;
    }
    if (c->come == TAMIS__COME_LIST) after->segment_count = after->spare_count = 0;
    for (uint32_t i = 0; rc == 0 && i < c->count; i++)
        rc = name_draft(c, i);
    if (rc == 0 && c->come == TAMIS__COME_BEHIND) tamis__record_enter_spare(after);
    if (rc == 0 && goes_on(c)) tamis__record_sum_capacity(after);
    return rc;
}

/* Removes the files that got their names.  They are not staged any more.  A file that cannot be
 * removed here is garbage in the catalog, or blank: the next writer removes it. */
static void remove_named(const struct tamis__commit *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (!c->drafts[i].staged.file.is_open)
            (void)tamis__segment_remove(&c->store->place, c->drafts[i].header.number);
    if (c->index != NULL && !c->index->staged.file.is_open)
        (void)tamis__segment_remove(&c->store->place, c->index->header.number);
}

/* ---- The catalog ----------------------------------------------------------------------------- */

/* Does another list come into force, and not the same one with further segments? */
static bool replaces_list(const struct tamis__commit *c)
{
    return c->before != NULL && !goes_on(c) && c->after->generation != c->before->generation;
}

/* Keeps the list that was in force.  If a kept list comes back, the catalog forgets it as a kept
 * one. */
static int keep_list(struct tamis__commit *c)
{
    const uint64_t id = c->after->filter_id;
    struct tamis__record old = *c->before;
    if (!c->keeps_exceptions) old.exceptions = old.exception_count = 0;
    int rc = tamis__catalog_put_generation(c->txn, &old);
    if (rc == 0 && c->comes_back_with != 0)
        rc = tamis__remove_later(c->txn, c->remove, c->comes_back_with);
    if (rc == 0) rc = tamis__catalog_forget_generation(c->txn, id, c->after->generation);
    return rc < 0 ? rc : tamis__generations_trim(c->txn, id, c->after->keep, c->remove);
}

/* Writes what becomes of the list before: what goes, and what is kept. */
static int write_what_goes(struct tamis__commit *c)
{
    const struct tamis__record *before = c->before;
    const bool replaces = replaces_list(c);
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < c->behind; i++)
        rc = tamis__remove_later(c->txn, c->remove, before->segments[i].number);
    if (rc == 0 && before->exceptions != 0 && before->exceptions != c->after->exceptions &&
        !(replaces && c->keeps_exceptions))
        rc = tamis__remove_later(c->txn, c->remove, before->exceptions);
    return rc == 0 && replaces ? keep_list(c) : rc;
}

/* A new list begins clean.  A list that comes back may have been written to when the machine went
 * down.  What was missing may also have been in segments that go. */
static int write_trouble(struct tamis__commit *c)
{
    if (c->come == TAMIS__COME_LIST)
        return tamis__catalog_put_trouble(c->txn, c->after->filter_id,
                                          (struct tamis__trouble){.unclean_since = 0});
    if (c->come == TAMIS__COME_NOT || c->behind > 0)
        return tamis__recover_filter(c->store, c->txn, c->after);
    return 0;
}

static int write_catalog(struct tamis__commit *c)
{
    int rc = c->before != NULL ? write_what_goes(c) : 0;
    for (uint32_t i = 0; rc == 0 && c->filled && i < c->count; i++)
        rc = tamis__catalog_forget_garbage(c->txn, c->drafts[i].header.number);
    if (rc == 0 && c->index != NULL)
        rc = tamis__catalog_forget_garbage(c->txn, c->index->header.number);
    if (rc == 0 && c->before != NULL) rc = write_trouble(c);
    return rc < 0 ? rc : tamis__catalog_put(c->txn, c->after);
}

/* ---- Handles --------------------------------------------------------------------------------- */

/*
 * A list that only goes on needs no new epoch: handles read in its newest segment where it goes on,
 * and adders find the spare.
 *
 * What once came after a list that comes back is taken away before the commit, so that whoever
 * finds the list in the catalog can add to it at once, even if this process dies before it tells.
 * Handles that slept in that list since before see by its epoch, which was raised when it was left,
 * that they must look at the catalog.
 */
static int raise_list_epochs(const struct tamis__commit *c)
{
    if (c->before == NULL || (goes_on(c) && c->behind == 0)) return 0;
    int rc = tamis__raise_epochs(c->store, c->before);
    if (rc == 0 && c->come == TAMIS__COME_NOT)
        rc = tamis__segment_stay(&c->store->place, tamis__record_newest(c->after)->number);
    return rc;
}

static void tell_word(const struct tamis__commit *c, uint64_t number, size_t offset, uint64_t value)
{
    (void)tamis__segment_tell(&c->store->place, number, offset, value);
    TAMIS__POINT(TAMIS__POINT_PUBLISH_WORD);
}

/*
 * Writes the live words in the segments.  They lead handles on without the catalog; if this fails,
 * the handles look there.  The exceptions come first: a handle that reads in_force finds the
 * exceptions of that publication, or later ones.
 */
static void tell_of_list(const struct tamis__commit *c)
{
    const uint64_t newest = tamis__record_newest(c->after)->number;
    if (c->come == TAMIS__COME_NOT) {
        tell_word(c, newest, offsetof(struct tamis__live, exceptions), c->after->exceptions);
        tell_word(c, newest, offsetof(struct tamis__live, in_force), c->after->publication);
    }
    /* The first segment of the list is named, never a later one: a handle would put a later one
     * behind a list of its own. */
    if (replaces_list(c))
        tell_word(c, tamis__record_newest(c->before)->number, offsetof(struct tamis__live, next),
                  c->after->segments[0].number);
}

static void tell_handles(const struct tamis__commit *c)
{
    if (c->come == TAMIS__COME_SPARES) {
        TAMIS__POINT(TAMIS__POINT_GROW_AHEAD);
        tamis__segment_offer(c->left, c->drafts[0].header.number);
    } else if (c->come == TAMIS__COME_BEHIND) {
        tamis__segment_leave(c->left, c->drafts[0].header.number);
        TAMIS__POINT(TAMIS__POINT_GROW_LEFT);
    } else {
        if (c->before != NULL) tell_of_list(c);
        TAMIS__POINT(TAMIS__POINT_PUBLISH_TOLD);
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

int tamis__commit(struct tamis__commit *c)
{
    struct tamis__record *after = c->after;
    bool is_open = false;
    after->publication = c->before != NULL ? c->before->publication + 1 : 1;
    after->segment_count -= c->behind;
    memmove(after->segments, after->segments + c->behind,
            (after->segment_count + after->spare_count) * sizeof after->segments[0]);
    int rc = number_files(c);
    if (rc == 0) rc = name_files(c);
    if (rc == 0) rc = write_catalog(c);
    if (rc == 0 && c->opened != NULL) {
        rc = c->opened(c->context, c->store, after);
        is_open = rc == 0;
    }
    if (rc == 0) rc = raise_list_epochs(c);
    if (rc == 0) {
        TAMIS__POINT(TAMIS__POINT_PUBLISH_EPOCH);
        rc = tamis__catalog_commit(c->txn);
    }
    if (rc < 0) {
        if (is_open) (void)c->opened(c->context, c->store, NULL);
        remove_named(c);
        return rc;
    }
    tell_handles(c);
    return 0;
}

/* ---- Many ------------------------------------------------------------------------------------ */

static uint32_t drafts_of(const struct tamis__commit *commits, uint32_t count)
{
    uint32_t drafts = 0;
    for (uint32_t i = 0; i < count; i++)
        drafts += commits[i].count;
    return drafts;
}

/* Brings the files of all to the disk, before they have their names. */
static int sync_many(const struct tamis__commit *commits, uint32_t count)
{
    size_t files = 0;
    int *fds = calloc(drafts_of(commits, count), sizeof *fds);
    if (fds == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory making many filters");
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < commits[i].count; j++) {
            const struct tamis__draft *draft = &commits[i].drafts[j];
            fds[files++] = draft->staged.file.fd;
            tamis__start_writing(draft->staged.file.fd, 0, draft->header.file_bytes);
        }
    const int rc = tamis__sync_files(fds, files, commits[0].store->place.path);
    free(fds);
    return rc;
}

static int take_names(const struct tamis__commit *commits, uint32_t count)
{
    const struct tamis__place *place = &commits[0].store->place;
    int rc = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; rc == 0 && j < commits[i].count; j++) {
            struct tamis__draft *draft = &commits[i].drafts[j];
            rc = tamis__segment_take_name(place, &draft->staged, draft->header.number);
        }
    return rc < 0 ? rc : tamis__segments_sync_names(place);
}

/* Numbers the files of all, writes their headers, and gives them their names when they are on the
 * disk. */
static int name_many(struct tamis__commit *commits, uint32_t count)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        rc = number_files(&commits[i]);
    if (rc == 0) rc = tamis__catalog_commit_part(commits[0].txn);
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        rc = name_files(&commits[i]);
    if (rc == 0) rc = sync_many(commits, count);
    return rc == 0 ? take_names(commits, count) : rc;
}

int tamis__commit_many(struct tamis__commit *commits, uint32_t count)
{
    int rc = 0;
    if (count == 0) return 0;
    for (uint32_t i = 0; i < count; i++) {
        assert(commits[i].filled && commits[i].before == NULL && commits[i].opened == NULL);
        commits[i].is_one_of_many = true;
        commits[i].after->publication = 1;
    }
    rc = name_many(commits, count);
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        rc = write_catalog(&commits[i]);
    if (rc == 0) rc = tamis__catalog_commit(commits[0].txn);
    for (uint32_t i = 0; rc < 0 && i < count; i++)
        remove_named(&commits[i]);
    return rc;
}
