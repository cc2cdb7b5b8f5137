/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tls.h: TLS on a connected socket that does not block, for URLs of rediss://.
 *
 * The certificate must be signed by the authority of --cacert, or of the system, and must be for
 * the host that was asked for; --insecure takes any.  --cert and --key are the client's own.  The
 * environment, $TAMIS_TLS_CACERT and so on, is looked at where an option was not given.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "part.h"

struct tls;

/* What is trusted, and who we are: names of files in PEM format; NULL: none. */
struct tls_settings {
    const char *cacert, *cert, *key;
    bool insecure;
};

/* The handshake, for at most limit_ms.  NULL: it failed, and `trouble` says why; *fatal: it always
 * will.  The socket stays the caller's. */
PART struct tls *tls_open(int fd, const char *host, const struct tls_settings *settings,
                          int64_t limit_ms, char *trouble, size_t trouble_bytes, bool *fatal);
PART void tls_close(struct tls *tls);

/* Has the library read bytes of the socket that tls_read() has not returned yet? */
PART bool tls_has_read(const struct tls *tls);

/* How many bytes were read or written; 0: none can be now; -1: the connection is gone. */
PART long tls_read(struct tls *tls, void *buffer, size_t bytes);
PART long tls_write(struct tls *tls, const void *data, size_t bytes);
