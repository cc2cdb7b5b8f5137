/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import_newer.c: is the list of a stream newer than the one in force?
 *
 * A list has up to two times.  It was made when the last of its segments was made, as the head of
 * its stream says; and it was signed, as the caller has found in what was signed.  The first time
 * counts: who signs an old list again does not make it newer.  Keys and exceptions that came after
 * the last segment do not change it.  Then the second time counts, if both lists have one.
 *
 * An import notes both times in the list that it makes.  Of a list that was made here, or imported
 * by a library from before these notes, the segments say when they were made.
 */
#include <time.h>

#include "filter/import.h"
#include "handle/open.h"
#include "txn/spares.h"

struct ages {
    int64_t made_at, signed_at; /* ns since 1970; 0: not known */
};

/* What there is to compare with. */
struct rival {
    struct tamis__record record;
    struct ages ages;
    bool is_readable; /* its first segment is */
    uint8_t digest[TAMIS__IMPORT_DIGEST_BYTES];
};

static void take_notes(struct rival *rival, const struct tamis__segment_header *first)
{
    if (first->imported_at == 0) return;
    if (first->imported_made_at != 0) rival->ages.made_at = first->imported_made_at;
    rival->ages.signed_at = first->imported_signed_at;
    memcpy(rival->digest, first->imported_digest, sizeof rival->digest);
}

/* Returns TAMIS_ENOTFOUND if there is no filter of that name. */
static int read_rival(const struct tamis__import *import, struct rival *rival)
{
    struct tamis__catalog_txn *txn;
    struct tamis__mapped_segment first;
    int rc = tamis__catalog_begin(&import->store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__store_get(import->store, txn, import->name, &rival->record);
    if (rc == 0) {
        for (uint32_t i = 0; i < rival->record.segment_count; i++)
            if (rival->record.segments[i].created_at > rival->ages.made_at)
                rival->ages.made_at = rival->record.segments[i].created_at;
        rival->is_readable =
            tamis__open_segment(import->store, &rival->record, 0, false, &first) == 0;
        if (rival->is_readable) {
            take_notes(rival, first.segment.header);
            tamis__close_segment(&first);
        }
    }
    tamis__catalog_end(txn);
    return rc;
}

/* The two times that decide. */
struct times {
    int64_t stream, mine;
    bool of_signatures; /* at least one of them */
};

static struct times times_of(const struct ages *stream, const struct ages *mine)
{
    if (stream->made_at == 0)
        return (struct times){stream->signed_at,
                              mine->signed_at != 0 ? mine->signed_at : mine->made_at, true};
    if (stream->made_at != mine->made_at || stream->signed_at == 0 || mine->signed_at == 0)
        return (struct times){stream->made_at, mine->made_at, false};
    return (struct times){stream->signed_at, mine->signed_at, true};
}

/* A list that was signed at the same time, or before it, may be the one in force.  If its digest is
 * not known yet, it is read: in the end it is in force or refused.  But a signature that the caller
 * names must not be an earlier one: the time that is noted never goes back, else a list of a time
 * between the two would pass. */
static bool may_come(const struct tamis__import *import, const struct times *times,
                     const struct rival *rival, const uint8_t *digest)
{
    if (times->stream > times->mine) return true;
    if (times->stream < times->mine)
        return times->of_signatures && digest == NULL && import->spec.signature == 0;
    return digest == NULL || !rival->is_readable ||
           memcmp(digest, rival->digest, sizeof rival->digest) == 0;
}

#define TIME_BYTES sizeof "2026-11-25T21:00:00.000000000Z"

/* With nanoseconds if `fine`: two lists may be of one second. */
static void write_time(char text[TIME_BYTES], int64_t time_ns, bool fine)
{
    const time_t seconds = (time_t)(time_ns / 1000000000);
    struct tm utc;
    size_t bytes = 0;
    if (gmtime_r(&seconds, &utc) != NULL) bytes = strftime(text, TIME_BYTES, "%FT%TZ", &utc);
    if (bytes == 0)
        (void)snprintf(text, TIME_BYTES, "a time unknown");
    else if (fine)
        (void)snprintf(text + bytes - 1, TIME_BYTES - bytes + 1, ".%09dZ",
                       (int)(time_ns % 1000000000));
}

static int refuse(const struct tamis__import *import, const struct times *times)
{
    char theirs[TIME_BYTES], ours[TIME_BYTES];
    const bool fine = times->stream / 1000000000 == times->mine / 1000000000;
    write_time(theirs, times->stream, fine);
    write_time(ours, times->mine, fine);
    if (times->stream < times->mine)
        return tamis__fail(
            TAMIS_EMISMATCH,
            "the list is older than the one in force for '%s': it is of %s, and that "
            "one of %s; fetch a newer one, or take it without --newer-than-mine "
            "(TAMIS_PUBLISH_NEWER) if the old one is meant",
            import->name, theirs, ours);
    return tamis__fail(TAMIS_EMISMATCH,
                       "the list is another one than that in force for '%s', and of the same "
                       "time, %s; fetch a newer one, or take it without --newer-than-mine "
                       "(TAMIS_PUBLISH_NEWER) if this one is meant",
                       import->name, theirs);
}

int tamis__import_check_newer(const struct tamis__import *import, const uint8_t *digest,
                              struct tamis__over *over)
{
    const struct ages stream = {tamis__import_made_at(import), import->spec.signed_at};
    *over = (struct tamis__over){.generation = 0};
    if (stream.made_at == 0 && stream.signed_at == 0)
        return tamis__fail(TAMIS_EINVAL,
                           "a %s stream does not say when the list was made, so nobody knows if it "
                           "is newer; have it signed, and give --verify, or take it without "
                           "--newer-than-mine (TAMIS_PUBLISH_NEWER)",
                           import->format->name);
    struct rival *rival = calloc(1, sizeof *rival);
    if (rival == NULL)
        return tamis__fail(TAMIS_ENOMEM, "out of memory importing '%s'", import->name);
    int rc = read_rival(import, rival);
    if (rc == 0) {
        const struct times times = times_of(&stream, &rival->ages);
        *over = (struct tamis__over){rival->record.generation, rival->record.created_at};
        if (!may_come(import, &times, rival, digest)) rc = refuse(import, &times);
    }
    free(rival);
    return rc == TAMIS_ENOTFOUND ? 0 : rc;
}
