/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import.c: makes a filter from a stream.  import_load.c has its data, import_filled.c has streams
 * in memory of which many become filters together.  export.c is the way back.
 *
 *     head of the stream -> outline -> headers, judged -> files staged -> data -> catalog
 *
 * Everything that can be refused is refused before the first file is made.  Nothing is in force
 * before the last byte was read and judged.  So an import that fails, for whatever reason, leaves
 * the store as it was (txn/commit.c).  It takes the memory of one piece of the stream, however long
 * the stream is, and that of the exceptions that it has.
 */
#include "filter/import.h"

#include "exchange/redisbloom.h"
#include "handle/open.h"
#include "hash/hash_set.h"
#include "plan/plan.h"

/* SETBIT reaches no further, and neither do the functions of document 000. */
#define PHP_M_BITS ((uint64_t)1 << 32)

/* ---- What is to be --------------------------------------------------------------------------- */

/* The stream has only bits: all else is in the spec. */
static int outline_from_spec(const struct tamis_import_spec *spec, struct tamis__outline *outline)
{
    struct tamis__plan plan;
    struct tamis_filter_spec wanted = {.capacity = spec->capacity,
                                       .fp_rate = spec->fp_rate,
                                       .kind = TAMIS_KIND_BLOOM,
                                       .k = spec->k,
                                       .m_bits = spec->m_bits,
                                       .hash_set = spec->hash_set};
    if (spec->hash_set == NULL)
        return tamis__fail(TAMIS_EINVAL,
                           "a bitmap does not say how its bits were set; give the hash set of the "
                           "program that filled it");
    int rc = tamis__hash_set_parse(spec->hash_set, &plan.hash_set, plan.parameters);
    if (rc < 0) return rc;
    if (plan.hash_set->keyed)
        return tamis__fail(TAMIS_EINVAL,
                           "hash set %s has a secret key in each filter, so that no other program "
                           "has filled a bitmap by it; give the set of the program that did",
                           plan.hash_set->name);
    if (wanted.m_bits == 0 && plan.hash_set->id == TAMIS__HASH_PHP) wanted.m_bits = PHP_M_BITS;
    if (wanted.m_bits == 0)
        return tamis__fail(TAMIS_EINVAL,
                           "a bitmap does not say its m; give the number of bits that the program "
                           "which filled it takes positions modulo");
    rc = tamis__plan_filter(&wanted, &plan);
    if (rc < 0) return rc;
    outline->count = 1;
    tamis__plan_describe(&plan, &outline->layers[0].segment);
    outline->layers[0].segment.bit_order = TAMIS__BITS_MSB_FIRST;
    outline->layers[0].segment.items = TAMIS__ITEMS_UNKNOWN;
    return 0;
}

/* The caller must not contradict what the stream says. */
static int check_import_spec(const struct tamis__import *import)
{
    const struct tamis_import_spec *spec = &import->spec;
    const struct tamis__listed_segment *first = &import->outline.layers[0].segment;
    if (spec->hash_set != NULL || spec->m_bits != 0 || spec->k != 0)
        return tamis__fail(TAMIS_EINVAL,
                           "a %s stream tells its hash set, m and k itself; leave them out",
                           import->format->name);
    if ((spec->flags & TAMIS_IMPORT_DURABLE) != 0 &&
        !tamis_kind_has(first->kind, TAMIS_KIND_MAY_BE_DURABLE))
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "a filter of kind %s cannot be durable; import it without that",
                           tamis_kind_name(first->kind));
    if (first->capacity != 0 && (spec->capacity != 0 || spec->fp_rate != 0))
        return tamis__fail(TAMIS_EINVAL,
                           "a %s stream tells its capacity and rate itself; leave them out",
                           import->format->name);
    if (spec->fp_rate != 0 && !tamis__rate_is_valid(spec->fp_rate))
        return tamis__fail(TAMIS_EINVAL,
                           "a rate of %g is out of range; give one from %g to below 1",
                           spec->fp_rate, TAMIS_FP_RATE_MIN);
    return 0;
}

/* What is not complete without its data. */
static int check_head_only(const struct tamis__import *import)
{
    if ((import->spec.flags & TAMIS_IMPORT_HEAD) == 0) return 0;
    if (import->outline.layers[0].shape.fingerprint_bits == 0 && import->outline.exceptions == 0)
        return 0;
    return tamis__fail(TAMIS_EUNSUPPORTED,
                       "a filter of kind fuse, or with exceptions, is not made from a head alone; "
                       "import the whole stream");
}

static int read_head(struct tamis__import *import)
{
    struct tamis__outline *outline = &import->outline;
    struct tamis__refusal refusal;
    struct tamis__reader *reader = &import->reader;
    if (import->format->parse == NULL) return outline_from_spec(&import->spec, outline);
    int rc = tamis__reader_fill(reader, import->format->head_bytes);
    if (rc < 0) return rc;
    rc = import->format->parse(reader->buffer, reader->end, outline, &refusal);
    if (rc < 0) return tamis__reader_fail(reader, rc, refusal.offset, refusal.reason);
    /* This check comes before anything is allocated for what a few bytes may claim.  If nobody
     * knows the length of the stream, a stream that ends within its first piece is noticed. */
    const bool head_only = (import->spec.flags & TAMIS_IMPORT_HEAD) != 0;
    const uint64_t least = outline->head_bytes + (head_only ? 0 : outline->least_bytes);
    uint64_t whole = reader->source->bytes;
    if (whole == 0 && least > reader->end) {
        rc = tamis__reader_fill(reader, TAMIS__PIECE_BYTES);
        if (rc < 0) return rc;
        whole = reader->at_end ? reader->end : 0;
    }
    if (whole != 0 && whole < least)
        return tamis__reader_fail(reader, TAMIS_ECORRUPT, whole,
                                  "is truncated: it ends before its data do");
    rc = check_head_only(import);
    return rc < 0 ? rc : check_import_spec(import);
}

/* Sets capacity and rate if the stream has none: those of the caller, or those for which m and k
 * are best. */
static int complete_layer(const struct tamis_import_spec *spec,
                          struct tamis__listed_segment *segment)
{
    if (segment->capacity != 0) return 0;
    struct tamis_sizing sizing = {.kind = segment->kind,
                                  .m_bits = segment->m_bits,
                                  .k = segment->k,
                                  .capacity = spec->capacity};
    if (spec->capacity == 0) sizing.fp_rate = spec->fp_rate;
    const int rc = tamis__size(&sizing);
    if (rc < 0) return rc;
    segment->capacity = sizing.capacity;
    segment->fp_rate = spec->fp_rate != 0 ? spec->fp_rate : sizing.fp_rate;
    if (segment->fp_rate == 0) segment->fp_rate = TAMIS_FP_RATE_MIN; /* underflow, as in create */
    return 0;
}

/* Would this library open that?  If the stream tells no policy, the real one is known when the data
 * are in; until then any policy does, which is left in the draft. */
static int check_draft(const struct tamis__policy *stated, struct tamis__draft *draft,
                       struct tamis__refusal *refusal)
{
    struct tamis__policy policy = *stated;
    if (policy.capacity == 0)
        policy = (struct tamis__policy){.capacity = draft->header.capacity,
                                        .fp_rate = tamis__double_from_bits(draft->header.fp_rate)};
    tamis__draft_set_policy(draft, &policy);
    const char *reason = "is of a kind that this library does not have; use a newer Tamis";
    tamis__header_seal(&draft->header);
    int rc = tamis__header_check(&draft->header, sizeof draft->header, draft->header.file_bytes,
                                 refusal);
    if (rc < 0) return rc;
    const struct tamis__kind *kind = tamis__kind_by_id(draft->header.kind);
    rc = kind ? kind->check(&draft->header, &reason) : TAMIS_EVERSION;
    return rc < 0 ? tamis__refuse(refusal, rc, 0, "%s", reason) : 0;
}

static int judge_draft(const struct tamis__import *import, struct tamis__draft *draft)
{
    struct tamis__refusal refusal;
    const int rc = check_draft(&import->outline.policy, draft, &refusal);
    return rc < 0 ? tamis__reader_fail(&import->reader, rc, 0, refusal.reason) : 0;
}

static void draft_layer(const struct tamis__import *import, const struct tamis__layer *layer,
                        struct tamis__draft *draft)
{
    const struct tamis_store *store = import->store;
    const char *name = import->name;
    if (layer->shape.fingerprint_bits == 0) {
        tamis__draft_init(store, name, &layer->segment, draft);
    } else {
        tamis__draft_init_fuse(store, name, &layer->segment, &layer->shape, draft);
        draft->header.data_checksum = layer->data_checksum;
    }
    draft->header.flags = layer->flags;
    if (layer->segment.items == TAMIS__ITEMS_UNKNOWN)
        draft->header.flags |= TAMIS_SEGMENT_ITEMS_ESTIMATED;
    memcpy(draft->header.kept, layer->kept, sizeof draft->header.kept);
}

static int draft_layers(struct tamis__import *import)
{
    for (uint32_t i = 0; i < import->outline.count; i++) {
        struct tamis__layer *layer = &import->outline.layers[i];
        struct tamis__draft *draft = &import->drafts[i];
        int rc = complete_layer(&import->spec, &layer->segment);
        if (rc < 0) return rc;
        draft_layer(import, layer, draft);
        import->count = i + 1;
        rc = judge_draft(import, draft);
        if (rc < 0) return rc;
    }
    return 0;
}

/* Drafts one more segment, empty and of our own kind.  It is the newest, so it takes the new
 * keys. */
static int draft_seal(struct tamis__import *import)
{
    struct tamis__plan plan;
    struct tamis__listed_segment segment;
    const struct tamis_filter_spec wanted = {.capacity = import->spec.seal_capacity,
                                             .fp_rate = import->spec.seal_rate};
    if (wanted.capacity == 0) return 0;
    if (import->count == TAMIS__SEGMENTS_MAX)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "the filter has %u segments already, the most there can be; import it "
                           "without a seal",
                           import->count);
    if (import->outline.layers[0].segment.counter_bits != 0)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "the filter counts, and a key must be taken off where it was counted; "
                           "import it without a seal");
    if (import->outline.layers[0].shape.fingerprint_bits != 0)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "the filter is of kind fuse, which is static, and 'tamis build' makes "
                           "it anew with all keys; import it without a seal");
    if (import->outline.policy.slices > 0)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "the filter forgets by a window, whose next slice takes the new keys "
                           "anyway; import it without a seal");
    const int rc = tamis__plan_filter(&wanted, &plan);
    if (rc < 0) return rc;
    import->policy = plan.policy;
    tamis__plan_describe(&plan, &segment);
    tamis__draft_init(import->store, import->name, &segment, &import->drafts[import->count]);
    import->count++;
    return 0;
}

/* ---- Import ---------------------------------------------------------------------------------- */

static int stage(struct tamis__import *import)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < import->count; i++)
        if (__builtin_add_overflow(bytes, import->drafts[i].header.file_bytes, &bytes))
            bytes = UINT64_MAX;
    int rc = tamis__check_room(import->store->root_fd, bytes, import->name);
    for (uint32_t i = 0; rc == 0 && i < import->count; i++)
        rc = tamis__draft_stage(import->store, &import->drafts[i]);
    return rc;
}

/* Says how a filter goes on if the caller has not said it: as it did where it came from. */
static struct tamis__policy policy_of(const struct tamis__import *import,
                                      const struct tamis__entry *entry)
{
    const uint64_t most = TAMIS__CAPACITY_MAX;
    if (import->count > import->outline.count) return import->policy;
    if (import->outline.policy.capacity != 0) return import->outline.policy;
    const bool as_there = (import->spec.flags & TAMIS_IMPORT_AS_THERE) != 0;
    return (struct tamis__policy){
        .on_full = as_there ? tamis__redisbloom_on_full(&import->drafts[0].header)
                            : (uint32_t)TAMIS_ON_FULL_WARN,
        .capacity = entry->capacity < most ? entry->capacity : most,
        .fp_rate = entry->fp_rate};
}

/*
 * Sets capacity and rate of the whole filter.  Only the newest segment takes keys, so the older
 * ones count with what they hold.  A key that was never added passes if any segment lets it pass.
 */
struct tamis__entry tamis__import_entry(struct tamis__import *import)
{
    const struct tamis__segment_header *newest = &import->drafts[import->count - 1].header;
    const bool has_index = import->index.staged.file.is_open;
    struct tamis__entry entry = {.name = import->name,
                                 .drafts = import->drafts,
                                 .count = import->count,
                                 .capacity = newest->capacity,
                                 .owned = (import->spec.flags & TAMIS_IMPORT_OWNED) != 0,
                                 .created_at = import->spec.created_at,
                                 .index = has_index ? &import->index : NULL,
                                 .filled = true};
    double rate = 0;
    for (uint32_t i = 0; i < import->count; i++) {
        const struct tamis__segment_header *h = &import->drafts[i].header;
        const bool sealing = i >= import->outline.count;
        rate = tamis__either_rate(rate, sealing ? import->policy.fp_rate
                                                : tamis__double_from_bits(h->fp_rate));
        if (i + 1 < import->count) entry.capacity += tamis__header_items(h);
    }
    entry.fp_rate = rate;
    if (import->outline.capacity != 0 && import->count == import->outline.count) {
        entry.capacity = import->outline.capacity;
        entry.fp_rate = import->outline.fp_rate;
    }
    if (import->count == import->outline.count)
        memcpy(entry.key_digest, import->outline.key_digest, sizeof entry.key_digest);
    entry.policy = policy_of(import, &entry);
    entry.policy.durable = (import->spec.flags & TAMIS_IMPORT_DURABLE) != 0;
    return entry;
}

static int check_flags(const struct tamis_import_spec *spec, const struct tamis__format *format)
{
    const uint64_t known =
        TAMIS_IMPORT_HEAD | TAMIS_IMPORT_AS_THERE | TAMIS_IMPORT_OWNED | TAMIS_IMPORT_DURABLE;
    if ((spec->flags & ~known) != 0)
        return tamis__fail(TAMIS_EINVAL, "import flags %#llx: use those of TAMIS_IMPORT_*",
                           (unsigned long long)spec->flags);
    if ((spec->flags & TAMIS_IMPORT_HEAD) != 0 && format->parse == NULL)
        return tamis__fail(TAMIS_EINVAL, "a %s stream has no head", format->name);
    if ((spec->flags & TAMIS_IMPORT_AS_THERE) != 0 && format != &tamis__format_redisbloom)
        return tamis__fail(TAMIS_EINVAL, "TAMIS_IMPORT_AS_THERE is for format redisbloom");
    return 0;
}

int64_t tamis__import_made_at(const struct tamis__import *import)
{
    int64_t made_at = 0;
    for (uint32_t i = 0; i < import->outline.count; i++)
        if (import->outline.layers[i].segment.created_at > made_at)
            made_at = import->outline.layers[i].segment.created_at;
    return made_at;
}

void tamis__import_note(struct tamis__import *import)
{
    struct tamis__segment_header *first = &import->drafts[0].header;
    const char *from = import->spec.origin != NULL ? import->spec.origin : "";
    const size_t bytes = strlen(from), most = sizeof first->imported_from - 1;
    first->imported_at = tamis__now_ns();
    first->imported_made_at = tamis__import_made_at(import);
    first->imported_signed_at = import->spec.signed_at;
    first->imported_signature = import->spec.signature;
    if (import->spec.signed_by != NULL)
        tamis__attachment_sign(&first->attachment, import->spec.signed_by,
                               import->spec.signed_comment != NULL ? import->spec.signed_comment
                                                                   : "");
    memcpy(first->imported_digest, import->reader.digest, sizeof first->imported_digest);
    memset(first->imported_from, 0, sizeof first->imported_from);
    if (bytes <= most) {
        memcpy(first->imported_from, from, bytes);
        return;
    }
    /* The end of a path or URL says more than its beginning. */
    memcpy(first->imported_from, "...", 3);
    memcpy(first->imported_from + 3, from + bytes - (most - 3), most - 3);
}

int tamis__import_begin(struct tamis__import *import)
{
    struct tamis__reader *reader = &import->reader;
    int rc = tamis__reader_init(reader, &import->source, import->format->name);
    if (rc < 0) return rc;
    if (!import->format->has_digest) {
        tamis__sum_init(&import->sum);
        reader->sum = &import->sum;
    }
    rc = read_head(import);
    if (rc == 0) rc = draft_layers(import);
    return rc == 0 ? draft_seal(import) : rc;
}

int tamis__import_load(struct tamis__import *import)
{
    int rc = stage(import);
    if (rc == 0) rc = tamis__import_fill(import);
    /* This runs without the catalog's lock, as it may take long. */
    for (uint32_t i = 0; rc == 0 && i < import->count; i++)
        rc = tamis__segment_sync_staged(&import->store->place, &import->drafts[i].staged,
                                        &import->drafts[i].header);
    if (rc == 0 && import->reader.sum != NULL)
        tamis__sum_finish(import->reader.sum, import->reader.digest);
    return rc;
}

void tamis__import_free(struct tamis__import *import)
{
    tamis__drafts_discard(import->store, import->drafts, import->count);
    tamis__drafts_discard(import->store, &import->index, 1);
    tamis__exceptions_clear(&import->exceptions);
    tamis__reader_clear(&import->reader);
    free(import);
}

int tamis__import_new(const struct tamis__import_call *call, struct tamis__import **out)
{
    struct tamis_import_spec spec = {.size = sizeof spec};
    struct tamis_source from;
    const struct tamis__format *format = tamis__format_by_name(call->format);
    if (format == NULL) return TAMIS_EINVAL;
    int rc = tamis__check_name(call->name);
    if (rc == 0) rc = tamis__take_struct(call->source, &from, sizeof from, "struct tamis_source");
    if (rc == 0 && from.read == NULL) rc = tamis__fail_null(call->function, "source->read");
    if (rc == 0 && call->spec != NULL)
        rc = tamis__take_struct(call->spec, &spec, sizeof spec, "struct tamis_import_spec");
    if (rc == 0) rc = check_flags(&spec, format);
    if (rc == 0) rc = tamis__check_writable(call->store);
    if (rc < 0) return rc;
    struct tamis__import *import = calloc(1, sizeof *import);
    if (import == NULL)
        return tamis__fail(TAMIS_ENOMEM, "out of memory importing '%s'", call->name);
    import->store = call->store;
    import->name = call->name;
    import->format = format;
    import->spec = spec;
    import->source = from;
    *out = import;
    return 0;
}

static int enter_import(struct tamis__import *import, tamis_filter **filter)
{
    if (import->spec.origin != NULL) tamis__import_note(import);
    struct tamis__entry entry = tamis__import_entry(import);
    entry.opened = filter ? tamis__open_entered : NULL;
    entry.context = filter;
    return tamis__drafts_enter(import->store, &entry);
}

TAMIS_API int tamis_filter_import(tamis_store *store, const char *name, const char *format,
                                  const struct tamis_import_spec *spec,
                                  const struct tamis_source *source, tamis_filter **filter)
{
    TAMIS__REFUSE_NULL(store, "store");
    const struct tamis__import_call call = {store, __func__, name, format, spec, source};
    struct tamis__import *import = NULL;
    int rc = tamis__import_new(&call, &import);
    if (rc < 0) return rc;
    rc = tamis__check_absent(store, name);
    if (rc == 0 && (import->spec.flags & TAMIS_IMPORT_OWNED) == 0) rc = tamis__check_new_name(name);
    if (rc == 0) rc = tamis__import_begin(import);
    if (rc == 0) rc = tamis__import_load(import);
    if (rc == 0) rc = enter_import(import, filter);
    tamis__import_free(import);
    return rc;
}
