/* SPDX-License-Identifier: BSD-2-Clause */
/* no_redis.c: in place of redis.c where the command is built without hiredis. */
#include "command.h"
#include "stream.h"

static struct stream *fail_without_redis(void)
{
    cli_tell("this build of tamis is without hiredis, so it cannot talk to a server; move the "
             "filter by a file, as docs/migrating.md shows, or install the package libhiredis-dev "
             "and build Tamis with TAMIS_WITH_HIREDIS=ON");
    return NULL;
}

struct stream *redis_read(const struct options *options, const char *key)
{
    (void)options;
    (void)key;
    return fail_without_redis();
}

struct stream *redis_write(const struct options *options, const char *key, const char *format,
                           bool force)
{
    (void)options;
    (void)key;
    (void)format;
    (void)force;
    return fail_without_redis();
}
