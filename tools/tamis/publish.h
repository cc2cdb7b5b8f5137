/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * publish.h: a stream that becomes the next generation of a filter, for the commands that read one.
 */
#pragma once

#include "command.h"
#include "pile.h"
#include "stream.h"
#include "verification.h"

/* What only a publication has a use for, besides --if-changed. */
#define TAKES_PUBLISHED                                                                            \
    (TAKES(KEEP) | TAKES(NEWER_THAN_MINE) | TAKES_GUARDS | TAKES(QUIET) | TAKES(EXCEPT) |          \
     TAKES_LINES | TAKES(HEX))
/* What a stream of some formats does not tell. */
#define TAKES_GEOMETRY (TAKES(HASH_SET) | TAKES(BITS) | TAKES(HASHES))

/* One publication. */
struct publishing {
    const struct invocation *call;
    struct stream *stream;
    const char *origin; /* where the stream is, as `info` will tell it */
    uint32_t flags;     /* TAMIS_PUBLISH_*; TAMIS_PUBLISH_KEEP is added if --keep is given */
    double max_shrink;  /* percent, where --max-shrink is not given; 0: none */
    struct pile except; /* publish_read_except() */
    /* What the stream is checked by (verification.h), so that its time is known, and that the
     * stream is read to its end, and checked, even if nothing is new.  NULL: it is not signed. */
    const struct verification *verification;
    struct tamis_publish_result result;
};

/* What the options tell of a stream, and its signature, which may be NULL. */
struct tamis_import_spec publish_import_spec(const struct invocation *call, const char *origin,
                                             const struct verification *verification);

/* Checks the options that go with it, before anything is opened: those that --seal needs, the name.
 * false after a message. */
bool publish_options_suffice(const struct invocation *call);

/* Reads the files of --except.  CLI_DONE, or the exit status after a message. */
int publish_read_except(struct publishing *publishing);

/* Publishes: as tamis_filter_publish(), with progress.  Prints nothing else. */
int publish_run(struct publishing *publishing, tamis_store *store);

/* Prints the object of --json. */
void publish_print_json(const struct publishing *publishing, bool published);

/* Tells why a stream was not imported, where the call of the library has returned `rc`.  Returns
 * the exit status. */
int publish_fail(const struct stream *stream, int rc);

void publish_clear(struct publishing *publishing);
