/* SPDX-License-Identifier: BSD-2-Clause */
/* redis_url.h: redis://[[USER]:PASSWORD@]HOST[:PORT][/DB], taken apart. */
#pragma once

#include <stdbool.h>

struct redis_url {
    char *user;     /* decoded; NULL: none */
    char *password; /* decoded; NULL: none */
    char *host;     /* without the brackets of a v6 address */
    int port;
    unsigned database;
};

/* false where it is none; *address is to be cleared in any case. */
bool redis_url_parse(const char *url, struct redis_url *address);
void redis_url_clear(struct redis_url *address);
