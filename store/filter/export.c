/* SPDX-License-Identifier: BSD-2-Clause */
/* export.c: writes a filter as a stream in one of the formats of exchange/. */
#include "exceptions/index.h"
#include "exchange/exchange.h"
#include "filter/points.h"
#include "handle/follow.h"
#include "handle/view.h"

/* Takes the exceptions of the view, if the format carries them and they are sound. */
static int take_exceptions(const struct tamis_filter *filter, const struct tamis__view *view,
                           const struct tamis__format *format, struct tamis__cargo *cargo)
{
    const struct tamis__segment *index = &view->index.segment;
    const uint64_t count = index->header != NULL ? tamis__index_count(index) : 0;
    if (count == 0) return 0;
    if (!format->has_exceptions)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "the filter '%s' has %llu exception%s, which format %s does not carry; "
                           "export it as tamis, or remove them (tamis except)",
                           filter->name, (unsigned long long)count, tamis__plural(count),
                           format->name);
    /* What comes in anew there gets a new checksum, which must not cover up damage. */
    if (!tamis__index_sum_is_right(index))
        return tamis__fail(TAMIS_ECORRUPT,
                           "the filter '%s' has damaged exceptions" TAMIS__INDEX_MEND,
                           filter->name);
    cargo->index = index;
    return 0;
}

/* The view does not change, whatever others do meanwhile with the list or the exceptions. */
static int load_cargo(const struct tamis_filter *filter, const struct tamis__view *view,
                      const struct tamis__format *format, unsigned flags,
                      struct tamis__cargo *cargo)
{
    const struct tamis__segment_header *first = view->segments[0].segment.header;
    cargo->count = view->count;
    cargo->policy = view->policy;
    memcpy(cargo->key_digest, first->key_digest, sizeof cargo->key_digest);
    cargo->with_digest = (flags & TAMIS_EXPORT_WITH_DIGEST) != 0;
    if (cargo->with_digest && !format->has_digest)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "a stream of format %s has no place for a digest at its head; leave the "
                           "digest out, or export the filter as tamis",
                           format->name);
    if (filter->rule != NULL && !format->has_key_rule)
        return tamis__fail(
            TAMIS_EUNSUPPORTED,
            "the filter '%s' has the key rule %s, which format %s does not carry, so "
            "who reads the stream would hash other keys; export it as tamis",
            filter->name, filter->rule->text, format->name);
    for (uint32_t i = 0; i < cargo->count; i++)
        cargo->segments[i] = &view->segments[i].segment;
    int rc = 0;
    if ((flags & TAMIS_EXPORT_WITHOUT_EXCEPTIONS) == 0)
        rc = take_exceptions(filter, view, format, cargo);
    return rc < 0 || format->check == NULL ? rc : format->check(cargo);
}

/* Waits for who is changing the list: without that, a look may follow the other at once, long
 * before the catalog has the change. */
static int advance(struct tamis_filter *filter)
{
    struct tamis__view *view;
    int rc = tamis__visit(filter, &view);
    if (rc < 0) return rc;
    rc = tamis__view_advance(filter, &view);
    return (int)tamis__leave_with(filter, view, rc);
}

/* Others may change the list between the two looks that an export takes: then it looks again. */
#define LOOKS_MAX 1000

/* Pins the view in force, and gets the capacity and the rate that the catalog has of this list. */
static int pin(struct tamis_filter *filter, struct tamis__view **pinned, struct tamis__cargo *cargo)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    for (unsigned i = 0; i < LOOKS_MAX; i++) {
        int rc = tamis__pin_current(filter, pinned); /* the sink may take long, and may call us */
        if (rc < 0) return rc;
        TAMIS__POINT(TAMIS__POINT_EXPORT_PINNED);
        rc = tamis_filter_stat(filter, &stat); /* fails with TAMIS_EDROPPED too */
        cargo->capacity = stat.capacity;
        cargo->fp_rate = stat.fp_rate;
        if (rc == 0 && tamis__view_moved(*pinned, &tamis__newest(*pinned)->segment) == 0) return 0;
        tamis__unpin(filter, *pinned);
        if (rc == 0) rc = advance(filter);
        if (rc < 0) return rc;
    }
    return tamis__fail(TAMIS_ELIMIT,
                       "others kept changing the filter '%s' meanwhile; try again when they are "
                       "done",
                       filter->name);
}

/* Does the stream tell no more of the hashing of keys than the caller allows? */
static int check_secrets(const char *name, const struct tamis__cargo *cargo,
                         const struct tamis__format *format, unsigned flags)
{
    const unsigned known =
        TAMIS_EXPORT_WITH_KEY | TAMIS_EXPORT_WITHOUT_EXCEPTIONS | TAMIS_EXPORT_WITH_DIGEST;
    if ((flags & ~known) != 0)
        return tamis__fail(TAMIS_EINVAL, "export flags %#x: use those of TAMIS_EXPORT_*", flags);
    if ((flags & TAMIS_EXPORT_WITH_KEY) != 0 || !format->has_secrets) return 0;
    for (uint32_t i = 0; i < cargo->count; i++) {
        const struct tamis__segment_header *h = cargo->segments[i]->header;
        const bool keyed = tamis__hash_set_by_id(h->hash_set)->keyed;
        if (keyed || h->seed != 0)
            return tamis__fail(
                TAMIS_EINVAL,
                "the stream would hold the %s of the filter '%s', and anybody who has it can "
                "choose keys that seem present; if you want it all the same, give --with-key, and "
                "keep the stream as secret as the store",
                keyed ? "secret key" : "seed", name);
    }
    return 0;
}

/* Takes what the caller of an export has said of the stream. */
static int take_sink(const char *caller, const struct tamis_sink *sink, struct tamis_sink *to)
{
    const int rc = tamis__take_struct(sink, to, sizeof *to, "struct tamis_sink");
    return rc == 0 && to->write == NULL ? tamis__fail_null(caller, "sink->write") : rc;
}

/* No stream is made of data that are damaged at rest. */
static int check_view_at_rest(const struct tamis__view *view)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < view->count; i++)
        if (view->segments[i].segment.header->data_checksum == 0) /* else the stream sums them */
            rc = tamis__check_at_rest(&view->segments[i]);
    return rc;
}

static int save_cargo(const struct tamis__cargo *cargo, const struct tamis__format *format,
                      struct tamis__writer *writer)
{
    int rc = format->save(cargo, writer);
    if (rc == 0) rc = tamis__writer_flush(writer);
    if (rc == 0 && writer->sink->all_bytes != NULL) *writer->sink->all_bytes = writer->offset;
    return rc;
}

TAMIS_API int tamis_filter_export(tamis_filter *filter, const char *format, uint32_t flags,
                                  const struct tamis_sink *sink)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct tamis_sink to;
    struct tamis__writer writer;
    struct tamis__cargo cargo = {0};
    struct tamis__view *view;
    const struct tamis__format *found = tamis__format_by_name(format);
    if (found == NULL) return TAMIS_EINVAL;
    int rc = take_sink(__func__, sink, &to);
    if (rc == 0) rc = pin(filter, &view, &cargo);
    if (rc < 0) return rc;
    rc = load_cargo(filter, view, found, flags, &cargo);
    if (rc == 0) rc = check_secrets(filter->name, &cargo, found, flags);
    if (rc == 0) rc = check_view_at_rest(view);
    if (rc == 0) {
        rc = tamis__writer_init(&writer, &to);
        if (rc == 0) rc = save_cargo(&cargo, found, &writer);
        tamis__writer_clear(&writer);
        if (rc == 0) rc = tamis__view_check(view);
    }
    tamis__unpin(filter, view);
    return rc;
}
