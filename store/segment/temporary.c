/* SPDX-License-Identifier: BSD-2-Clause */
/* temporary.c: see temporary.h. */
#include "segment/temporary.h"

#include <assert.h>

#include "os/inside.h"
#include "os/io.h"

#define WHAT_BYTES 4200

static void name_it(const struct tamis__temporary *temporary, char what[WHAT_BYTES])
{
    (void)snprintf(what, WHAT_BYTES, "the build's temporary file in %s/staging",
                   temporary->place->path);
}

void tamis__temporary_init(struct tamis__temporary *temporary, const struct tamis__place *place)
{
    *temporary = (struct tamis__temporary){.place = place, .file = {.fd = -1}};
}

static int make_temporary_file(struct tamis__temporary *temporary, const char *what)
{
    char name[32];
    uint64_t random;
    tamis__random_bytes(&random, sizeof random);
    (void)snprintf(name, sizeof name, "%016" PRIx64 ".tmp", random);
    int rc = tamis__inside_make_private(temporary->place->root_fd, temporary->place->staging_fd,
                                        name, what, &temporary->file);
    if (rc < 0) return rc;
    rc = tamis__unlink(temporary->place->staging_fd, name, what);
    if (rc < 0) tamis__temporary_clear(temporary);
    return rc;
}

int tamis__temporary_extend(struct tamis__temporary *temporary, uint64_t bytes, uint64_t *offset)
{
    char what[WHAT_BYTES];
    int rc = 0;
    name_it(temporary, what);
    if (!temporary->file.is_open) rc = make_temporary_file(temporary, what);
    if (rc == 0)
        rc = tamis__reserve(temporary->file.fd, temporary->bytes, bytes, what,
                            ", or let the build use more memory");
    if (rc < 0) return rc;
    *offset = temporary->bytes;
    temporary->bytes += bytes;
    return 0;
}

int tamis__temporary_write(const struct tamis__temporary *temporary, uint64_t offset,
                           const void *buffer, size_t bytes)
{
    char what[WHAT_BYTES];
    assert(offset <= temporary->bytes && bytes <= temporary->bytes - offset);
    name_it(temporary, what);
    return tamis__write_at(temporary->file.fd, buffer, bytes, offset, what);
}

int tamis__temporary_read(const struct tamis__temporary *temporary, uint64_t offset, void *buffer,
                          size_t bytes)
{
    char what[WHAT_BYTES];
    assert(offset <= temporary->bytes && bytes <= temporary->bytes - offset);
    name_it(temporary, what);
    return tamis__read_at(temporary->file.fd, buffer, bytes, offset, what);
}

void tamis__temporary_clear(struct tamis__temporary *temporary)
{
    tamis__private_close(&temporary->file);
    temporary->bytes = 0;
}
