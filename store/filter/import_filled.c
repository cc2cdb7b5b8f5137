/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import_filled.c: streams in memory that become filters of one transaction (create_many.c).
 *
 *     describe   the head of the stream is read and judged as that of any import (import.c); what
 *                comes of it is one draft, a sheet if it fits into one
 *     load       the head once more, and the data, into that draft
 *
 * A filter with several segments, with exceptions or of kind fuse is more than one draft with a few
 * bytes, and one with a window has a clock that runs: these are refused, and their stream is one
 * for tamis_filter_import().
 */
#include <stdlib.h>

#include "filter/import.h"

#define SENTENCE_BYTES 512

static int64_t read_memory(void *context, void *buffer, size_t bytes)
{
    struct tamis__intake *intake = context;
    const size_t now = bytes < intake->left ? bytes : intake->left;
    memcpy(buffer, intake->next, now);
    intake->next += now;
    intake->left -= now;
    return (int64_t)now;
}

/* Why the stream cannot be one draft; NULL: it can. */
static const char *problem_of(const struct tamis__outline *outline)
{
    if (outline->count > 1) return "has several segments";
    if (outline->exceptions > 0) return "has exceptions";
    if (outline->layers[0].shape.fingerprint_bits != 0) return "is of kind fuse";
    return outline->policy.slices != 0 ? "forgets by a window" : NULL;
}

/* Of many streams the caller wants to know which it was. */
static int fail_stream(int rc, const char *name)
{
    char quoted[TAMIS__QUOTED_BYTES], said[SENTENCE_BYTES];
    if (rc != TAMIS_ECORRUPT && rc != TAMIS_EFOREIGN && rc != TAMIS_EVERSION) return rc;
    (void)snprintf(said, sizeof said, "%s", tamis_last_error());
    return tamis__fail(rc, "the filter %s cannot be made: %s", tamis__quote(quoted, name), said);
}

/* The format of a stream that can be one draft; NULL: of another one, or there is none. */
static const struct tamis__format *format_of(const char *name)
{
    if (name == NULL) return &tamis__format_portable;
    const struct tamis__format *format = tamis__format_by_name(name);
    return format == &tamis__format_redisbloom || format == &tamis__format_portable ? format : NULL;
}

static struct tamis_import_spec spec_of(const struct tamis_filled *wanted)
{
    return (struct tamis_import_spec){.size = sizeof(struct tamis_import_spec),
                                      .flags = wanted->flags,
                                      .created_at = wanted->created_at};
}

int tamis__intake_check(const struct tamis_filled *wanted)
{
    const struct tamis__format *format = format_of(wanted->format);
    const struct tamis_import_spec spec = spec_of(wanted);
    if (format == NULL)
        return tamis__fail(TAMIS_EINVAL,
                           "filters are made together from streams of format tamis or redisbloom; "
                           "import another one with tamis_filter_import()");
    if ((spec.flags & TAMIS_IMPORT_DURABLE) != 0)
        return tamis__fail(TAMIS_EINVAL, "durable filters are not made together; import this one "
                                         "with tamis_filter_import()");
    return tamis__import_check_flags(&spec, format);
}

static int begin(struct tamis__intake *intake, const struct tamis_filled *wanted)
{
    struct tamis__import *import = &intake->import;
    char quoted[TAMIS__QUOTED_BYTES];
    intake->next = wanted->stream;
    intake->left = wanted->stream_bytes;
    import->name = wanted->name;
    import->format = format_of(wanted->format);
    import->count = 0;
    import->fillings[0] = (struct tamis__import_filling){.done_bytes = 0};
    memset(&import->outline, 0, offsetof(struct tamis__outline, layers));
    import->spec = spec_of(wanted);
    import->source = (struct tamis_source){.size = sizeof import->source,
                                           .read = read_memory,
                                           .context = intake,
                                           .bytes = wanted->stream_bytes};
    tamis__reader_begin(&import->reader, &import->source, import->format->name);
    const int rc = tamis__import_judge(import);
    if (rc < 0) return fail_stream(rc, wanted->name);
    const char *problem = problem_of(&import->outline);
    if (problem == NULL) return 0;
    return tamis__fail(TAMIS_EUNSUPPORTED,
                       "the filter %s %s, so it is not made together with others; import it with "
                       "tamis_filter_import()",
                       tamis__quote(quoted, wanted->name), problem);
}

int tamis__intake_new(struct tamis_store *store, struct tamis__intake **out)
{
    struct tamis__intake *intake = calloc(1, sizeof *intake);
    if (intake == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory making many filters");
    intake->import.store = store;
    const int rc = tamis__reader_init(&intake->import.reader, &intake->import.source, "tamis");
    if (rc < 0) free(intake);
    if (rc == 0) *out = intake;
    return rc;
}

int tamis__intake_describe(struct tamis__intake *intake, const struct tamis_filled *wanted,
                           struct tamis__draft *draft, struct tamis__entry *entry)
{
    const int rc = begin(intake, wanted);
    if (rc < 0) return rc;
    *draft = intake->import.drafts[0];
    tamis__draft_shrink(draft, wanted->name);
    *entry = tamis__import_entry(&intake->import);
    entry->drafts = draft;
    return 0;
}

int tamis__intake_load(struct tamis__intake *intake, const struct tamis_filled *wanted,
                       struct tamis__draft *draft)
{
    struct tamis__import *import = &intake->import;
    int rc = begin(intake, wanted);
    if (rc == 0 && draft->is_sheet) rc = tamis__draft_take_memory(draft);
    if (rc < 0) return rc;
    import->drafts[0] = *draft;
    rc = tamis__import_fill(import);
    draft->header = import->drafts[0].header;
    return fail_stream(rc, wanted->name);
}

void tamis__intake_free(struct tamis__intake *intake)
{
    if (intake == NULL) return;
    tamis__reader_clear(&intake->import.reader);
    free(intake);
}

/* ---- Before there is a store ------------------------------------------------------------------
 */

/* What the only segment would be, with a name that is not long. */
static int fits_as(const struct tamis__outline *outline)
{
    struct tamis__draft draft;
    struct tamis__refusal refusal;
    tamis__import_draft_layer(NULL, "", &outline->layers[0], &draft);
    if (tamis__import_judge_draft(&outline->policy, &draft, &refusal) < 0)
        return TAMIS_STREAM_ALONE;
    tamis__draft_shrink(&draft, "");
    return draft.is_sheet ? TAMIS_STREAM_IN_DRAWER : TAMIS_STREAM_IN_FILE;
}

static bool has_sound_sum(const unsigned char *stream, size_t bytes)
{
    unsigned char sum[TAMIS__SUM_BYTES];
    struct tamis__sum state;
    tamis__sum_init(&state);
    tamis__sum_add(&state, stream, bytes - sizeof sum);
    tamis__sum_finish(&state, sum);
    return memcmp(sum, stream + bytes - sizeof sum, sizeof sum) == 0;
}

/* Can the bits be those of a filter?  As finish_layer() of import_load.c. */
static bool has_sound_bits(const struct tamis__listed_segment *segment, const unsigned char *data,
                           size_t bytes)
{
    uint64_t last = 0;
    tamis__keep_last_word(&last, segment->m_bits, 0, data, bytes);
    return !tamis__bits_past(last, segment->m_bits, segment->bit_order) &&
           (segment->items == 0 || !tamis__is_zero(data, bytes));
}

/* Are these bytes the whole of a stream of format tamis, as far as its head tells, and would it be
 * refused for what comes behind the head? */
static bool is_damaged(const struct tamis__format *format, const struct tamis__outline *outline,
                       const unsigned char *stream, size_t bytes)
{
    const struct tamis__listed_segment *segment = &outline->layers[0].segment;
    if (format != &tamis__format_portable || outline->preface_bytes != 0 ||
        bytes != outline->head_bytes + outline->least_bytes)
        return false;
    if (!has_sound_sum(stream, bytes)) return true;
    return segment->counter_bits == 0 &&
           !has_sound_bits(segment, stream + outline->head_bytes,
                           (size_t)outline->least_bytes - TAMIS__SUM_BYTES);
}

TAMIS_API int tamis_stream_fits(const char *format, const void *stream, size_t bytes)
{
    struct tamis__refusal refusal;
    const struct tamis__format *of = format_of(format);
    TAMIS__REFUSE_NULL(stream, "stream");
    if (of == NULL) return TAMIS_STREAM_ALONE;
    struct tamis__outline *outline = calloc(1, sizeof *outline);
    if (outline == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory looking at a stream");
    int fits = TAMIS_STREAM_ALONE;
    if (of->parse(stream, bytes, outline, &refusal) == 0 && problem_of(outline) == NULL &&
        !is_damaged(of, outline, stream, bytes))
        fits = fits_as(outline);
    free(outline);
    return fits;
}
