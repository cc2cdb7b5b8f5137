/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tls.h: TLS on a connected socket that does not block, for stores of rediss://.
 *
 * The certificate must be signed by an authority of $TAMIS_TLS_CACERT, or of the system, and must
 * be for the host that was asked for; $TAMIS_TLS_INSECURE=1 takes any.  $TAMIS_TLS_CERT and
 * $TAMIS_TLS_KEY are the client's own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tls;

/* The handshake, for at most limit_ms.  NULL: it failed, and `trouble` says why; *fatal: it always
 * will.  The socket stays the caller's. */
struct tls *tls_open(int fd, const char *host, int64_t limit_ms, char *trouble,
                     size_t trouble_bytes, bool *fatal);
void tls_close(struct tls *tls);

/* How many bytes were read or written; 0: none can be now; -1: the connection is gone. */
long tls_read(struct tls *tls, void *buffer, size_t bytes);
long tls_write(struct tls *tls, const void *data, size_t bytes);
