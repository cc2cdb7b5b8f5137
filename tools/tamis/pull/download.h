/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * download.h: the file of a URL as a stream, through a spool.
 *
 *     server --> transfer --> spool --> witness --> unpacker --> whoever reads the stream
 *
 * Bytes are read from the spool, and the transfer goes on when these are used up.  If it is cut, it
 * begins again where the spool ends, now or in the next process, if the server says by a strong
 * ETag that it is the same file still.  If it is another one, or cannot be told, and bytes of the
 * one before were read already, the stream ends with an error and `anew` is set: the caller begins
 * from the start.
 */
#pragma once

#include "command.h"
#include "input/input.h"
#include "pull/spool.h"
#include "pull/transfer.h"
#include "stream.h"

/* Who sees each byte of the file, as it is on the server, before the end of the stream is told. */
struct witness {
    void (*see)(void *context, const void *data, size_t bytes);
    bool (*agrees)(void *context); /* at the end; false after a message: then the stream fails */
    void *context;
};

struct download_request {
    const struct invocation *call;
    struct spool *spool;
    const char *url;
    bool signed_list;              /* as in struct transfer_request */
    const char *if_none_match;     /* likewise; not used when the spool has bytes */
    const struct witness *witness; /* NULL: nobody */
    bool is_optional;              /* download_small(): one try, and no message */
    bool has_all; /* download_open(): the spool has all of it, and no server is asked */
};

struct download {
    struct stream stream; /* the caller sets its format */
    struct download_request request;
    struct transfer_sink sink;
    struct transfer *transfer; /* NULL: none is open */
    struct input *input;
    uint64_t read_at;   /* of the spool */
    uint64_t limit;     /* so long may the file be */
    uint64_t all_bytes; /* of the file; UINT64_MAX: not known */
    uint64_t kept_at;   /* the spool's length when the tries were counted from 0 */
    uint32_t tries;
    bool asked_part, asked_kept; /* of the transfer: a part; whether the spool is whole and valid */
    bool valid; /* the server has said that the bytes of the spool are of the file as it is now */
    bool no_parts;   /* the server gives none */
    bool other_part; /* the part that has come is of another file */
    bool whole;      /* the spool has all of it */
    bool unchanged;  /* it is what if_none_match says; there is nothing to read */
    bool anew;
    bool was_cut; /* and that is why: nothing says that what is there belongs to what would come */
    bool was_joined; /* a part of the spool was there before the transfer that ended it */
    bool agreed;     /* the witness has */
    bool refused;    /* by the witness, or what is packed is damaged */
    char *why;       /* the last error of a transfer */
};

/* Opens the download, and waits for the first bytes.  CLI_DONE, or the exit status after a message.
 * The caller closes *download in both cases, by stream_close(&(*download)->stream). */
int download_open(const struct download_request *request, struct download **download);

/* What a spool and the notes call the file of a URL.  What came from anybody (--insecure) is
 * another file: nobody who asks for more goes on with it. */
uint64_t download_resource(const struct invocation *call, const char *url);

/* How often a transfer is tried again (--retry). */
uint32_t download_retries(const struct invocation *call);

/* Why a transfer that was cut cannot go on: a clause, static. */
const char *download_why_anew(const struct download *download);

/* So long may a file of unknown length be that goes into the spool. */
uint64_t download_limit(const struct download_request *request);

/* Asks for the first `bytes` bytes of the file, and for what the server says of it.  false, without
 * a message: they are not `data`, or nobody answers. */
bool download_begins_with(const struct download_request *request, const void *data, size_t bytes,
                          struct transfer_answer *answer);

/* The whole of a small file, such as a signature, with a NUL behind it that does not count.
 * TRANSFER_DONE, TRANSFER_ABSENT without a message, or another result after one. */
enum transfer_result download_small(const struct download_request *request, size_t most,
                                    char **data, size_t *bytes);
