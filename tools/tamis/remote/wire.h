/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire.h: what goes to a Redis server and comes from it, by TCP, by a socket of this machine, or by
 * TLS.  Only wire_connect() waits; the callers of the others wait for the descriptor themselves.
 *
 * hiredis speaks the protocol.  Its limits are not those of a client that must stand whatever is at
 * the other end: so an array, and the bytes of a reply, have limits of their own here.
 */
#pragma once

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tls.h"

struct options;

struct wire {
    redisContext *context; /* NULL: not connected */
    struct tls *tls;       /* NULL: the connection is plain */
    size_t reply_bytes;    /* that came of the reply which is not whole yet */
    const char *error;     /* what is wrong, where hiredis does not know it */
};

/* What a connection by TLS trusts: the options, else the environment. */
struct tls_settings tls_settings_of(const struct options *options);

/* Where a connection leads to, and how it is made. */
struct wire_target {
    const char *host;               /* or the path of a socket, with port 0 */
    int port;                       /* 0: of a socket */
    const struct tls_settings *tls; /* NULL: no TLS */
};

/* Connects, and waits for at most limit_ms for each step.  false: it did not work, and `trouble`
 * says why; *fatal: it never will.  *late: it took too long. */
bool wire_connect(struct wire *wire, const struct wire_target *target, int64_t limit_ms,
                  char *trouble, size_t trouble_bytes, bool *fatal, bool *late);
void wire_disconnect(struct wire *wire);

/* Puts a command into what is to be sent.  bytes: of each argument; NULL: they end with NUL. */
void wire_append(struct wire *wire, int argc, const char **argv, const size_t *bytes);

/* Is there something to be sent? */
bool wire_has_unsent(const struct wire *wire);

/* Sends what can be sent now, and reads what is there.  false: the connection is of no more use. */
bool wire_flush(struct wire *wire);
bool wire_receive(struct wire *wire);

/* The next reply of what was read, which the caller frees; NULL: it is not whole yet.  false: what
 * came is no reply. */
bool wire_reply(struct wire *wire, redisReply **reply);

/* Why the last of these calls failed; NULL: nothing is wrong with the connection. */
const char *wire_error(const struct wire *wire);
