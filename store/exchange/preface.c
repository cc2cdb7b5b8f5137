/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * preface.c: the preface of a stream of format `tamis`: the digest of what follows, before it.
 *
 *     preface, 40 bytes      magic, version 5, the 16 bytes that end the stream, a checksum
 *     stream                 of another version, whole, as it is without a preface (portable.c)
 *
 * The digest tells which stream this is before any of it is read, so an import that finds the list
 * in force reads no further.  The stream behind the preface is untouched: who cuts off the first
 * 40 bytes has what a Tamis from before prefaces takes.  So no stream has a preface unless that was
 * asked for.
 *
 * The digest is believed to say that nothing is new, never that anything is right: a stream that is
 * read is compared with it at its end.
 */
#include "exchange/portable_head.h"

/* ---- In -------------------------------------------------------------------------------------- */

static bool has_preface(const void *bytes, size_t count)
{
    struct preface preface;
    if (count < offsetof(struct preface, zero)) return false;
    memcpy(&preface, bytes, offsetof(struct preface, zero));
    return memcmp(preface.magic, MAGIC, sizeof preface.magic) == 0 &&
           preface.version == TAMIS__PREFACE_VERSION;
}

static int parse_preface(const void *bytes, size_t count, struct tamis__outline *outline,
                         struct tamis__refusal *refusal)
{
    struct preface preface;
    if (count < sizeof preface)
        return tamis__refuse(refusal, TAMIS_ECORRUPT, count, "is truncated inside its head");
    memcpy(&preface, bytes, sizeof preface);
    const size_t checked = offsetof(struct preface, checksum);
    if (preface.checksum != tamis__checksum(&preface, checked))
        return tamis__refuse(refusal, TAMIS_ECORRUPT, checked,
                             "has a damaged head (its checksum does not match)");
    if (preface.zero != 0)
        return tamis__refuse(refusal, TAMIS_EVERSION, offsetof(struct preface, zero),
                             "has what this version does not know; use a newer Tamis");
    outline->has_digest = true;
    outline->preface_bytes = sizeof preface;
    memcpy(outline->digest, preface.digest, sizeof outline->digest);
    return 0;
}

/* A preface stands before a stream, and never before another preface. */
static int refuse_second(const void *bytes, size_t count, struct tamis__refusal *refusal)
{
    return has_preface(bytes, count) ? tamis__refuse(refusal, TAMIS_ECORRUPT, 0, "has two prefaces")
                                     : 0;
}

static int preface_parse(const void *bytes, size_t count, struct tamis__outline *outline,
                         struct tamis__refusal *refusal)
{
    outline->has_digest = false;
    outline->preface_bytes = 0;
    if (!has_preface(bytes, count)) return tamis__portable_parse(bytes, count, outline, refusal);
    int rc = parse_preface(bytes, count, outline, refusal);
    if (rc < 0) return rc;
    const size_t before = sizeof(struct preface);
    const unsigned char *stream = (const unsigned char *)bytes + before;
    rc = refuse_second(stream, count - before, refusal);
    if (rc == 0) rc = tamis__portable_parse(stream, count - before, outline, refusal);
    if (rc < 0) refusal->offset += before;
    outline->head_bytes += before;
    return rc;
}

static int preface_load(struct tamis__reader *reader, const struct tamis__outline *outline,
                        const struct tamis__stream_target *target)
{
    unsigned char *bytes;
    int rc = 0;
    if (outline->preface_bytes > 0)
        rc = tamis__reader_take(reader, (size_t)outline->preface_bytes, &bytes);
    if (rc == 0) rc = tamis__portable_load(reader, outline, target);
    if (rc < 0 || !outline->has_digest ||
        memcmp(reader->digest, outline->digest, sizeof reader->digest) == 0)
        return rc;
    return tamis__reader_fail(reader, TAMIS_ECORRUPT, offsetof(struct preface, digest),
                              "is not the one whose digest stands at its head");
}

/* ---- Out ------------------------------------------------------------------------------------- */

static int swallow(void *context, const void *bytes, size_t count)
{
    (void)context, (void)bytes, (void)count;
    return 0;
}

/* Gets the digest of the stream, which is written to nowhere for that. */
static int digest_of(const struct tamis__cargo *cargo, unsigned char digest[TAMIS__SUM_BYTES])
{
    const struct tamis_sink nowhere = {.size = sizeof nowhere, .write = swallow};
    struct tamis__writer writer;
    int rc = tamis__writer_init(&writer, &nowhere);
    if (rc == 0) rc = tamis__portable_save(cargo, &writer, digest);
    tamis__writer_clear(&writer);
    return rc;
}

static int save_with_digest(const struct tamis__cargo *cargo, struct tamis__writer *writer)
{
    struct preface preface = {.version = TAMIS__PREFACE_VERSION};
    unsigned char trailer[TAMIS__SUM_BYTES];
    if (writer->partial)
        return tamis__fail(TAMIS_EINVAL,
                           "a part of a stream has no digest at its head; ask for the whole, or "
                           "leave out TAMIS_EXPORT_WITH_DIGEST");
    int rc = digest_of(cargo, preface.digest);
    if (rc < 0) return rc;
    memcpy(preface.magic, MAGIC, sizeof preface.magic);
    preface.checksum = tamis__checksum(&preface, offsetof(struct preface, checksum));
    rc = tamis__writer_put(writer, &preface, sizeof preface);
    if (rc == 0) rc = tamis__portable_save(cargo, writer, trailer);
    if (rc < 0 || memcmp(trailer, preface.digest, sizeof trailer) == 0) return rc;
    return tamis__fail(TAMIS_ELIMIT,
                       "keys were added to the filter while it was written, so the digest at the "
                       "head of the stream is not right; try again when nobody adds, or write it "
                       "without a digest");
}

static int preface_save(const struct tamis__cargo *cargo, struct tamis__writer *writer)
{
    unsigned char trailer[TAMIS__SUM_BYTES];
    return cargo->with_digest ? save_with_digest(cargo, writer)
                              : tamis__portable_save(cargo, writer, trailer);
}

const struct tamis__format tamis__format_portable = {
    .name = "tamis",
    .has_secrets = true,
    .has_exceptions = true,
    .has_key_rule = true,
    .has_digest = true,
    .head_bytes = sizeof(struct preface) + TAMIS__PORTABLE_HEAD_BYTES_MAX,
    .parse = preface_parse,
    .load = preface_load,
    .save = preface_save,
};
