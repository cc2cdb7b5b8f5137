/* SPDX-License-Identifier: BSD-2-Clause */
/* no_tls.c: in place of remote/tls.c where the command is built without OpenSSL. */
#include <stdio.h>

#include "remote/tls.h"

struct tls_settings tls_settings_of(const struct options *options)
{
    (void)options;
    return (struct tls_settings){.cacert = NULL};
}

struct tls *tls_open(int fd, const char *host, const struct tls_settings *settings,
                     int64_t limit_ms, char *trouble, size_t trouble_bytes, bool *fatal)
{
    (void)fd, (void)host, (void)settings, (void)limit_ms;
    (void)snprintf(trouble, trouble_bytes,
                   "this tamis was built without OpenSSL, so it has no TLS; build it with "
                   "TAMIS_WITH_OPENSSL (libssl-dev)");
    *fatal = true;
    return NULL;
}

void tls_close(struct tls *tls)
{
    (void)tls;
}

bool tls_has_read(const struct tls *tls)
{
    (void)tls;
    return false;
}

long tls_read(struct tls *tls, void *buffer, size_t bytes)
{
    (void)tls, (void)buffer, (void)bytes;
    return -1;
}

long tls_write(struct tls *tls, const void *data, size_t bytes)
{
    (void)tls, (void)data, (void)bytes;
    return -1;
}
