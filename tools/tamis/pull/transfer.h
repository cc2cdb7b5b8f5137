/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transfer.h: one request to a server, by libcurl; the only user of curl.h.
 *
 * A transfer goes on only inside of transfer_step(), so that whoever reads sets the pace, and a
 * signal is heeded.  Errors are sentences that nobody has told yet: a caller that tries again tells
 * the last one only.
 */
#pragma once

#include "command.h"
#include "part.h"
#include "pull/notes.h"

/* What is asked for. */
struct transfer_request {
    const char *url;
    const struct options *options; /* TLS, --timeout, --netrc */
    bool signed_list;              /* what comes is verified, so http:// is good enough */
    const char *if_none_match;     /* an ETag; NULL: whatever it is now */
    const char *if_range;          /* the ETag of the file whose bytes from `from` on are wanted */
    uint64_t from;
    uint64_t first_bytes; /* not 0: no more than so many, from the begin */
};

/* The head of the answer, when its first byte is there. */
struct transfer_answer {
    uint64_t from;      /* of its first byte; 0 unless it is the part that was asked for */
    uint64_t all_bytes; /* of the whole file; UINT64_MAX: not known */
    char etag[NOTES_ETAG_BYTES];
};

/* Who takes it.  Both return CLI_DONE, or an exit status after a message, which ends the transfer.
 */
struct transfer_sink {
    int (*begin)(void *context, const struct transfer_answer *answer); /* once, before any byte */
    int (*take)(void *context, const void *data, size_t bytes);
    void *context;
};

enum transfer_result {
    TRANSFER_MORE,      /* goes on; some bytes have come, or time has passed */
    TRANSFER_DONE,      /* all has come */
    TRANSFER_UNCHANGED, /* it is what if_none_match says */
    TRANSFER_NO_PART,   /* the server gives no such part: ask for the whole */
    TRANSFER_ABSENT,    /* there is no such file; else as the next one */
    TRANSFER_REFUSED,   /* it will not go otherwise; transfer_error() says why */
    TRANSFER_CUT,       /* it may go another time; transfer_error() says why */
    TRANSFER_ENDED,     /* the sink has ended it, or a signal */
};

/* Loads libcurl, before any other call.  false after a message. */
PART bool transfer_is_ready(void);

/* Begins a transfer.  Never NULL.  The strings of the request are needed during the call only, the
 * options and the sink as long as the transfer is open. */
PART struct transfer *transfer_open(const struct transfer_request *request,
                                    const struct transfer_sink *sink);
PART enum transfer_result transfer_step(struct transfer *transfer);
PART const char *transfer_error(const struct transfer *transfer);
/* How long the server asks to wait before another try, in seconds; 0: it does not say. */
PART int64_t transfer_retry_after(const struct transfer *transfer);
PART void transfer_close(struct transfer *transfer); /* NULL is allowed */
