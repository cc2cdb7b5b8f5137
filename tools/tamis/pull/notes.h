/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * notes.h: what a pull notes for the next one, as a block of text.
 *
 *     tamis-pull 1
 *     name blocklist
 *     url https://builder.example.org/blocklist.tamis
 *     resource 9c3f0e5a11d4b207
 *     etag "65a1-6188b5d3c0a40"
 *     bytes 26017
 *     digest 0f343b0931126a20f133d67c2b018a3b
 *     items 20000
 *     exceptions 3
 *     key RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3
 *     end
 *
 * and newlines up to NOTES_BYTES.  Such a block is the head of a spool (spool.h), where it says of
 * which file the bytes behind it are, and it is a file of its own, where it says what was last
 * published.  A line whose value is empty or 0 is left out; the order is fixed.  A block that is
 * anything else is no notes: the pull goes on as if there were none.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tamis.h"

#define NOTES_BYTES ((size_t)4096)
#define NOTES_URL_BYTES ((size_t)2048)
#define NOTES_ETAG_BYTES ((size_t)512)
#define NOTES_DIGEST_BYTES ((size_t)40)
#define NOTES_KEY_BYTES ((size_t)128)

struct notes {
    char name[TAMIS_NAME_MAX + 1]; /* of the filter */
    char url[NOTES_URL_BYTES];     /* as it may be shown (url.h) */
    uint64_t resource;             /* url_id() of the URL as it is */
    char etag[NOTES_ETAG_BYTES];   /* with its quotes, and W/ before it if it is weak */
    uint64_t bytes;                /* of the whole file; 0: not known */
    /* What was published: imported_digest, items and exceptions of struct tamis_filter_stat. */
    char digest[NOTES_DIGEST_BYTES];
    uint64_t items;
    uint64_t exceptions;
    char key[NOTES_KEY_BYTES]; /* the public key that it was verified with; "": it was not */
};

/* Writes the block.  false: a value has a control character, or all do not fit. */
bool notes_print(const struct notes *notes, char block[NOTES_BYTES]);

/* Reads a block of `bytes` bytes, from whomever it comes.  false: these are no notes. */
bool notes_parse(const char *block, size_t bytes, struct notes *notes);

/* Is this ETag one by which parts of a file can be put together (RFC 9110, 8.8.3)? */
bool notes_etag_is_strong(const char *etag);
