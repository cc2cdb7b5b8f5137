/* SPDX-License-Identifier: BSD-2-Clause */
/* redis_url.h: redis://[[USER]:PASSWORD@]HOST[:PORT][,HOST[:PORT]...][/DB], the same with rediss://
 * for TLS, and unix://[[USER]:PASSWORD@]/PATH, taken apart. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct redis_host {
    char *host;
    int port;
};

struct redis_url {
    char *user;     /* decoded; NULL: none */
    char *password; /* decoded; NULL: none */
    char *host;     /* without the brackets of a v6 address; or the path of a socket */
    int port;       /* 0: of a socket */
    unsigned database;
    bool tls;                  /* rediss:// */
    struct redis_host *others; /* the hosts after the first one */
    size_t other_count;
};

bool redis_is_url(const char *text);     /* does it begin as one of these? */
bool redis_url_is_tls(const char *text); /* does it begin with rediss://? */

/* Does the text look like a URL of a server that is not one of these, such as redis:HOST or
 * valkey://HOST? */
bool redis_url_is_other(const char *text);

/* Takes a URL apart.  Returns false if the text is no such URL; the caller clears *address in any
 * case. */
bool redis_url_parse(const char *url, struct redis_url *address);
void redis_url_clear(struct redis_url *address);
