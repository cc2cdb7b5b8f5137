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

/* Does it look like a URL, and is none of these?  redis:HOST, valkey://HOST */
bool redis_url_is_other(const char *text);

/* false where it is none; *address is to be cleared in any case. */
bool redis_url_parse(const char *url, struct redis_url *address);
void redis_url_clear(struct redis_url *address);
