/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import_publish.c: a stream becomes the next generation of a filter.
 *
 *     head        read and judged (import.c)
 *     compare     if the caller allows it, and the head says which stream this is: is that list in
 *                 force already?  Then nothing is read further
 *     load        the data go into staged files, and these to the disk (import.c)
 *     compare     the same, for streams whose head does not say which they are; and again if others
 *                 publish before the commit, and the stream has to be newer than what is in force
 *     publish     one commit, as a build's (publish.c)
 *
 * Nothing of the filter changes before that commit.  So a stream that fails, whether it is cut,
 * wrong or too large for the disk, leaves the generation that was in force.
 *
 * The exceptions of the stream belong to the generation, also those that were set by hand where it
 * was made: a key that is no exception there any more is none here from the next generation on.
 * Those that were set by hand here stay.
 */
#include "catalog/parameters.h"
#include "exceptions/index.h"
#include "filter/import.h"
#include "filter/publish.h"
#include "handle/open.h"
#include "key/form.h"
#include "plan/policy.h"
#include "txn/exceptions.h"
#include "txn/spares.h"

struct publication {
    struct tamis__import *import;
    struct tamis_publish_spec spec;
    struct tamis__exceptions by_hand; /* of the spec, sorted */
    struct tamis_publish_result result;
};

/* ---- Is it in force already? ----------------------------------------------------------------- */

/* What is in force at one moment. */
struct in_force {
    struct tamis__record record;
    struct tamis__exceptions_source source;
    uint64_t found; /* exceptions that came with the generation */
    uint64_t index_bytes;
    struct tamis__mapped_segment segments[TAMIS__SEGMENTS_MAX];
    uint32_t open;
};

/* Do the segments have the parameters of those that the import makes? */
static bool same_segments(const struct tamis__import *import, const struct tamis__record *record)
{
    if (record->segment_count != import->count) return false;
    for (uint32_t i = 0; i < import->count; i++) {
        const struct tamis__listed_segment *s = &record->segments[i];
        struct tamis__listed_segment made;
        tamis__listed_segment_from_header(&import->drafts[i].header, &made);
        if (tamis__first_difference(tamis__segment_parameters, TAMIS__OF_BITS, s, &made) != NULL ||
            s->capacity != made.capacity || s->fp_rate != made.fp_rate || s->slice != made.slice ||
            s->slice_start != made.slice_start || s->step != made.step)
            return false;
    }
    return true;
}

static bool same_spec(const struct publication *p, const struct tamis__record *record)
{
    const struct tamis__entry entry = tamis__import_entry(p->import);
    const bool keeps = (p->spec.flags & TAMIS_PUBLISH_KEEP) != 0;
    return (!keeps || p->spec.keep == record->keep) && record->capacity == entry.capacity &&
           record->fp_rate == entry.fp_rate && tamis__policy_stays(&record->policy, &entry.policy);
}

/* Has nobody added keys, or taken some off, since the list came into force? */
static bool same_items(const struct tamis__import *import, const struct in_force *now)
{
    for (uint32_t i = 0; i < now->open; i++)
        if (tamis__segment_items(&now->segments[i].segment) !=
            tamis__header_items(&import->drafts[i].header))
            return false;
    return true;
}

/*
 * Are the bits and the exceptions the same?  A list that was imported says of which stream it is.
 * One of kind fuse, whose data have a checksum in the head, may also have been built here, or come
 * by another stream.
 */
static bool same_content(const struct tamis__import *import, const uint8_t *digest,
                         const struct in_force *now)
{
    const struct tamis__segment_header *first = now->segments[0].segment.header;
    const struct tamis__segment_header *made = &import->drafts[0].header;
    if (now->found != import->outline.exceptions) return false;
    /* XXH3 finds accidents: a list with the digest of another one can be made.  So a stream that is
     * signed is in force only if it came by this signature. */
    if (import->spec.signature != 0 && import->spec.signature != first->imported_signature)
        return false;
    if (digest != NULL && first->imported_at != 0 &&
        memcmp(first->imported_digest, digest, sizeof first->imported_digest) == 0)
        return true;
    return made->fingerprint_bits != 0 && import->outline.exceptions == 0 &&
           first->data_checksum == made->data_checksum &&
           memcmp(first->key_digest, import->outline.key_digest, sizeof first->key_digest) == 0;
}

/* Opens what is in force.  Returns 1 if there is more to compare, 0 if it differs already. */
static int open_in_force(const struct publication *p, struct in_force *now)
{
    struct tamis__catalog_txn *txn;
    struct tamis_store *store = p->import->store;
    struct tamis__record *record = &now->record;
    int rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__store_get(store, txn, p->import->name, record);
    const bool differs = rc == TAMIS_ENOTFOUND ||
                         (rc == 0 && !(same_segments(p->import, record) && same_spec(p, record)));
    if (rc == 0 && !differs) rc = tamis__exceptions_open(store, record, &now->source);
    for (uint32_t i = 0; rc == 0 && !differs && i < record->segment_count; i++) {
        rc = tamis__open_segment(store, record, i, false, &now->segments[i]);
        if (rc == 0) now->open++;
    }
    tamis__catalog_end(txn);
    if (differs) return 0;
    if (rc == 0 && now->source.open) {
        now->found = tamis__index_found(&now->source.index.segment);
        now->index_bytes = now->source.index.segment.header->file_bytes;
    }
    return rc < 0 ? rc : 1;
}

/* Are the exceptions of the spec in force, by hand?  1 or 0, or an error. */
static int has_by_hand(const struct publication *p, struct in_force *now)
{
    struct tamis__exceptions all = {.count = 0};
    if (p->by_hand.count == 0) return 1;
    int rc = tamis__exceptions_read(p->import->store, &now->source, &all);
    if (rc == 0) rc = tamis__exceptions_all_in(&p->by_hand, &all, true);
    tamis__exceptions_clear(&all);
    return rc;
}

static void close_in_force(struct in_force *now)
{
    for (uint32_t i = 0; i < now->open; i++)
        tamis__close_segment(&now->segments[i]);
    tamis__exceptions_leave(&now->source);
}

static int compare(struct publication *p, const uint8_t *digest, struct in_force *now)
{
    int rc = open_in_force(p, now);
    if (rc == 1) rc = same_items(p->import, now) && same_content(p->import, digest, now);
    if (rc == 1) rc = has_by_hand(p, now);
    for (uint32_t i = 0; rc == 1 && i < now->open; i++)
        if (tamis__check_at_rest(&now->segments[i]) < 0) rc = 0; /* it is replaced */
    if (rc != 1) return rc;
    p->result.generation = now->record.generation;
    p->result.exceptions = now->record.exception_count;
    p->result.size_bytes = tamis__record_bytes(&now->record) + now->index_bytes;
    return 1;
}

/* Returns 1 if the list in force is the one of the stream, whose digest is NULL as long as it is
 * not known; 0 if not. */
static int is_in_force(struct publication *p, const uint8_t *digest)
{
    if ((p->spec.flags & (TAMIS_PUBLISH_IF_CHANGED | TAMIS_PUBLISH_NEWER)) == 0) return 0;
    struct in_force *now = calloc(1, sizeof *now);
    if (now == NULL)
        return tamis__fail(TAMIS_ENOMEM, "out of memory importing '%s'", p->import->name);
    int rc = compare(p, digest, now);
    close_in_force(now);
    free(now);
    /* A filter that cannot be opened is to be replaced: that is no error of this call. */
    return rc == TAMIS_ECORRUPT || rc == TAMIS_EFOREIGN ? 0 : rc;
}

/* ---- Guards ---------------------------------------------------------------------------------- */

static struct tamis__guards guards_of(const struct tamis_publish_spec *spec)
{
    return (struct tamis__guards){.at_least = spec->at_least,
                                  .has_max_shrink = (spec->flags & TAMIS_PUBLISH_MAX_SHRINK) != 0,
                                  .max_shrink = spec->max_shrink};
}

/* Is the list long enough?  Some heads do not say how long it is: then it is asked for when the
 * list is loaded. */
static int look_at_items(const struct publication *p, bool loaded)
{
    const struct tamis__guards guards = guards_of(&p->spec);
    uint64_t items = 0;
    for (uint32_t i = 0; i < p->import->count; i++)
        items += tamis__header_items(&p->import->drafts[i].header);
    if (!loaded && items == 0) return 0;
    return tamis__guards_pass(&guards, p->import->store, p->import->name, items);
}

/* ---- Publish --------------------------------------------------------------------------------- */

/* `over` is what the stream was compared with.  Returns TAMIS__MOVED if something else is in force
 * by now. */
static int publish(struct publication *p, const struct tamis__over *over)
{
    struct tamis__import *import = p->import;
    struct tamis__published published;
    tamis__import_note(import);
    const struct tamis__entry entry = tamis__import_entry(import);
    struct tamis__edition edition = {.name = import->name,
                                     .drafts = import->drafts,
                                     .count = import->count,
                                     .only_over = (p->spec.flags & TAMIS_PUBLISH_NEWER) != 0,
                                     .over = *over,
                                     .guards = guards_of(&p->spec),
                                     .replaces_any = true,
                                     .capacity = entry.capacity,
                                     .fp_rate = entry.fp_rate,
                                     .policy = entry.policy,
                                     .set_keep = (p->spec.flags & TAMIS_PUBLISH_KEEP) != 0,
                                     .keep = p->spec.keep,
                                     .by_hand = &p->by_hand,
                                     .found = &import->exceptions};
    memcpy(edition.key_digest, entry.key_digest, sizeof edition.key_digest);
    const int rc = tamis__publish_edition(import->store, &edition, &published);
    if (rc != 0) return rc;
    p->result.generation = published.generation;
    p->result.exceptions = published.exceptions;
    p->result.size_bytes = published.size_bytes;
    return 1;
}

/* Is the stream new, and newer if that is asked for?  Returns 1 if it is to be published over
 * *over, 0 if it is in force already. */
static int judge(struct publication *p, const uint8_t *digest, struct tamis__over *over)
{
    int rc = is_in_force(p, digest);
    if (rc == 1) return 0;
    if (rc == 0 && (p->spec.flags & TAMIS_PUBLISH_NEWER) != 0)
        rc = tamis__import_check_newer(p->import, digest, over);
    return rc < 0 ? rc : 1;
}

/* Takes the exceptions that came beside the stream, by the key rule that the stream says. */
static int take_except(struct publication *p)
{
    struct tamis__form_walk walk;
    struct tamis__key_rule rule;
    const char *text = p->import->outline.policy.key_rule;
    int64_t rc = tamis__key_rule_open(p->import->name, text, &rule);
    if (rc < 0) return (int)rc;
    tamis__form_walk_begin(&walk, &rule, p->spec.except, (size_t)p->spec.except_count);
    while (rc == 0 && (rc = tamis__form_walk_next(&walk)) > 0) {
        rc = 0;
        for (size_t i = 0; rc == 0 && i < walk.now; i++)
            rc = tamis__exceptions_add(&p->by_hand, walk.forms[i].data, walk.forms[i].bytes, 0);
    }
    tamis__form_walk_end(&walk);
    return rc < 0 ? (int)rc : tamis__exceptions_sort(&p->by_hand);
}

/* Returns 1 if a generation was published, 0 if the stream's is in force already. */
static int run(struct publication *p)
{
    struct tamis__import *import = p->import;
    int rc = tamis__import_begin(import);
    if (rc == 0) rc = take_except(p);
    if (rc < 0) return rc;
    const uint8_t *digest = import->outline.has_digest ? import->outline.digest : NULL;
    struct tamis__over over = {.generation = 0};
    rc = look_at_items(p, false);
    if (rc == 0) rc = judge(p, digest, &over);
    if (rc < 0) return rc;
    if (rc == 0 && digest != NULL) memcpy(p->result.digest, digest, sizeof p->result.digest);
    if (rc != 1) return rc;
    rc = tamis__import_load(import);
    if (rc == 0) rc = look_at_items(p, true);
    if (rc < 0) return rc;
    memcpy(p->result.digest, import->reader.digest, sizeof p->result.digest);
    do {
        rc = judge(p, import->reader.digest, &over);
        if (rc == 1) rc = publish(p, &over);
    } while (rc == TAMIS__MOVED);
    return rc;
}

/* ---- The call -------------------------------------------------------------------------------- */

static int check_publish_spec(const struct tamis_publish_spec *spec)
{
    const uint32_t known = TAMIS_PUBLISH_IF_CHANGED | TAMIS_PUBLISH_KEEP | TAMIS_PUBLISH_NEWER |
                           TAMIS_PUBLISH_MAX_SHRINK;
    const struct tamis__guards guards = guards_of(spec);
    if ((spec->flags & ~known) != 0)
        return tamis__fail(TAMIS_EINVAL, "publish flags %#x: use those of TAMIS_PUBLISH_*",
                           spec->flags);
    const bool keeps = (spec->flags & TAMIS_PUBLISH_KEEP) != 0;
    const int rc = keeps ? tamis__check_keep(spec->keep) : 0;
    return rc == 0 ? tamis__guards_check(&guards) : rc;
}

/* What makes a filter of its own is nothing for a generation of one. */
static int check_import(const struct tamis__import *import)
{
    const uint64_t not_here = TAMIS_IMPORT_HEAD | TAMIS_IMPORT_OWNED;
    if ((import->spec.flags & not_here) == 0 && import->spec.created_at == 0) return 0;
    return tamis__fail(TAMIS_EINVAL,
                       "a generation is published with all its data, and takes over whose the "
                       "filter is and when it was made; leave TAMIS_IMPORT_HEAD, "
                       "TAMIS_IMPORT_OWNED and created_at out");
}

TAMIS_API int tamis_filter_publish(tamis_store *store, const char *name, const char *format,
                                   const struct tamis_publish_spec *spec,
                                   const struct tamis_source *source,
                                   struct tamis_publish_result *result)
{
    TAMIS__REFUSE_NULL(store, "store");
    struct publication p = {.spec = {.size = sizeof p.spec}, .result = {.size = sizeof p.result}};
    int rc = result != NULL ? tamis__check_struct(result, "struct tamis_publish_result") : 0;
    if (rc == 0 && spec != NULL)
        rc = tamis__take_struct(spec, &p.spec, sizeof p.spec, "struct tamis_publish_spec");
    if (rc == 0) rc = check_publish_spec(&p.spec);
    const struct tamis__import_call call = {store, __func__, name, format, p.spec.import, source};
    if (rc == 0) rc = tamis__import_new(&call, &p.import);
    if (rc < 0 || p.import == NULL) return rc;
    p.import->takes_exceptions = true;
    rc = check_import(p.import);
    if (rc == 0) rc = tamis__check_keys(p.spec.except, (size_t)p.spec.except_count);
    if (rc == 0) rc = run(&p);
    tamis__import_free(p.import);
    tamis__exceptions_clear(&p.by_hand);
    if (rc >= 0 && result != NULL) tamis__give_struct(&p.result, sizeof p.result, result);
    return rc;
}
