/* SPDX-License-Identifier: BSD-2-Clause */
/* export.c: writes a filter as a stream in one of the formats of exchange/. */
#include "exchange/exchange.h"
#include "handle/follow.h"

/* Refuses what no format can carry. */
static int check_carried(const struct tamis_filter *filter, const struct tamis__view *view)
{
    const struct tamis__segment *index = &view->index.segment;
    if (index->header != NULL && tamis__segment_items(index) > 0)
        return tamis__fail(
            TAMIS_EUNSUPPORTED,
            "the filter '%s' has %llu exception%s, which no format carries; copy the "
            "store (tamis backup), or remove them (tamis except)",
            filter->name, (unsigned long long)tamis__segment_items(index),
            tamis__plural(tamis__segment_items(index)));
    if (tamis__newest(view)->segment.header->fingerprint_bits != 0)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "the filter '%s' is of kind fuse, which no format carries; copy the "
                           "store (tamis backup), or build it there from the same keys",
                           filter->name);
    return 0;
}

/* Does the stream tell no more of the hashing of keys than the caller allows? */
static int check_secrets(const struct tamis_filter *filter, const struct tamis__view *view,
                         const struct tamis__format *format, unsigned flags)
{
    if ((flags & ~TAMIS_EXPORT_WITH_KEY) != 0)
        return tamis__fail(TAMIS_EINVAL, "export flags %#x: use those of TAMIS_EXPORT_*", flags);
    if ((flags & TAMIS_EXPORT_WITH_KEY) != 0 || !format->has_secrets) return 0;
    for (uint32_t i = 0; i < view->count; i++) {
        const struct tamis__segment_header *h = view->segments[i].segment.header;
        const bool keyed = tamis__hash_set_by_id(h->hash_set)->keyed;
        if (keyed || h->seed != 0)
            return tamis__fail(
                TAMIS_EINVAL,
                "the stream would hold the %s of the filter '%s', by which keys "
                "can be chosen against it; to write it all the same, give --with-key, and "
                "keep the stream as secret as the store",
                keyed ? "secret key" : "seed", filter->name);
    }
    return 0;
}

TAMIS_API int tamis_filter_export(tamis_filter *filter, const char *format, unsigned flags,
                                  const struct tamis_sink *sink)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct tamis_filter_stat stat = {.size = sizeof stat};
    struct tamis_sink to;
    struct tamis__writer writer;
    struct tamis__cargo cargo = {0};
    struct tamis__view *view;
    const struct tamis__format *found = tamis__format_by_name(format);
    if (found == NULL) return TAMIS_EINVAL;
    int rc = tamis__take_struct(sink, &to, sizeof to, "struct tamis_sink");
    if (rc == 0 && to.write == NULL) rc = tamis__fail_null(__func__, "sink->write");
    if (rc == 0) rc = tamis_filter_stat(filter, &stat); /* fails with TAMIS_EDROPPED too */
    if (rc < 0) return rc;
    cargo.capacity = stat.capacity;
    cargo.fp_rate = stat.fp_rate;
    rc = tamis__pin_current(filter, &view); /* the sink may take long, and may call us */
    if (rc < 0) return rc;
    cargo.count = view->count;
    cargo.policy = view->policy;
    for (uint32_t i = 0; i < cargo.count; i++)
        cargo.segments[i] = &view->segments[i].segment;
    rc = check_carried(filter, view);
    if (rc == 0) rc = found->check(&cargo);
    if (rc == 0) rc = check_secrets(filter, view, found, flags);
    if (rc == 0) {
        rc = tamis__writer_init(&writer, &to);
        if (rc == 0) rc = found->save(&cargo, &writer);
        if (rc == 0) rc = tamis__writer_flush(&writer);
        tamis__writer_clear(&writer);
        if (rc == 0) rc = tamis__view_check(view);
    }
    tamis__unpin(filter, view);
    return rc;
}
